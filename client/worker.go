package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/skerryhq/skerry/api"
)

// maxPerClaim is how many verbs one claim command may ask for.
const maxPerClaim = 64

// WorkerOptions says what [Client.Work] claims and what it does with it. Handler
// must be set; the zero value of the rest is sensible.
type WorkerOptions struct {
	// Kinds are the kinds of verbs to claim; none means any.
	Kinds []string
	// Concurrency is how many verbs are worked on at once; 0 means 1.
	Concurrency int
	// Wait is how long a claim waits for work at the server, up to 30 s. 0 means
	// 30 s.
	Wait time.Duration
	// Lease is the lease to ask for; 0 leaves it to the verb and the namespace.
	Lease time.Duration
	// Grace is how long handlers may go on once the context of Work has ended; 0
	// means 10 s. Force, once closed, ends it early.
	Grace time.Duration
	Force <-chan struct{}
	// MaxJobs ends the work after that many claims; 0 means no bound.
	MaxJobs int
	// StopWhenIdle ends the work when a claim comes back empty.
	StopWhenIdle bool
	// Recover takes up what the principal's leases in the namespace still hold:
	// those of an earlier run that was killed, and those granted along with a
	// submission whose answer was lost. It is right only where no other process
	// works under the same principal.
	Recover bool
	// Handler does the work of one claim. Its context ends when the lease is lost,
	// the verb is cancelled or the worker has run out of grace, with that as its
	// cause; it must then return soon, and Work waits for it. A nil error submits
	// the result, a *JobError says what to do, and any other error, a panic too,
	// fails the verb for another attempt.
	Handler func(ctx context.Context, job *Job) (Result, error)
	// Observe is told of every claim that is over. It may be nil, and is called
	// from several goroutines at once.
	Observe func(Outcome)
	// Delayed is told why a claim has to be sent again, each time that happens:
	// the server does not answer, or cannot take it now. It may be nil.
	Delayed func(error)
}

// worker is one run of Work. Its methods take two contexts: ctx is that of Work
// and ends the claiming; jobs is that of the handlers and ends with the grace
// period.
type worker struct {
	client *Client
	o      WorkerOptions
	slots  *slots
	// taken counts the claims that were started; only the claiming goroutine
	// uses it.
	taken int

	mu   sync.Mutex
	held map[string]bool
	// missed says that a grant may have been lost with an answer.
	missed bool
}

// Work claims verbs, keeps their leases alive, hands them to the handler and
// reports what came of them, until ctx ends, o's bounds are reached or the server
// refuses to let this key claim. Then it claims no more, gives the handlers
// o.Grace from the end of ctx to finish, ends the contexts of the rest and
// releases their claims, and returns when nothing of it runs any more.
//
// The error is nil unless a claim was refused for good. Overload, lost
// connections and restarts of the server are waited out. A claim whose answer was
// lost is asked again under the same Idempotency-Key, so that its grants are not
// forgotten.
func (c *Client) Work(ctx context.Context, o WorkerOptions) error {
	if o.Handler == nil {
		return errors.New("start worker: no handler")
	}
	o.Wait = waitOrMost(o.Wait)
	w := &worker{
		client: c, o: o, slots: newSlots(max(o.Concurrency, 1)), held: make(map[string]bool), missed: o.Recover,
	}
	jobs, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	err := w.claim(ctx, jobs)
	if ctx.Err() != nil {
		err = nil
	}
	w.slots.drain(ctx, o.Grace, o.Force, end)
	return err
}

// claim takes work for the free slots until there is a reason to stop.
func (w *worker) claim(ctx, jobs context.Context) error {
	for {
		n := w.slots.acquire(ctx, w.allowed())
		if n == 0 {
			return nil
		}
		if w.takeMissed() {
			w.slots.giveBack(n)
			if err := w.recover(ctx, jobs); err != nil {
				return err
			}
			continue
		}
		claimed, err := w.ask(ctx, n)
		if err != nil {
			w.slots.giveBack(n)
			return err
		}
		granted := claimed.Claims.Claims
		for i := range granted {
			w.start(ctx, jobs, &granted[i], claimed.Sent)
		}
		w.slots.giveBack(n - len(granted))
		if len(granted) > 0 {
			continue
		}
		if w.o.StopWhenIdle {
			return nil
		}
		if err := sleep(ctx, pace(claimed.Idle, claimed.Sent)); err != nil {
			return err
		}
	}
}

// allowed is how many verbs the next claim may ask for.
func (w *worker) allowed() int {
	if w.o.MaxJobs <= 0 {
		return maxPerClaim
	}
	return min(w.o.MaxJobs-w.taken, maxPerClaim)
}

// ask sends one claim command until it is answered.
func (w *worker) ask(ctx context.Context, n int) (*Claimed, error) {
	spec := w.spec(n, w.o.Wait)
	claimed, first, err := insist(ctx, w.client, w.o.Delayed, func(keyed *Client) (*Claimed, error) {
		return keyed.Claim(ctx, spec)
	})
	if err != nil {
		return nil, err
	}
	if claimed.Replayed {
		claimed.Sent = first
	}
	return claimed, nil
}

// spec is the claim command for n verbs.
func (w *worker) spec(n int, wait time.Duration) api.ClaimSpec {
	spec := api.ClaimSpec{Kinds: w.o.Kinds, Max: &n}
	if wait > 0 {
		ms := wait.Milliseconds()
		spec.WaitMs = &ms
	}
	if w.o.Lease > 0 {
		ms := w.o.Lease.Milliseconds()
		spec.LeaseMs = &ms
	}
	return spec
}

// recover takes up the principal's leases that this worker does not hold.
func (w *worker) recover(ctx, jobs context.Context) error {
	for claim, err := range w.client.Claims(ctx, nil) {
		if err != nil {
			return err
		}
		if w.holds(claim.ID) || (len(w.o.Kinds) > 0 && !slices.Contains(w.o.Kinds, claim.Verb.Kind)) {
			continue
		}
		if w.slots.acquire(ctx, min(1, w.allowed())) == 0 {
			return nil
		}
		w.start(ctx, jobs, &claim, time.Time{})
	}
	return nil
}
