package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/skerryhq/skerry/api"
)

// hand holds one quantum: its lease, and the results that are not yet committed.
// It belongs to the goroutine of its slot.
type hand struct {
	client  *Client
	quantum *api.Quantum
	lease   *Lease
	batch   int
	began   time.Time
	// results are those to commit, and open is how many items the server may
	// still take a result of.
	results []api.ItemResult
	open    int
	outcome QuantumOutcome
}

// hold takes a quantum and keeps its lease.
func (w *runWorker) hold(jobs context.Context, quantum *api.Quantum, sent time.Time, batch int) *hand {
	return &hand{
		client: w.client, quantum: quantum, batch: batch, began: now(), lease: w.client.KeepQuantum(jobs, quantum, sent),
		open: len(quantum.Items), outcome: QuantumOutcome{Quantum: quantum},
	}
}

// job is the i-th item for the handler.
func (h *hand) job(i int) *RunJob {
	q, item := h.quantum, &h.quantum.Items[i]
	job := &RunJob{
		Kind: q.Kind, Scorer: q.Scorer, Shared: q.Shared,
		ID: item.ID, InputIndex: item.InputIndex, Payload: item.Payload, Attempt: item.AttemptCount,
	}
	if q.Run != nil {
		job.Run = *q.Run
	}
	return job
}

// limit is the time that one item may take.
func (h *hand) limit() time.Duration {
	if h.quantum.TimeoutMs <= 0 {
		return longestItem
	}
	return time.Duration(h.quantum.TimeoutMs) * time.Millisecond
}

// add notes what the handler said of an item; cause is why its context had ended
// by then, nil if it had not.
func (h *hand) add(job *RunJob, o ItemOutcome, cause error) {
	if o.Err != nil {
		if h.outcome.Errors == nil {
			h.outcome.Errors = make(map[string]error)
		}
		h.outcome.Errors[job.ID] = o.Err
	}
	if result, report := job.result(o, cause); report {
		h.results = append(h.results, result)
	}
}

// forfeit is why the results of the quantum are of no use any more: it was lost
// or its run cancelled. It is nil as long as they are of use.
func (h *hand) forfeit() error {
	cause := context.Cause(h.lease.Context())
	if errors.Is(cause, ErrLeaseLost) || errors.Is(cause, ErrRunCancelled) {
		return cause
	}
	return nil
}

// finish commits what is not yet committed, gives the rest back and lets the
// quantum go.
func (h *hand) finish(jobs context.Context) QuantumOutcome {
	for len(h.results) > h.batch && h.forfeit() == nil {
		h.commitBatch(jobs)
	}
	err := h.forfeit()
	// No heartbeat may follow the last report: refused because the quantum is over,
	// it would look like its loss.
	h.lease.Stop()
	lost := errors.Is(err, ErrLeaseLost)
	if err == nil && len(h.results) > 0 {
		err = h.commit(jobs, h.results, true)
		lost = err != nil
	}
	if !lost && h.open > 0 {
		if e := h.release(jobs); e != nil {
			err, lost = e, true
		}
	}
	o := &h.outcome
	switch {
	case lost:
		o.Disposition = DoneLost
	case len(o.Committed)+len(o.Ignored) > 0:
		o.Disposition = DoneCommitted
	default:
		o.Disposition = DoneReleased
	}
	o.Err, o.Elapsed = err, now().Sub(h.began)
	return *o
}

// commitBatch commits the first results while the quantum goes on. If that shows
// that the quantum is lost, its lease ends.
func (h *hand) commitBatch(jobs context.Context) {
	n := min(h.batch, len(h.results))
	results := h.results[:n]
	h.results = h.results[n:]
	if err := h.commit(jobs, results, false); err != nil {
		h.lease.lose(err)
	}
}

// commit reports results: as a whole, once more as a whole, and then one by one.
// The last report gives back the items that are left. An error is the loss of the
// quantum.
func (h *hand) commit(jobs context.Context, results []api.ItemResult, last bool) error {
	spec := api.CommitSpec{Fence: h.quantum.Fence, Results: results, Done: last && len(results) < h.open}
	err := h.send(jobs, spec)
	if !contested(err) {
		return err
	}
	if sleep(jobs, h.client.sender.backoff(1, err)) == nil {
		if err = h.send(jobs, spec); !contested(err) {
			return err
		}
	}
	for _, result := range results {
		if err := h.commitOne(jobs, result); err != nil {
			return err
		}
	}
	return nil
}

// commitOne reports one result, or that it was rejected. What fails for a fault of
// the server leaves the item open, for another attempt.
func (h *hand) commitOne(jobs context.Context, result api.ItemResult) error {
	spec := api.CommitSpec{Fence: h.quantum.Fence, Results: []api.ItemResult{result}}
	err := h.send(jobs, spec)
	if rejected(err) {
		spec.Results[0] = api.ItemResult{
			ID: result.ID, Status: api.ItemFailed,
			Error: &api.Failure{Code: "result_rejected", Message: clip(err.Error())},
		}
		err = h.send(jobs, spec)
	}
	if contested(err) {
		return nil
	}
	return err
}

// send sends one commit until it is answered, and notes the answer.
func (h *hand) send(jobs context.Context, spec api.CommitSpec) error {
	var done *api.Committed
	err := settle(jobs, h.lease.Remaining(), func(ctx context.Context) (err error) {
		q := h.client.commit(h.quantum.ID, spec)
		q.untilDone, q.contestable = true, true
		done, err = fetch[api.Committed](ctx, h.client.sender, q)
		return err
	})
	if err != nil {
		return err
	}
	h.open -= len(spec.Results)
	if spec.Done {
		h.open = 0
	}
	taken := make(map[string]bool, len(done.Committed))
	for _, id := range done.Committed {
		taken[id] = true
	}
	for _, result := range spec.Results {
		if taken[result.ID] {
			h.outcome.Committed = append(h.outcome.Committed, result)
		}
	}
	h.outcome.Ignored = append(h.outcome.Ignored, done.Ignored...)
	return nil
}

func (h *hand) release(jobs context.Context) error {
	spec := api.QuantumReleaseSpec{Fence: h.quantum.Fence}
	return settle(jobs, h.lease.Remaining(), func(ctx context.Context) error {
		q := h.client.giveBack(h.quantum.ID, spec)
		q.untilDone = true
		_, err := h.client.sender.send(ctx, q)
		return err
	})
}

// contested reports whether a commit failed for what one of its results may have
// caused: it was refused for its content, by the server or by something on the
// way, or broke the server.
func contested(err error) bool {
	var s *StatusError
	return outputRefused(err) || api.IsCode(err, api.Internal) || (errors.As(err, &s) && hopeless(err))
}

// rejected reports whether a commit was refused for its content.
func rejected(err error) bool {
	var s *StatusError
	return outputRefused(err) || (errors.As(err, &s) && s.Status == http.StatusRequestEntityTooLarge)
}
