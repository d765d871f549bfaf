package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/skerryhq/skerry/api"
)

const (
	// defaultBatch is how many results are committed at once until the catalog
	// has said it.
	defaultBatch = 4
	// batchAge is for how long the catalog's word counts.
	batchAge = time.Minute
)

// RunWorkerOptions says what [Client.WorkRuns] works on and how. Either Handler or
// Batch must be set; the zero value of the rest is sensible.
type RunWorkerOptions struct {
	// Pool is the pool to work in; empty means api.PoolDurable, the items of runs.
	// The others are those of singular calls.
	Pool string
	// Kinds are the kinds of items to work on; none means any.
	Kinds []string
	// Slots is how many quanta of the durable pool are worked on at once; 0 means
	// 1. A worker has one slot in each of the other pools, whatever Slots says.
	Slots int
	// MaxItems bounds the items of a quantum; 0 leaves that to the namespace.
	MaxItems int
	// Wait is how long a request for work waits at the server, up to 30 s. 0 means
	// 30 s.
	Wait time.Duration
	// Lease is the lease to ask for; 0 leaves it to the namespace.
	Lease time.Duration
	// Grace is how long the items that are being worked on may go on once the
	// context of WorkRuns has ended; 0 means 10 s. Force, once closed, ends it
	// early.
	Grace time.Duration
	Force <-chan struct{}
	// MaxQuanta ends the work after that many quanta; 0 means no bound. What the
	// last request brings may exceed it.
	MaxQuanta int
	// StopWhenIdle ends the work when a request comes back empty.
	StopWhenIdle bool
	// Handler does the work of one item and returns its result, a JSON object. The
	// items of a slot are given to it one after the other.
	//
	// Its context ends when the item is out of time, the quantum is lost, the run
	// is cancelled or the worker has run out of grace, with that as its cause; it
	// must then return soon, and WorkRuns waits for it. A *JobError names the code
	// and message with which the item fails, or with Release gives the item back;
	// Final and After mean nothing here, as every failure is final. Any other
	// error, a panic too, fails the item unless the context ended before it was
	// out of time: then it goes back.
	Handler func(ctx context.Context, job *RunJob) (json.RawMessage, error)
	// Batch does the work of all items of a quantum in one go, and of the quanta
	// that the server found fit to be computed with it. It returns one outcome for
	// each job, in order. Its context is that of Handler, except that it lasts as
	// long as one quantum of them is not lost, and that its time is that of all
	// items of the smallest quantum together: outcomes that it returns after that
	// still count, and its errors are then api.ItemTimeout.
	Batch func(ctx context.Context, jobs []*RunJob) []ItemOutcome
	// Observe is told of every quantum that is over. It may be nil, and is called
	// from several goroutines at once.
	Observe func(QuantumOutcome)
	// Delayed is told why a request for work has to be sent again, each time that
	// happens. It may be nil.
	Delayed func(error)
}

// QuantumOutcome tells what became of one quantum of a worker.
type QuantumOutcome struct {
	Quantum *api.Quantum
	// Disposition is DoneCommitted where results were reported, DoneReleased where
	// all items went back, and DoneLost where the quantum was lost or its last
	// report was not accepted or not answered.
	Disposition Disposition
	// Committed are the results that the server took, in the order of the report,
	// and Ignored those that it did not.
	Committed []api.ItemResult
	Ignored   []api.IgnoredItem
	// Errors are those of the handler by the id of the item, nil if there were
	// none. That of a panic has its value and stack.
	Errors map[string]error
	// Err is why the quantum was lost or given back, if there is something to say.
	Err error
	// Elapsed is the time from when the worker had the quantum until its last
	// report was answered.
	Elapsed time.Duration
}

// runWorker is one run of WorkRuns. Its contexts are those of [worker]. Only the
// claiming goroutine uses the rest.
type runWorker struct {
	client *Client
	o      RunWorkerOptions
	slots  *slots
	taken  int
	// batch is how many results are committed at once, as the catalog said at
	// batchRead.
	batch     int
	batchRead time.Time
}

