package namespace

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// instance is one activation of a namespace: what its actor owns. Fields below
// the line change only in the actor's turn.
type instance struct {
	runtime *Runtime
	name    string
	self    *actors.Self
	file    *storage.File
	writer  writer
	meta    meta
	hub     hub

	// settings and keys are replaced as a whole, so that reads and the writer
	// need no turn.
	settings atomic.Pointer[Settings]
	keys     atomic.Pointer[keyring]
	// stats is what the last turn published.
	stats atomic.Pointer[Stats]
	// holds counts those who keep the namespace active; see [Namespace.Hold].
	holds atomic.Int64

	// ----

	gate   *admission.Gate
	quotas quotas
	lastID admission.ID
	// live holds every call that has not been answered; admitted ones are also
	// found by their admission id.
	live     map[*call]struct{}
	admitted map[admission.ID]*call
	keysBusy inFlight
	lot      *lot
	waits    timeline
	// forsaken are commands that were woken for work and ended without taking
	// any: somebody else may.
	forsaken []*call
	// alarming holds the classes whose alarm is at the writer; alarmRetry is
	// when one that failed may go off again.
	alarming   map[*classHost]bool
	alarmRetry time.Time
	timer      actors.Timer
	timerAt    time.Time
	draining   bool
	closed     bool
	shutdown   error // why new work is refused, once draining for good
	tally      tally
	// changed says that the published figures are out of date.
	changed bool
}

// Messages to the actor, besides *call.
type (
	// flushed says that the writer has settled calls.
	flushed struct{}
	// abandoned says that the call's caller no longer waits.
	abandoned struct{ call *call }
	// tick is the timer's.
	tick struct{}
	// awake is the first message of an activation.
	awake struct{}
	// inspect runs a function in the turn.
	inspect struct {
		look func()
		done chan error
	}
)

// Receive handles one message in the actor's turn.
func (i *instance) Receive(msg any) {
	switch m := msg.(type) {
	case *call:
		i.arrive(m)
	case flushed:
		i.flush()
	case abandoned:
		i.abandon(m.call)
	case tick:
		i.timerAt = time.Time{}
	case inspect:
		m.look()
		m.done <- nil
	case attended:
		m.host.attending = false
		if m.host.attendAgain {
			i.attend(m.host)
		}
	case awake:
		for _, h := range i.writer.hosts {
			i.attend(h)
		}
	}
	i.runDue()
	i.handOn()
	i.arm()
	if i.changed {
		i.publish()
	}
}

// arrive takes up a new command.
func (i *instance) arrive(c *call) {
	c.arrived = i.now()
	i.live[c] = struct{}{}
	if err := i.check(c); err != nil {
		i.answer(c, err)
		return
	}
	switch {
	case c.admitted == nil:
		i.submit(c, stageRunning)
	case c.Idempotency.Key != "":
		// The look for a stored answer comes before every limit.
		i.submit(c, stageLookup)
	default:
		i.knock(c)
	}
}

// check says whether the call may go on at all.
func (i *instance) check(c *call) error {
	host, err := i.classOf(c.Class)
	if err != nil {
		return err
	}
	c.turn.host = host
	if c.Caller.incarnation != "" && c.Caller.incarnation != i.meta.incarnation || !i.keys.Load().admits(c.Caller) {
		return errUnauthorized()
	}
	if i.shutdown != nil && (c.waiting != nil || errors.Is(i.shutdown, errRemoved)) {
		return i.shutdown
	}
	return i.keysBusy.enter(c)
}

// submit hands a call to the writer.
func (i *instance) submit(c *call, s stage) {
	c.stage = s
	i.file.Submit(c)
}

