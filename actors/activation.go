package actors

import (
	"sync"
	"sync/atomic"
	"time"
)

// state is where an activation stands in its life.
type state int

const (
	activating state = iota // Activate is in course or waits for a slot
	active
	draining // no new pins; Drain was called or is in the mailbox
	failed   // no new pins and no messages; Close is to come
	reserved // no instance: the name is held by Exclusive
	gone     // no longer in the router's names
)

// failure is why an instance is unusable.
type failure struct {
	cause   error // for Close
	refusal error // for the messages it will not receive
}

// activation is one life of a name, from the request that activates it until
// its successor may begin. It is in the router's names from first to last.
type activation struct {
	router *router
	name   string
	seq    uint64 // order of creation
	self   Self

	woken        bool // created by a wake-up rather than a request
	wakeFailures int  // failed wake-ups in a row before this one

	ready chan struct{} // closed when it is active, or will never be; for a reservation, when the name is held
	leave chan struct{} // closed when it begins to drain or fails
	gone  chan struct{} // closed when a successor may begin

	lastUse atomic.Int64 // router.stamp of the last pin or release; 0 is never
	inTurn  atomic.Int64 // router.stamp of the start of the turn in course, or 0
	queued  atomic.Int64 // messages in the mailbox, and the one being received
	leaving atomic.Bool  // leave is closed; read in every turn, which spares it the mutex
	failure atomic.Pointer[failure]

	// Set before ready is closed, constant afterwards.
	instance Instance
	err      error // why there is no instance
	since    int64 // router.stamp of the start of active life
	process  process

	drained bool // Drain was called; used in turns only

	mu         sync.Mutex
	state      state
	why        Reason        // of the drain
	pins       int           // while activating: callers who wait, each of whom will hold one
	early      []any         // told while activating
	ended      bool          // nothing is sent to the process any more; Close is to come
	abort      func()        // ends the context of Activate
	successors []*activation // reservations to hand the name to, in order
	granted    bool          // of a reservation: it was handed the name
	withdrawn  bool          // of a reservation: its caller went away before that
	wakeAt     time.Time
	wakeSet    bool // the instance has said wakeAt
}

func newActivation(r *router, name string, s state) *activation {
	a := &activation{
		router: r,
		name:   name,
		seq:    r.seq.Add(1),
		state:  s,
		ready:  make(chan struct{}),
		leave:  make(chan struct{}),
		gone:   make(chan struct{}),
	}
	a.self.a = a
	return a
}

// entry is the outcome of an attempt to pin.
type entry int

const (
	entered entry = iota // pinned
	joined               // pinned as soon as ready is closed, unless err is set then
	shut                 // wait until gone is closed, then look the name up again
)

// enter pins the activation if it can be. A pin taken while it is activating
// protects the waiting caller: an activation that is evicted at once still
// serves those it was made for.
func (a *activation) enter() entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.state {
	case activating:
		a.pins++
		return joined
	case active:
		a.pins++
		return entered
	default:
		return shut
	}
}

func (a *activation) touch() { a.lastUse.Store(a.router.stamp()) }

// release gives a pin back.
func (a *activation) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pins--
	if a.pins == 0 && a.state == draining {
		a.signalLocked(signalSettle)
	}
}

// tell puts msg into the mailbox, or refuses it.
func (a *activation) tell(msg any) {
	a.mu.Lock()
	if a.state == activating {
		a.early = append(a.early, msg)
		a.mu.Unlock()
		return
	}
	if !a.ended && (a.state == active || a.state == draining) {
		a.sendLocked(msg)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	if a.instance == nil { // there will never be one: nobody to tell
		return
	}
	refusal := ErrClosed
	if f := a.failure.Load(); f != nil {
		refusal = f.refusal
	}
	a.refuse(msg, refusal)
}

func (a *activation) sendLocked(msg any) {
	a.queued.Add(1)
	a.process.send(letter{msg})
}

// signalLocked sends a signal unless the end has been decided: after that,
// nothing may reach the process.
func (a *activation) signalLocked(s signal) {
	if !a.ended {
		a.process.send(s)
	}
}

// open gives the activation its instance and makes it active.
func (a *activation) open(instance Instance) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.instance = instance
	if f := a.failure.Load(); f != nil {
		return f.cause
	}
	if err := a.process.start(a.router.system, a.receive); err != nil {
		return err
	}
	a.since = a.router.stamp()
	a.router.idle.set(a, a.router.clock.Now())
	a.state = active
	for _, msg := range a.early {
		a.sendLocked(msg)
	}
	a.early = nil
	return nil
}

// discard closes the instance of an activation that could not be opened.
func (a *activation) discard(cause error) {
	a.self.stopTimers()
	a.mu.Lock()
	early := a.early
	a.early = nil
	a.state = gone
	a.mu.Unlock()
	for _, msg := range early {
		a.refuse(msg, a.restarted())
	}
	_ = a.guard("Close", func() { a.instance.Close(cause) }) // logged; the activation has failed anyway
}

// drain makes an active instance drain, and reports whether it was active.
func (a *activation) drain(why Reason) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != active {
		return false
	}
	a.drainLocked(why)
	a.signalLocked(signalDrain)
	return true
}

func (a *activation) drainLocked(why Reason) {
	a.why = why
	a.leaveLocked(draining)
}

// leaveLocked takes the activation from active to draining or failed.
func (a *activation) leaveLocked(s state) {
	a.state = s
	a.leaving.Store(true)
	close(a.leave)
	a.router.slots.left()
}

// fail makes the instance unusable. The first failure counts.
func (a *activation) fail(cause, refusal error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || !a.failure.CompareAndSwap(nil, &failure{cause, refusal}) {
		return
	}
	switch a.state {
	case active:
		a.leaveLocked(failed)
	case draining:
		a.state = failed
	default: // activating: open will see the failure; nothing else has an instance
		return
	}
	a.signalLocked(signalSettle)
}

// abortWith sets what ends the context of Activate.
func (a *activation) abortWith(cancel func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.abort = cancel
}

// abortActivation ends the context of an activation in course.
func (a *activation) abortActivation() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == activating && a.abort != nil {
		a.abort()
	}
}

// live returns the instance while the activation is active or draining.
func (a *activation) live() (Instance, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != active && a.state != draining {
		return nil, false
	}
	return a.instance, true
}
