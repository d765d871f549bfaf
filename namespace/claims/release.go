package claims

import (
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// release hands a claim back unharmed.
type release struct {
	claim   string
	fence   int64
	delayMs int64
}

func newRelease(claimID string, spec api.ReleaseSpec) (*release, error) {
	delay, err := optional("retry_after_ms", spec.RetryAfterMs, 0, 0, maxRetryAfterMs)
	return &release{claimID, spec.Fence, delay}, err
}

// Lane puts releases with submissions.
func (*release) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply makes the verb ready again, in its old place, without counting the
// attempt. Where there is nothing left to hand back it changes nothing.
func (r *release) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	b, standing, err := c.hold(r.claim, r.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	switch standing {
	case standLive:
		b.over, b.until = overReleased, c.now+r.delayMs
		if err := c.rememberOver(b); err != nil {
			return namespace.Answer{}, err
		}
		err = c.open(b)
	case standStale:
		return namespace.Answer{}, errStale()
	case standEnded:
		return namespace.Answer{}, errOver(b)
	case standExpired, standHandedBack, standCancelled:
	}
	if err != nil {
		return namespace.Answer{}, err
	}
	if err := c.finish(); err != nil {
		return namespace.Answer{}, err
	}
	doc, err := newReader(&t.View).verbByID(b.id)
	return namespace.Answer{NoEffect: standing != standLive, Body: api.Released{Verb: doc}}, err
}