// knock brings a command before the operator's switches and then admission. The
// switches see a command once, not again when it returns from being parked.
func (i *instance) knock(c *call) {
	if c.gone.Load() {
		i.answer(c, errGone())
		return
	}
	if i.shutdown != nil { // it was looking for a stored answer meanwhile
		i.answer(c, i.shutdown)
		return
	}
	if i.gate.Mode() != admission.Pause {
		if err := i.quota(c); err != nil {
			i.answer(c, err)
			return
		}
	}
	i.offer(c)
}

// quota asks the operator's quotas, which count commands before admission.
func (i *instance) quota(c *call) error {
	quota, reason := i.quotas.legacy, admission.LegacyQuota
	if c.Caller.IsAnonymous() {
		quota, reason = i.quotas.anonymous, admission.AnonymousQuota
	}
	ok, after := quota.Take(i.now().UnixNano(), c.Caller.Principal)
	if ok {
		return nil
	}
	i.tally.refused[reason.String()]++
	c.outcome.Admission = &Admission{Concurrency: i.gate.Concurrency()}
	return refusal(reason, after)
}

// offer lets a command arrive at admission.
func (i *instance) offer(c *call) {
	i.lastID++
	c.id, c.stage = i.lastID, stageQueued
	i.admitted[c.id] = c
	i.decide(i.gate.Arrive(i.now().UnixNano(), c.id, c.Caller.Principal))
}

// decide carries out what the gate has decided. The decisions are valid until
// the gate's next event, and none of what is done here causes one: what a refused
// command was woken for is handed on later.
func (i *instance) decide(decisions []admission.Decision) {
	for _, d := range decisions {
		c := i.admitted[d.ID]
		if c == nil {
			continue
		}
		switch d.Kind {
		case admission.Start:
			c.queued += time.Duration(d.Waited)
			c.started = i.now()
			i.submit(c, stageRunning)
		case admission.Refuse:
			c.queued += time.Duration(d.Waited)
			delete(i.admitted, d.ID)
			i.answer(c, refusal(d.Reason, d.RetryAfter))
		case admission.Cancelled:
			c.queued += time.Duration(d.Waited)
			delete(i.admitted, d.ID)
		case admission.Enqueue, admission.Finished:
		}
	}
}

// refusal is the answer to a command that admission, or a switch of the
// operator, did not let in.
func refusal(reason admission.Reason, seconds int) *api.Error {
	return api.Errorf(api.RateLimited, "the claim was not admitted: %s", reason).
		Because(reason.String()).After(time.Duration(seconds) * time.Second)
}

// flush takes back what the writer has settled: first what it changed wakes
// those who wait for it, then each call goes on.
func (i *instance) flush() {
	calls := i.writer.take()
	for _, c := range calls {
		if c.turn.err == nil && len(c.turn.signals) > 0 {
			i.hub.publish(c.Class, c.turn.signals)
		}
	}
	for _, c := range calls {
		// Once it has gone on, the call may be at the writer again.
		failed, host, signals, rulings := c.turn.err != nil, c.turn.host, c.turn.signals, c.turn.rulings
		i.settled(c)
		if failed {
			continue
		}
		for _, r := range rulings {
			i.rule(r)
		}
		i.wake(c.Class, signals)
		i.attendTo(host, signals)
	}
}

// settled goes on with a call that the writer has settled.
func (i *instance) settled(c *call) {
	looked := c.stage == stageLookup
	if c.stage == stageRunning && c.id != 0 {
		i.finish(c)
	}
	if a, ok := c.Command.(alarm); ok {
		i.alarmed(a, c.turn.err)
	}
	if t, ok := c.Command.(turned); ok && c.turn.err == nil {
		t.turned(i)
	}
	switch {
	case c.turn.err != nil:
		i.answer(c, c.turn.err)
	case c.turn.replayed:
		c.outcome.Replayed = true
		c.outcome.Answer = c.turn.answer
		i.answer(c, nil)
	case looked:
		i.knock(c)
	case c.turn.parked && i.mayPark(c):
		i.park(c)
	case c.turn.deferred != nil:
		i.hold(c)
	default:
		c.outcome.Answer = c.turn.answer
		i.chain(c)
	}
}

