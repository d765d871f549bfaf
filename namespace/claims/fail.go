package claims

import (
	"time"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Bounds of what a worker says about a failure, and of the delays it may ask for.
const (
	maxFailureCodeBytes = 64
	maxFailureBytes     = 16 << 10
	maxRetryAfterMs     = int64(30 * 24 * time.Hour / time.Millisecond)
)

// The schedule of retries that nobody has chosen a delay for.
const (
	firstRetryMs = 1000
	maxRetryMs   = 300_000
)

// fail reports that a claim's work has failed.
type fail struct {
	claim   string
	fence   int64
	failure api.Failure
	final   bool
	delayMs int64 // -1: by the schedule
	next    *claim
}

func newFail(claimID, base string, spec api.FailSpec) (*fail, error) {
	f := &fail{claim: claimID, fence: spec.Fence, failure: spec.Error, final: spec.Final}
	if err := checkFailure(spec.Error); err != nil {
		return nil, err
	}
	var err error
	if f.delayMs, err = optional("retry_after_ms", spec.RetryAfterMs, -1, 0, maxRetryAfterMs); err != nil {
		return nil, err
	}
	f.next, err = newClaimNext(base, spec.ClaimNext)
	return f, err
}

func checkFailure(f api.Failure) error {
	switch {
	case f.Message == "":
		return api.Invalid("error.message", "a failure must say what went wrong")
	case !utf8.ValidString(f.Message) || !utf8.ValidString(f.Code):
		return api.Invalid("error", "a failure must be UTF-8")
	case len(f.Message) > maxFailureBytes:
		return api.Invalid("error.message", "the message is too long").With("limit", maxFailureBytes).With("actual", len(f.Message))
	case len(f.Code) > maxFailureCodeBytes:
		return api.Invalid("error.code", "the code is too long").With("limit", maxFailureCodeBytes).With("actual", len(f.Code))
	}
	return nil
}

// Lane puts failures with submissions.
func (*fail) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply counts the attempt, and fails the verb for good or lets it be tried
// again later.
func (f *fail) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	b, standing, err := c.hold(f.claim, f.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	if standing != standLive {
		return namespace.Answer{}, refuse(b, standing)
	}
	if f.final {
		b.attempts++
		b.over = overFailed
		err = c.end(b, api.VerbFailed, &f.failure)
	} else {
		err = c.retry(b, f)
	}
	if err != nil {
		return namespace.Answer{}, err
	}
	if err := c.finish(); err != nil {
		return namespace.Answer{}, err
	}
	doc, err := newReader(&t.View).verbByID(b.id)
	return namespace.Answer{Body: api.Failed{Verb: doc}}, err
}

// retry hands the verb back to be tried again after the delay.
func (c *change) retry(b *verb, f *fail) error {
	delay := f.delayMs
	if delay < 0 {
		delay = retryDelay(b.attempts + 1)
	}
	b.until = c.now + delay
	if err := c.rememberOver(b); err != nil {
		return err
	}
	return c.spend(b, overFailed, f.failure.Message)
}

// retryDelay is 1 s after the first attempt and twice as long after each further
// one, at most 5 min.
func retryDelay(attempt int64) int64 {
	return min(int64(firstRetryMs)<<min(attempt-1, 10), maxRetryMs)
}

// Next is the claim that follows the failure.
func (f *fail) Next() namespace.Admitted { return admitted(f.next) }

// Join adds to the verb what the claim brought.
func (f *fail) Join(own, next namespace.Answer, err *api.Error) namespace.Answer {
	doc := own.Body.(api.Failed)
	doc.Next = nextDocument(next, err)
	own.Body = doc
	return own
}
