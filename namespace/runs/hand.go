package runs

import (
	"context"
	"errors"
	"time"

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
		case gone(err):
			h.end(errQuantumLost)
		}
	}
}

// do works on the items one after the other, commits what comes of them in batches,
// and gives back what is left.
func (h *hand) do() {
	var over <-chan struct{}
	for i := range h.quantum.Items {
		if h.ctx.Err() != nil || closed(h.crew.stopping) || over != nil && !closed(over) {
			break // a handler that does not return holds up the rest, which others can do
		}
		if len(h.results) >= h.batch {
			if h.commit(false); h.ctx.Err() != nil {
				break
			}
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

// await waits until c is closed, but no longer than d, even if ctx has ended.
func await(ctx context.Context, c <-chan struct{}, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	select {
	case <-c:
	case <-ctx.Done():
	}
}

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
	h.open -= len(results)
	spec := api.CommitSpec{Fence: h.quantum.Fence, Results: results, Done: last && h.open > 0}
	err := h.send(spec)
	if contested(err) {
		err = h.send(spec)
	}
	switch {
	case err == nil && spec.Done:
		h.open = 0
		return
	case err == nil:
		return
	case !contested(err):
		h.end(errQuantumLost) // or about to be: nothing could be sent for the time of a lease
		h.open = 0
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
	return err != nil && !gone(err) && !api.AsError(err).Code.Retryable()
}

// gone reports whether an error says that nobody holds the quantum any more, because
// its lease has ended or its namespace is not there.
func gone(err error) bool { return api.IsCode(err, api.StaleFence) || api.IsCode(err, api.NotFound) }

// send commits, and ends the hand's context if the answer says that nobody wants more.
func (h *hand) send(spec api.CommitSpec) error {
	return h.insist(func(ctx context.Context) error {
		done, err := h.service.CommitQuantum(ctx, h.quantum.ID, spec)
		if err == nil && done.Run != nil && done.Run.CancelRequested {
			h.end(errNobodyWants)
		}
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