// turned is the power of the runtime's own commands that have something to do
// in the actor's turn once they are durable.
type turned interface{ turned(*instance) }

// finish gives the slot of an admitted command back to the gate. Only work that
// was done, and for somebody, counts as a sample.
func (i *instance) finish(c *call) {
	now := i.now().UnixNano()
	delete(i.admitted, c.id)
	var decisions []admission.Decision
	if c.turn.err == nil && !c.turn.parked && !c.turn.answer.NoEffect && !c.gone.Load() {
		i.tally.service.observe(i.now().Sub(c.started))
		decisions = i.gate.Finish(now, c.id)
	} else {
		decisions = i.gate.Discard(now, c.id)
	}
	c.id = 0
	i.decide(decisions)
}

// answer ends a call.
func (i *instance) answer(c *call, err error) {
	if c.stage == stageDone {
		return
	}
	woken := c.woken && err != nil && !i.closed
	c.stage = stageDone
	c.over.Store(true)
	delete(i.live, c)
	i.keysBusy.leave(c)
	c.err = publicError(err)
	told := err == nil || api.IsCode(err, api.RateLimited) || c.parent != nil
	if c.admitted != nil && c.outcome.Admission == nil && told {
		c.outcome.Admission = &Admission{Wait: c.queued, Concurrency: i.gate.Concurrency()}
	}
	if p := c.parent; p != nil {
		i.join(p, c)
	}
	close(c.done)
	i.changed = true
	if woken {
		i.forsaken = append(i.forsaken, c)
	}
}

// abandon ends what can be ended of a call whose caller has gone away. What the
// writer has may still be committed.
func (i *instance) abandon(c *call) {
	if c.child != nil && c.stage == stageChained {
		c.child.gone.Store(true)
		c = c.child
	}
	i.withdraw(c, errGone())
}

// withdraw answers a call with err if it waits. One that the writer has, or that
// waits for the command it carries, goes on.
func (i *instance) withdraw(c *call, err error) {
	switch c.stage {
	case stageQueued:
		i.decide(i.gate.Cancel(i.now().UnixNano(), c.id))
		i.answer(c, err)
	case stageParked:
		i.lot.remove(c)
		i.answer(c, err)
	case stageDeferred:
		i.answer(c, err)
	case stageNew, stageLookup, stageRunning, stageChained, stageDone:
	}
}

// now is the namespace's time.
func (i *instance) now() time.Time { return i.runtime.clock.Now() }

// view is a snapshot through tx for a caller.
func (i *instance) view(tx *storage.Tx, h *classHost, caller Caller) View {
	return View{
		tx: tx, now: api.Time(i.now()), caller: caller, settings: i.settings.Load(),
		name: i.name, class: h.class.Name, signer: signer{i.meta.secret}, shared: h.shared,
	}
}

// errRemoved is the shutdown reason of a namespace that is being deleted.
var errRemoved = errors.New("namespace removed")

// errUnauthorized answers a missing, unknown or foreign key, and a namespace
// that does not exist: whoever may not see a namespace cannot tell which it is.
func errUnauthorized() error {
	return api.Errorf(api.Unauthorized, "this needs an API key of the namespace (Authorization: Bearer KEY, or x-api-key: KEY)")
}

// refused is what a message that will never be received is answered with.
func refused(err error) error {
	switch {
	case errors.Is(err, actors.ErrShuttingDown):
		return errShuttingDown(err)
	case errors.Is(err, actors.ErrRestarted), errors.Is(err, actors.ErrClosed):
		return errRestarting(err)
	}
	return fmt.Errorf("tell namespace: %w", err)
}

func errShuttingDown(err error) *api.Error {
	return api.Errorf(api.ShuttingDown, "the node is shutting down").After(time.Second).Wrapping(err)
}
