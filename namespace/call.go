package namespace

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// Call is a command on its way into a namespace.
type Call struct {
	// Class is the name of the class whose command it is.
	Class       string
	Caller      Caller
	Command     Command
	Idempotency Idempotency
}

// Outcome is what became of a command.
type Outcome struct {
	Answer Answer
	// Replayed says that the answer is the stored one of an earlier request.
	Replayed bool
	// Admission is set for a command that passes admission, whether it was let in
	// or not. One that was replayed has waited for nothing.
	Admission *Admission
}

// Admission tells how a command fared in admission.
type Admission struct {
	// Wait is the time spent in the queue; waiting for work is not in it.
	Wait time.Duration
	// Concurrency is the limit in force when it was decided.
	Concurrency int
}

// stage is where a call stands.
type stage uint8

const (
	stageNew      stage = iota
	stageLookup         // at the writer, looking for a stored answer
	stageQueued         // waiting in admission
	stageParked         // waiting for work, outside admission
	stageDeferred       // waiting for what later commands decide
	stageRunning        // at the writer
	stageChained        // durable; the command that follows is under way
	stageDone           // answered
)

// call is one command in one activation, from its caller to the writer and
// back. It is touched by one side at a time: the actor, or between Submit and
// Settle the writer.
type call struct {
	Call
	// waiting is nil if the command does not wait for work, and admitted if it does
	// not pass admission.
	waiting  Waiting
	admitted Admitted
	// done is closed when outcome and err are final.
	done chan struct{}
	// gone is set when the caller no longer waits, over when it has its answer.
	gone, over atomic.Bool

	id      admission.ID
	stage   stage
	arrived time.Time
	started time.Time // when admission let it in
	wait    time.Duration
	// woken says that it was taken up again because there is work.
	woken bool
	// keyed says that its idempotency key is the one in flight.
	keyed bool
	// queued adds up the time spent in admission.
	queued time.Duration
	// idle is the answer to give if the wait for work ends without any.
	idle Answer
	// topics are what it waited for when it was parked last: its turn forgets them
	// as soon as it looks again.
	topics []string
	// place and sequence are the call's position among the parked.
	place, sequence uint64
	parent, child   *call
	// deadline is when its wait ends, and slot its place in the timeline, from 1.
	deadline time.Time
	slot     int
	// ruling is what a deferred command gets at its deadline.
	ruling ruling

	turn Turn

	outcome Outcome
	err     error
}

func newCall(c Call) *call {
	k := &call{Call: c, done: make(chan struct{})}
	if w, ok := c.Command.(Waiting); ok {
		k.waiting, k.wait = w, w.Wait()
		k.admitted, _ = w.(Admitted)
	}
	if k.Caller.Tenant == "" {
		k.Caller.Tenant = k.Caller.Principal
	}
	return k
}

// await waits for the outcome. A caller that goes away abandons the wait, not a
// commit that has begun.
func (c *call) await(ctx context.Context, i *instance) (Outcome, error) {
	select {
	case <-c.done:
	case <-ctx.Done():
		c.gone.Store(true)
		i.self.Tell(abandoned{c})
		return Outcome{}, context.Cause(ctx)
	}
	return c.outcome, c.err
}

// Lane puts heartbeats before submissions before claims in one commit.
func (c *call) Lane() Lane {
	if c.stage == stageLookup {
		return LaneUrgent
	}
	if l, ok := c.Command.(Laned); ok {
		return l.Lane()
	}
	if c.admitted != nil {
		return LaneAdmitted
	}
	return LaneNormal
}

// together is what commands that can be carried out together have in common.
type together struct {
	host *classHost
	kind reflect.Type
}

// Batch groups the commands that can be carried out together: those of one type
// and one class.
func (c *call) Batch() any {
	if _, ok := c.Command.(Batched); !ok || c.stage == stageLookup {
		return nil
	}
	return together{c.turn.host, reflect.TypeOf(c.Command)}
}

// Apply carries out the command in the writer's transaction.
func (c *call) Apply(tx *storage.Tx) error {
	t := &c.turn
	t.host.begin(c, tx)
	if done, err := c.preempt(); done || err != nil {
		return c.settleTurn(err)
	}
	answer, err := c.Command.Apply(t)
	if err == nil {
		t.answer = answer
		err = c.conclude()
	}
	return c.settleTurn(err)
}

// preempt deals with what comes before the command itself, and reports whether
// the call ends there.
func (c *call) preempt() (done bool, err error) {
	if lost := c.turn.host.writer.lost; lost != nil {
		return true, lost
	}
	if c.Idempotency.Key != "" && (c.stage == stageLookup || c.admitted == nil) {
		found, err := c.replay()
		if found || err != nil || c.stage == stageLookup {
			return true, err
		}
	}
	if c.waiting != nil && c.gone.Load() {
		return true, errGone()
	}
	return false, nil
}

// settleTurn remembers an error as the outcome. It goes on to the storage layer,
// to be rolled back, only if there is something to roll back.
func (c *call) settleTurn(err error) error {
	c.turn.err = err
	if err != nil && !c.turn.wrote && isRefusal(err) {
		return nil
	}
	return err
}

// ApplyAll carries out commands of one type together.
func (c *call) ApplyAll(tx *storage.Tx, ops []storage.Op) error {
	turns := make([]*Turn, 0, len(ops))
	calls := make([]*call, 0, len(ops))
	for _, op := range ops {
		k := op.(*call)
		k.turn.host.begin(k, tx)
		done, err := k.preempt()
		if err != nil && !isRefusal(err) {
			return err
		}
		if k.turn.err = err; !done {
			turns, calls = append(turns, &k.turn), append(calls, k)
		}
	}
	if len(turns) == 0 {
		return nil
	}
	if err := calls[0].Command.(Batched).ApplyAll(turns); err != nil {
		return err
	}
	for _, k := range calls {
		if k.turn.err != nil {
			continue
		}
		if err := k.conclude(); err != nil {
			return err
		}
	}
	return nil
}

// conclude does what the runtime owes every command that succeeded, in the
// command's own transaction: the alarm and the idempotency record.
func (c *call) conclude() error {
	if err := c.turn.host.writeAlarm(&c.turn); err != nil {
		return err
	}
	if c.Idempotency.Key == "" || c.turn.answer.NoEffect || c.turn.parked || c.turn.deferred != nil {
		return nil
	}
	return c.record()
}

// Settle takes the outcome of the commit and hands the call back to the actor.
func (c *call) Settle(err error) {
	if err != nil {
		c.turn.err = err
	}
	c.turn.host.writer.settle(c)
}

// errGone refuses work to a caller that has gone away: a lease that nobody would
// hold.
func errGone() error {
	return api.Errorf(api.Internal, "the caller has gone away")
}
