package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/skerryhq/skerry/api"
)

// leastSettle is how long reporting on a claim is tried even where its lease is
// over or the worker stops: a submission may still be accepted late.
const leastSettle = 5 * time.Second

// Disposition is what became of a claim or a quantum.
type Disposition string

// The dispositions. DoneRetry is a failure after which another attempt may come.
// DoneCommitted is that of a quantum of which results were taken. DoneLost means
// that nothing was reported, or that the report was not accepted or not answered:
// the verb, or what is left of the quantum, is somebody else's or will be.
const (
	DoneSubmitted Disposition = "submitted"
	DoneRetry     Disposition = "retry"
	DoneFailed    Disposition = "failed"
	DoneReleased  Disposition = "released"
	DoneCommitted Disposition = "committed"
	DoneLost      Disposition = "lost"
)

// Outcome tells what became of one claim of a worker.
type Outcome struct {
	Claim       *api.Claim
	Disposition Disposition
	// Receipt is that of a submission.
	Receipt *api.Receipt
	// Err is the handler's error, or why the claim was lost.
	Err error
	// Elapsed is the time from the beginning of the handler until the report was
	// answered.
	Elapsed time.Duration
}

// start puts a claim into a slot whose token has been taken.
func (w *worker) start(ctx, jobs context.Context, claim *api.Claim, sent time.Time) {
	w.taken++
	w.slots.start(func() {
		for claim != nil && w.hold(claim.ID) {
			id := claim.ID
			claim, sent = w.serve(ctx, jobs, claim, sent)
			w.drop(id)
		}
	})
}

// serve works on one claim to its end. It returns the next one if the submission
// brought it.
func (w *worker) serve(ctx, jobs context.Context, claim *api.Claim, sent time.Time) (*api.Claim, time.Time) {
	began := now()
	lease := w.client.Keep(jobs, claim, sent)
	result, err := w.handle(lease.Context(), &Job{Claim: *claim, client: w.client})
	cause, left := context.Cause(lease.Context()), lease.Remaining()
	// No heartbeat may follow a submission: refused because the claim is over, it
	// would look like the loss of the lease.
	lease.Stop()

	r := report{worker: w, claim: claim, left: left}
	o := Outcome{Claim: claim, Err: err}
	switch {
	case errors.Is(cause, ErrLeaseLost), errors.Is(cause, ErrCancelRequested):
		o.Disposition, o.Err = DoneLost, cause
	case err == nil:
		r.submit(ctx, jobs, &result, &o)
	case cause != nil && !errors.As(err, new(*JobError)):
		r.release(jobs, 0, &o)
	default:
		r.fail(jobs, jobError(err), &o)
	}
	o.Elapsed = now().Sub(began)
	if w.o.Observe != nil {
		w.o.Observe(o)
	}
	return r.next, r.sent
}

// handle calls the handler unless the lease was lost before.
func (w *worker) handle(ctx context.Context, job *Job) (result Result, err error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	defer catchPanic(&err)
	return w.o.Handler(ctx, job)
}

// catchPanic turns the panic of a handler into an error that fails the verb or
// the item; its value stays here.
func catchPanic(err *error) {
	if v := recover(); v != nil {
		failure := &JobError{Code: "handler_panic", Message: "the handler panicked"}
		*err = fmt.Errorf("%w: %v\n%s", failure, v, debug.Stack())
	}
}

// report tells the server what came of a claim.
type report struct {
	worker *worker
	claim  *api.Claim
	// left is what was left of the lease when the handler returned.
	left time.Duration
	// next is what the submission was granted beside its receipt, and sent the
	// time from which its lease counts.
	next *api.Claim
	sent time.Time
}

