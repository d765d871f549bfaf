package actors

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// router is a Directory without its type parameter.
type router struct {
	clock        Clock
	logger       *slog.Logger
	activateFunc func(ctx context.Context, name string, self *Self) (Instance, error)
	idleTimeout  time.Duration
	closeTimeout time.Duration

	epoch  time.Time // what stamps count from
	seq    atomic.Uint64
	system *actor.ActorSystem
	names  sync.Map // string → *activation
	crew   *crew    // the keeper, every activation, every wake-up and Exclusive
	slots  slots
	idle   idleDeadlines
	wakes  wakes
	nudge  chan struct{} // asks the keeper to look again

	closing    chan struct{} // holds a token for every instance that Shutdown may be closing
	forced     chan struct{} // closed when what is left is to be closed at once
	forceOnce  sync.Once
	systemOnce sync.Once
}

func newRouter[T Instance](cfg Config[T]) *router {
	return &router{
		clock:  cfg.Clock,
		logger: cfg.Logger,
		activateFunc: func(ctx context.Context, name string, self *Self) (Instance, error) {
			instance, err := cfg.Activate(ctx, name, self)
			if err != nil {
				return nil, err
			}
			return instance, nil
		},
		idleTimeout:  cfg.IdleTimeout,
		closeTimeout: cfg.CloseTimeout,
		epoch:        cfg.Clock.Now(),
		system:       newSystem(),
		crew:         newCrew(),
		slots:        slots{maxActive: cfg.MaxActive, activateMax: cfg.ActivateConcurrency},
		wakes:        wakes{limit: cfg.WakeConcurrency},
		nudge:        make(chan struct{}, 1),
		closing:      make(chan struct{}, cfg.ActivateConcurrency),
		forced:       make(chan struct{}),
	}
}

// stamp is the time as a number that fits an atomic. It is never zero.
func (r *router) stamp() int64 { return int64(r.clock.Now().Sub(r.epoch)) + 1 }

// stampTime is the inverse of stamp.
func (r *router) stampTime(s int64) time.Time { return r.epoch.Add(time.Duration(s - 1)) }

// pin pins the activation of name and makes one if there is none.
func (r *router) pin(ctx context.Context, name string) (*activation, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("pin %q: %w", name, err)
		}
		a, err := r.obtain(name, nil)
		if err != nil {
			return nil, err
		}
		switch a.enter() {
		case entered:
			a.touch()
			return a, nil
		case joined:
			a.touch()
			if err := r.await(ctx, a); err != nil {
				return nil, err
			}
			return a, nil
		case shut:
			select {
			case <-a.gone:
			case <-r.crew.quit:
			case <-ctx.Done():
			}
		}
	}
}

// obtain returns the activation of name, and begins one if there is none. w is
// the wake-up it is for, or nil.
func (r *router) obtain(name string, w *wake) (*activation, error) {
	if r.crew.quitting() {
		return nil, ErrShuttingDown
	}
	if a, ok := r.names.Load(name); ok {
		return a.(*activation), nil
	}
	a := newActivation(r, name, activating)
	if w != nil {
		a.woken, a.wakeFailures = true, w.failures
	}
	if !r.crew.join() {
		return nil, ErrShuttingDown
	}
	if other, loaded := r.names.LoadOrStore(name, a); loaded {
		r.crew.leave()
		return other.(*activation), nil
	}
	go r.activate(a)
	return a, nil
}

// await waits until the activation that the caller has joined is active. On an
// error the caller's pin has been given back.
func (r *router) await(ctx context.Context, a *activation) error {
	select {
	case <-a.ready:
		if a.err != nil && r.crew.quitting() {
			return ErrShuttingDown
		}
		return a.err
	case <-r.crew.quit:
		a.release()
		return ErrShuttingDown
	case <-ctx.Done():
		a.release()
		return fmt.Errorf("pin %q: %w", a.name, ctx.Err())
	}
}

// activate brings an activation to life, or to its end with an error for all
// who wait for it.
func (r *router) activate(a *activation) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a.abortWith(cancel)
	// From here on Shutdown and Close find the activation among the names, and
	// can abort it.
	if r.crew.quitting() {
		r.failActivation(a, ErrShuttingDown)
		return
	}
	if err := r.slots.acquire(ctx); err != nil {
		r.failActivation(a, err)
		return
	}
	err := errGoexit // unless open returns
	defer func() {
		r.slots.activated(err == nil)
		if err != nil {
			r.failActivation(a, fmt.Errorf("activate %q: %w", a.name, err))
			return
		}
		close(a.ready)
		r.reconsider(a)
	}()
	err = r.open(ctx, a)
}

// open calls Activate and makes the activation active.
func (r *router) open(ctx context.Context, a *activation) error {
	var (
		instance Instance
		err      error
	)
	if p := a.guard("Activate", func() { instance, err = r.activateFunc(ctx, a.name, &a.self) }); p != nil {
		return p
	}
	if err != nil {
		return err
	}
	if err := a.open(instance); err != nil {
		a.discard(err)
		return err
	}
	return nil
}

// reconsider asks of an activation that has just become active what others
// could not ask of it before.
func (r *router) reconsider(a *activation) {
	if r.crew.quitting() {
		a.drain(ReasonShutdown)
	}
	a.drainForSuccessor()
	r.nudgeKeeper() // of its idle deadline and of a surplus
}

// failActivation ends an activation that has no instance.
func (r *router) failActivation(a *activation, err error) {
	a.self.stopTimers()
	a.err = err
	r.remove(a)
	close(a.ready)
	r.crew.leave()
}

// finish closes the instance of an activation whose end has been decided.
func (r *router) finish(a *activation) {
	a.process.stop()
	a.self.stopTimers()
	var cause error
	if f := a.failure.Load(); f != nil {
		cause = f.cause
	}
	defer func() { // also if Close ends the goroutine
		r.idle.remove(a)
		r.rememberWake(a, cause)
		r.slots.closed()
		r.remove(a)
		r.crew.leave()
	}()
	r.close(a, cause)
}

// close closes an instance: during a shutdown when its turn has come.
func (r *router) close(a *activation, cause error) {
	if r.crew.quitting() {
		select {
		case r.closing <- struct{}{}:
			defer func() { <-r.closing }()
		case <-r.forced:
		}
	}
	_ = a.guard("Close", func() { a.instance.Close(cause) }) // logged; the name must not stay blocked
}

// remove takes an activation or a reservation out of the names, in favour of
// the first reservation that waits for it.
func (r *router) remove(a *activation) {
	a.mu.Lock()
	a.state = gone
	successors := a.successors
	a.successors = nil
	a.mu.Unlock()
	for i, next := range successors {
		if next.grant(successors[i+1:]) {
			r.names.Store(a.name, next)
			close(next.ready)
			close(a.gone)
			return
		}
	}
	r.names.Delete(a.name)
	close(a.gone)
}

// each calls f for every activation there is, until it returns false.
func (r *router) each(f func(*activation) bool) {
	r.names.Range(func(_, v any) bool { return f(v.(*activation)) })
}
