package runs

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
)

var (
	errQuantumLost  = errors.New("the quantum is lost")
	errNobodyWants  = errors.New("the run is cancelled")
	errCrewStopping = errors.New("the runtime is stopping")
)

// hand is a quantum in the hands of the crew.
type hand struct {
	crew      *crew
	service   Service
	namespace string
	quantum   api.Quantum
	batch     int
	results   []api.ItemResult
	open      int // items that are not reported
	ctx       context.Context
	end       context.CancelCauseFunc
	kept      chan struct{} // closed when the lease is not kept any more
}

// take keeps a quantum's lease until it is done.
func (c *crew) take(s Service, q api.Quantum, batch int) *hand {
	h := &hand{crew: c, service: s, namespace: s.ns.Name(), quantum: q, batch: batch, open: len(q.Items), kept: make(chan struct{})}
	h.ctx, h.end = context.WithCancelCause(c.ctx)
	go func() {
		defer close(h.kept)
		h.keep()
	}()
	return h
}

// keep renews the lease at a third of its time, and ends the hand's context when that
// is of no use any more.
func (h *hand) keep() {
	every := max(milliseconds(h.quantum.TTLMs/3), time.Millisecond)
	for pause(h.ctx, every); h.ctx.Err() == nil; pause(h.ctx, every) {
		beat, err := h.service.HeartbeatQuantum(h.ctx, h.quantum.ID, api.HeartbeatSpec{Fence: h.quantum.Fence})
		switch {
		case err == nil && beat.CancelRequested:
			h.end(errNobodyWants)
		case err != nil && !api.AsError(err).Code.Retryable() && h.ctx.Err() == nil:
			h.end(errQuantumLost)
		}
	}
}

// do works on the items one after the other, commits what comes of them in batches,
// and gives back what is left.
func (h *hand) do() {
	var over <-chan struct{}
	for i := range h.quantum.Items {
		if h.ctx.Err() != nil || h.crew.isStopping() || over != nil && !closed(over) {
			break // a handler that does not return holds up the rest, which others can do
		}
		if len(h.results) >= h.batch {
			h.commit(false)
		}
		var result *api.ItemResult
		if result, over = h.work(h.ctx, &h.quantum.Items[i]); result != nil {
			h.results = append(h.results, *result)
		}
	}
	h.finish()
	if over != nil {
		<-over
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *crew) isStopping() bool { return closed(c.stopping) }

// finish reports what is left to report and gives the rest back.
func (h *hand) finish() {
	lost := errors.Is(context.Cause(h.ctx), errQuantumLost)
	h.end(errCrewStopping)
	<-h.kept
	if lost {
		return
	}
	if len(h.results) > 0 {
		h.commit(true)
	}
	if h.open > 0 {
		// If it fails, the lease runs out.
		_ = h.insist(func(ctx context.Context) error {
			_, err := h.service.ReleaseQuantum(ctx, h.quantum.ID, api.QuantumReleaseSpec{Fence: h.quantum.Fence})
			return err
		})
	}
}

// commit reports the results there are: as a whole, once more as a whole, and then one
// by one, so that one that cannot be taken fails only its own item.
func (h *hand) commit(last bool) {
	results := h.results
	h.results = nil
	spec := api.CommitSpec{Fence: h.quantum.Fence, Results: results, Done: last && len(results) < h.open}
	h.open -= len(results)
	if spec.Done {
		h.open = 0
	}
	err := h.send(spec)
	if !contested(err) {
		return
	}
	if err = h.send(spec); !contested(err) {
		return
	}
	for _, result := range results {
		spec.Results, spec.Done = []api.ItemResult{result}, false
		if contested(h.send(spec)) {
			spec.Results[0] = *failed(result.ID, codeRejected, "the result cannot be taken")
			_ = h.send(spec)
		}
	}
}

// contested reports whether a commit failed for what one of its results may have
// caused.
func contested(err error) bool {
	return err != nil && !api.IsCode(err, api.StaleFence) && !api.AsError(err).Code.Retryable()
}

func (h *hand) send(spec api.CommitSpec) error {
	return h.insist(func(ctx context.Context) error {
		_, err := h.service.CommitQuantum(ctx, h.quantum.ID, spec)
		return err
	})
}

// insist repeats what fails for a passing reason, for as long as a lease lasts. It goes
// on when the crew is stopping: what was done is to be kept.
func (h *hand) insist(send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.crew.ctx), milliseconds(h.quantum.TTLMs))
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := send(ctx)
		if err == nil || ctx.Err() != nil || !api.AsError(err).Code.Retryable() || api.IsCode(err, api.ShuttingDown) {
			return err
		}
		pause(ctx, wait)
	}
}

// clip cuts text to a number of bytes, at the border of a character.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