func (r *report) submit(ctx, jobs context.Context, result *Result, o *Outcome) {
	spec := api.SubmitSpec{Fence: r.claim.Fence, Output: result.content(), Metadata: result.Metadata}
	if r.worker.o.MaxJobs == 0 && ctx.Err() == nil {
		// The next claim does not wait for work, or the receipt would wait with it.
		next := r.worker.spec(1, 0)
		spec.ClaimNext = &next
	}
	var done *Submitted
	err := settle(jobs, r.left, func(ctx context.Context) (err error) {
		done, err = r.worker.client.submit(ctx, r.claim.ID, spec, true)
		return err
	})
	if err == nil {
		o.Disposition, o.Receipt = DoneSubmitted, &done.Receipt
		r.follow(ctx, jobs, done)
		return
	}
	if outputRefused(err) {
		r.fail(jobs, &JobError{Code: "output_refused", Message: clip(api.AsError(err).Message)}, o)
		o.Err = err
		return
	}
	o.Disposition, o.Err = DoneLost, err
}

// outputRefused reports whether the server refused what was submitted rather
// than the submission.
func outputRefused(err error) bool {
	var e *api.Error
	if !errors.As(err, &e) {
		return false
	}
	status := e.Code.Status()
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

// follow takes over the claim that came with a receipt. One that comes when the
// worker has begun to stop is handed back.
func (r *report) follow(ctx, jobs context.Context, done *Submitted) {
	if done.Next == nil || len(done.Next.Claims) == 0 {
		if done.Replayed {
			r.worker.miss()
		}
		return
	}
	next := &done.Next.Claims[0]
	if ctx.Err() == nil {
		r.next, r.sent = next, done.Sent
		return
	}
	back := report{worker: r.worker, claim: next}
	back.release(jobs, 0, new(Outcome))
}

func (r *report) fail(jobs context.Context, e *JobError, o *Outcome) {
	if e.Release {
		r.release(jobs, e.After, o)
		return
	}
	spec := api.FailSpec{
		Fence: r.claim.Fence, Error: api.Failure{Code: e.Code, Message: e.Message}, Final: e.Final, RetryAfterMs: e.retryAfterMs(),
	}
	err := settle(jobs, r.left, func(ctx context.Context) error {
		_, err := r.worker.client.fail(ctx, r.claim.ID, spec, true)
		return err
	})
	switch {
	case err != nil:
		o.Disposition, o.Err = DoneLost, err
	case e.Final:
		o.Disposition = DoneFailed
	default:
		o.Disposition = DoneRetry
	}
}

func (r *report) release(jobs context.Context, after time.Duration, o *Outcome) {
	spec := api.ReleaseSpec{Fence: r.claim.Fence, RetryAfterMs: (&JobError{After: after}).retryAfterMs()}
	err := settle(jobs, r.left, func(ctx context.Context) error {
		_, err := r.worker.client.release(ctx, r.claim.ID, spec, true)
		return err
	})
	o.Disposition = DoneReleased
	if err != nil {
		o.Disposition, o.Err = DoneLost, err
	}
}

// settle sends a report for as long as is left of the lease, and once more if the
// grace period ends in between. Sending it again is safe, and the same bytes are
// sent.
func settle(jobs context.Context, left time.Duration, send func(context.Context) error) error {
	err := within(jobs, max(left, leastSettle), send)
	if err != nil && jobs.Err() != nil && !definite(err) {
		err = within(context.WithoutCancel(jobs), leastSettle, send)
	}
	return err
}

func within(ctx context.Context, d time.Duration, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return send(ctx)
}

// hold notes that a claim is worked on. It is false if it already is, which
// happens where recovery and the answer of a submission bring the same one.
func (w *worker) hold(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[id] {
		return false
	}
	w.held[id] = true
	return true
}

func (w *worker) drop(id string) {
	w.mu.Lock()
	delete(w.held, id)
	w.mu.Unlock()
}

func (w *worker) holds(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held[id]
}

func (w *worker) miss() {
	w.mu.Lock()
	w.missed = w.missed || w.o.Recover
	w.mu.Unlock()
}

func (w *worker) takeMissed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	missed := w.missed
	w.missed = false
	return missed
}