// WorkRuns asks for quanta, keeps their leases alive, hands their items to the
// handler and commits what comes of them in batches, until ctx ends, o's bounds
// are reached or the server refuses to give this key work. Then it asks for no
// more and begins no further item, gives those that are being worked on o.Grace
// from the end of ctx to finish, commits what is finished and gives the rest back.
// It returns when nothing of it runs any more.
//
// A batch that is refused though the quantum is not lost is sent once more and
// then result by result, so that one that the server cannot take fails only its
// own item, with the code result_rejected.
//
// The error is nil unless a request for work was refused for good. Overload, lost
// connections and restarts of the server are waited out.
func (c *Client) WorkRuns(ctx context.Context, o RunWorkerOptions) error {
	if (o.Handler == nil) == (o.Batch == nil) {
		return errors.New("start worker: either Handler or Batch must be set")
	}
	if o.Pool == "" {
		o.Pool = api.PoolDurable
	}
	if o.Pool != api.PoolDurable {
		o.Slots = 1
	}
	o.Wait = waitOrMost(o.Wait)
	w := &runWorker{client: c, o: o, slots: newSlots(max(o.Slots, 1)), batch: defaultBatch}
	jobs, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	err := w.claim(ctx, jobs)
	if ctx.Err() != nil {
		err = nil
	}
	w.slots.drain(ctx, o.Grace, o.Force, end)
	return err
}

// claim takes a quantum for each slot that is free until there is a reason to
// stop.
func (w *runWorker) claim(ctx, jobs context.Context) error {
	for w.o.MaxQuanta <= 0 || w.taken < w.o.MaxQuanta {
		if w.slots.acquire(ctx, 1) == 0 {
			return nil
		}
		w.readBatch(ctx)
		claimed, err := w.ask(ctx)
		if err != nil {
			w.slots.giveBack(1)
			return err
		}
		if claimed.Quantum != nil {
			w.start(ctx, jobs, claimed)
			continue
		}
		w.slots.giveBack(1)
		if w.o.StopWhenIdle {
			return nil
		}
		if err := sleep(ctx, pace(claimed.Idle, claimed.Sent)); err != nil {
			return err
		}
	}
	return nil
}

// readBatch reads the batch size from the catalog where the last one is old. A
// catalog that cannot be read holds nothing up: the next request for work will
// tell what is wrong.
func (w *runWorker) readBatch(ctx context.Context) {
	if !w.batchRead.IsZero() && now().Sub(w.batchRead) <= batchAge {
		return
	}
	_ = within(ctx, leastSettle, func(ctx context.Context) error {
		catalog, err := w.client.Catalog(ctx)
		if err == nil && catalog.BatchItems > 0 {
			w.batch, w.batchRead = catalog.BatchItems, now()
		}
		return err
	})
}

// ask sends one request for work until it is answered.
func (w *runWorker) ask(ctx context.Context) (*ClaimedQuanta, error) {
	ms := w.o.Wait.Milliseconds()
	spec := api.QuantumSpec{Pool: w.o.Pool, Kinds: w.o.Kinds, WaitMs: &ms}
	if w.o.MaxItems > 0 {
		spec.MaxItems = &w.o.MaxItems
	}
	if w.o.Lease > 0 {
		lease := w.o.Lease.Milliseconds()
		spec.LeaseMs = &lease
	}
	claimed, first, err := insist(ctx, w.client, w.o.Delayed, func(keyed *Client) (*ClaimedQuanta, error) {
		return keyed.ClaimQuanta(ctx, spec)
	})
	if err != nil {
		return nil, err
	}
	if claimed.Replayed {
		claimed.Sent = first
	}
	return claimed, nil
}

// start works on what was granted in a slot whose token has been taken.
func (w *runWorker) start(ctx, jobs context.Context, claimed *ClaimedQuanta) {
	granted := append([]api.Quantum{*claimed.Quantum}, claimed.Also...)
	w.taken += len(granted)
	batch := w.batch
	w.slots.start(func() {
		hands := make([]*hand, len(granted))
		for i := range granted {
			hands[i] = w.hold(jobs, &granted[i], claimed.Sent, batch)
		}
		if w.o.Batch != nil {
			w.together(ctx, jobs, hands)
		}
		for _, h := range hands {
			if w.o.Handler != nil {
				w.inTurn(ctx, jobs, h)
			}
			outcome := h.finish(jobs)
			if w.o.Observe != nil {
				w.o.Observe(outcome)
			}
		}
	})
}
