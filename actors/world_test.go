package actors_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/actors/actorstest"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// ask is a message with a place for its answer.
type ask struct {
	do    func(*room) // in the turn; nil answers at once
	reply chan error
}

func newAsk(do func(*room)) *ask { return &ask{do: do, reply: make(chan error, 1)} }

// parcel is a message that is told and not waited for.
type parcel struct {
	arrivals atomic.Int32
	refusal  error // of the last arrival
	do       func(*room)
	optional bool // need not arrive
}

func (p *parcel) arrive(r *room, refusal error) {
	p.refusal = refusal
	p.arrivals.Add(1)
	if refusal == nil && p.do != nil {
		p.do(r)
	}
}

// room is an instance that does what its messages say and checks that the
// directory keeps its promises.
type room struct {
	world  *world
	name   string
	self   *actors.Self
	events *log

	turn   atomic.Int32
	closed atomic.Bool

	// Used in turns.
	busy    int // work outstanding
	drained bool

	onDrain, onIdle, onClose func()
}

func (r *room) enter(method string) func() {
	if r.turn.Add(1) != 1 {
		r.world.t.Errorf("%s of %q runs beside another turn", method, r.name)
	}
	if r.closed.Load() {
		r.world.t.Errorf("%s of %q after Close", method, r.name)
	}
	return func() { r.turn.Add(-1) }
}

func (r *room) Receive(msg any) {
	defer r.enter("Receive")()
	r.world.received.Add(1)
	switch m := msg.(type) {
	case *ask:
		if m.do != nil {
			m.do(r)
		}
		m.reply <- nil
	case *parcel:
		m.arrive(r, nil)
	case string:
		r.events.add("got " + m)
	}
}

func (r *room) Drain(why actors.Reason) {
	defer r.enter("Drain")()
	if r.drained {
		r.world.t.Errorf("Drain of %q called twice", r.name)
	}
	r.drained = true
	r.events.add("drain " + why.String())
	if r.onDrain != nil {
		r.onDrain()
	}
}

func (r *room) Idle() bool {
	defer r.enter("Idle")()
	if r.onIdle != nil {
		r.onIdle()
	}
	return r.busy == 0
}

func (r *room) Refuse(msg any, err error) {
	r.world.refused.Add(1)
	switch m := msg.(type) {
	case *ask:
		m.reply <- err
	case *parcel:
		m.arrive(r, err)
	default:
		r.events.add(fmt.Sprintf("refused %v", msg))
	}
}

func (r *room) Panicked(msg, v any, stack []byte) {
	defer r.enter("Panicked")()
	if len(stack) == 0 {
		r.world.t.Errorf("Panicked of %q without a stack", r.name)
	}
	if m, ok := msg.(*ask); ok {
		m.reply <- fmt.Errorf("%w: %v", errCrashed, v)
	}
}

func (r *room) Close(err error) {
	if r.turn.Load() != 0 {
		r.world.t.Errorf("Close of %q beside a turn", r.name)
	}
	if r.closed.Swap(true) {
		r.world.t.Errorf("Close of %q called twice", r.name)
	}
	if r.onClose != nil {
		r.onClose()
	}
	if err != nil {
		r.events.add("close " + err.Error())
	} else {
		r.events.add("close")
	}
	if open := r.world.counter(r.name).Add(-1); open != 0 {
		r.world.t.Errorf("%d other instances of %q were open at Close", open, r.name)
	}
}

func (r *room) IdleTimeout() time.Duration { return time.Duration(r.world.idleTimeout.Load()) }

var errCrashed = errors.New("crashed")

// log is a list of events that a test can wait for.
type log struct {
	mu      sync.Mutex
	entries []string
	changed chan struct{}
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) add(entry string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.entries...)
}

// await returns the entries once there are n.
func (l *log) await(t *testing.T, n int) []string {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		l.mu.Lock()
		entries, changed := append([]string(nil), l.entries...), l.changed
		l.mu.Unlock()
		if len(entries) >= n {
			return entries
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("waited for %d events, got %q", n, entries)
		}
	}
}

// world is a directory of rooms.
type world struct {
	t     *testing.T
	clock *actorstest.Clock
	dir   *actors.Directory[*room]

	activations, received, refused atomic.Int64
	idleTimeout                    atomic.Int64
	open                           sync.Map // name → *atomic.Int64
	events                         *log     // of all rooms that are not given another

	onActivate func(context.Context, *room) error // before the room counts as open
}

// newWorld starts a directory and closes it when the test is over. setup may
// change what it is made of.
func newWorld(t *testing.T, setup func(*world, *actors.Config[*room])) *world {
	t.Helper()
	w := &world{t: t, clock: actorstest.NewClock(epoch), events: newLog()}
	cfg := actors.Config[*room]{Clock: w.clock, Activate: w.activate}
	if setup != nil {
		setup(w, &cfg)
	}
	dir, err := actors.NewDirectory(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.dir = dir
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Errorf("close directory: %v", err)
		}
	})
	return w
}

func (w *world) counter(name string) *atomic.Int64 {
	n, _ := w.open.LoadOrStore(name, new(atomic.Int64))
	return n.(*atomic.Int64)
}

func (w *world) activate(ctx context.Context, name string, self *actors.Self) (*room, error) {
	w.activations.Add(1)
	if self.Name() != name {
		w.t.Errorf("self is called %q in the activation of %q", self.Name(), name)
	}
	r := &room{world: w, name: name, self: self, events: w.events}
	if w.onActivate != nil {
		if err := w.onActivate(ctx, r); err != nil {
			return nil, err
		}
	}
	if open := w.counter(name).Add(1); open != 1 {
		w.t.Errorf("%d instances of %q are open at once", open, name)
	}
	return r, nil
}

func (w *world) pin(name string) actors.Pin[*room] {
	w.t.Helper()
	p, err := w.dir.Pin(w.t.Context(), name)
	if err != nil {
		w.t.Fatalf("pin %q: %v", name, err)
	}
	return p
}

// do runs f in a turn of the room and returns the answer.
func (w *world) do(name string, f func(*room)) error {
	w.t.Helper()
	p := w.pin(name)
	defer p.Release()
	m := newAsk(f)
	p.Tell(m)
	return <-m.reply
}

// mustDo is do for what must succeed.
func (w *world) mustDo(name string, f func(*room)) {
	w.t.Helper()
	if err := w.do(name, f); err != nil {
		w.t.Fatalf("ask %q: %v", name, err)
	}
}

// use uses the rooms one after another, a second apart.
func (w *world) use(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.clock.Advance(time.Second)
		w.mustDo(name, nil)
	}
}
