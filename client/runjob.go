package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/skerryhq/skerry/api"
)

const (
	// codeFailed is the code of an item whose handler named none.
	codeFailed = "failed"
	// codeBadResult is that of an item whose handler returned what can be no
	// result.
	codeBadResult = "bad_result"
)

// RunJob is one item in the hands of a handler.
type RunJob struct {
	Kind string
	// Scorer is that of a singular call, and Run the id of the run, which is empty
	// for a singular call.
	Scorer, Run string
	// Shared is the JSON object of what all items of the run share.
	Shared json.RawMessage
	// ID is the item's id, InputIndex its place in the run's document, Payload the
	// JSON object of what is its own.
	ID         string
	InputIndex int
	Payload    json.RawMessage
	// Attempt counts from 1 how often the item was granted.
	Attempt int
	// Cost is for the handler to set: what the item really cost, in the units of
	// its kind, whatever came of it. While it is nil the estimate stands.
	Cost *int64
}

// ItemOutcome is what [RunWorkerOptions.Batch] says of one item, as
// [RunWorkerOptions.Handler] would.
type ItemOutcome struct {
	// Result is a JSON object. It does not count if there is an error.
	Result json.RawMessage
	Err    error
}

// inTurn gives the items of a quantum to the handler one by one, and commits a
// batch whenever it is full and there is more to do.
func (w *runWorker) inTurn(ctx, jobs context.Context, h *hand) {
	for i := range h.quantum.Items {
		if len(h.results) >= h.batch && h.forfeit() == nil {
			h.commitBatch(jobs)
		}
		if ctx.Err() != nil || h.lease.Context().Err() != nil {
			return
		}
		job := h.job(i)
		outcome, cause := w.work(h.lease.Context(), job, h.limit())
		h.add(job, outcome, cause)
	}
}

// work calls the handler for one item within its time, and returns too why the
// item's context had ended. A handler that overran has failed, whatever it
// returns.
func (w *runWorker) work(ctx context.Context, job *RunJob, limit time.Duration) (ItemOutcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrItemTimeout)
	defer cancel()
	result, err := w.handle(ctx, job)
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrItemTimeout) {
		return ItemOutcome{Err: ErrItemTimeout}, cause
	}
	return ItemOutcome{Result: result, Err: err}, cause
}

func (w *runWorker) handle(ctx context.Context, job *RunJob) (result json.RawMessage, err error) {
	defer catchPanic(&err)
	return w.o.Handler(ctx, job)
}

// together gives the items of all quanta to the handler in one go.
func (w *runWorker) together(ctx, jobs context.Context, hands []*hand) {
	var all []*RunJob
	var of []*hand
	limit := time.Duration(0)
	for _, h := range hands {
		if h.lease.Context().Err() != nil {
			continue
		}
		for i := range h.quantum.Items {
			all, of = append(all, h.job(i)), append(of, h)
		}
		if whole := h.limit() * time.Duration(len(h.quantum.Items)); limit == 0 || whole < limit {
			limit = whole
		}
	}
	if len(all) == 0 || ctx.Err() != nil {
		return
	}
	live, cancel := whileAny(jobs, hands)
	defer cancel()
	live, stop := context.WithTimeoutCause(live, limit, ErrItemTimeout)
	defer stop()
	outcomes := w.compute(live, all)
	cause := context.Cause(live)
	for i, job := range all {
		of[i].add(job, outcomes[i], cause)
	}
}

// compute calls the batch handler and returns one outcome for each job.
func (w *runWorker) compute(ctx context.Context, all []*RunJob) []ItemOutcome {
	outcomes, err := w.handleBatch(ctx, all)
	if err == nil && len(outcomes) != len(all) {
		err = &JobError{Code: codeBadResult, Message: fmt.Sprintf("the handler returned %d outcomes for %d items", len(outcomes), len(all))}
	}
	if err != nil {
		outcomes = make([]ItemOutcome, len(all))
		for i := range outcomes {
			outcomes[i].Err = err
		}
	}
	return outcomes
}

func (w *runWorker) handleBatch(ctx context.Context, all []*RunJob) (outcomes []ItemOutcome, err error) {
	defer catchPanic(&err)
	return w.o.Batch(ctx, all), nil
}

// whileAny returns a child of jobs that ends when the leases of all quanta have
// ended, with the cause of the last.
func whileAny(jobs context.Context, hands []*hand) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(jobs)
	var left atomic.Int64
	left.Store(int64(len(hands)))
	stops := make([]func() bool, len(hands))
	for i, h := range hands {
		lease := h.lease.Context()
		stops[i] = context.AfterFunc(lease, func() {
			if left.Add(-1) == 0 {
				cancel(context.Cause(lease))
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}

// result is what is reported of the item, and false if the item goes back. The
// cause is why the handler's context had ended when it returned, nil if it had
// not.
func (j *RunJob) result(o ItemOutcome, cause error) (api.ItemResult, bool) {
	var said *JobError
	switch {
	case o.Err == nil && isObject(o.Result):
		return api.ItemResult{ID: j.ID, Status: api.ItemSucceeded, Result: o.Result, Cost: j.Cost}, true
	case o.Err == nil:
		return j.failed(codeBadResult, "the handler's result is not a JSON object"), true
	case errors.As(o.Err, &said):
		return j.failed(cmp.Or(said.Code, codeFailed), said.Message), !said.Release
	case errors.Is(cause, ErrItemTimeout):
		return j.failed(string(api.ItemTimeout), "the item took longer than its kind allows"), true
	}
	// Work that was broken off says nothing about its item.
	return j.failed(codeFailed, o.Err.Error()), cause == nil
}

func (j *RunJob) failed(code, message string) api.ItemResult {
	return api.ItemResult{
		ID: j.ID, Status: api.ItemFailed, Error: &api.Failure{Code: code, Message: clip(message)}, Cost: j.Cost,
	}
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}
