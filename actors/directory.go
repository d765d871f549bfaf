package actors

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Directory activates names on demand and keeps each to a single instance. It
// is safe for concurrent use. It runs one goroutine until Shutdown or Close is
// called; one of the two must be.
type Directory[T Instance] struct {
	router *router
}

// NewDirectory returns a running directory in which nothing is active.
func NewDirectory[T Instance](cfg Config[T]) (*Directory[T], error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	r := newRouter(cfg)
	r.crew.join()
	go r.keep()
	return &Directory[T]{router: r}, nil
}

// Pin returns a hold on the instance of name, which must be released. If the
// name is not active it is activated; concurrent callers share one activation
// and its error. While a former instance drains, Pin waits for that first.
//
// ctx bounds the wait and nothing else: an activation in course goes on. The
// error wraps ctx's, the activation's, or ErrShuttingDown.
//
// A caller that waits for a second name while it holds a pin may hold up the
// eviction that the second waits for.
func (d *Directory[T]) Pin(ctx context.Context, name string) (Pin[T], error) {
	a, err := d.router.pin(ctx, name)
	if err != nil {
		return Pin[T]{}, err
	}
	return Pin[T]{a: a}, nil
}

// Pin is a hold on one instance. The instance may begin to drain, but it is not
// closed while the pin is held, unless it fails or the directory is closed at
// once. The zero value holds nothing and must not be used.
type Pin[T Instance] struct {
	a *activation
}

// Instance returns the instance. What it does outside its turns is its own
// affair.
func (p Pin[T]) Instance() T { return p.a.instance.(T) }

// Tell puts a message into the instance's mailbox. It does not block, and may
// be called in any goroutine while the pin is held. The message goes to Receive
// or to Refuse, to one of them, once.
func (p Pin[T]) Tell(msg any) { p.a.tell(msg) }

// Release gives the pin back; it must be called exactly once. It counts as use.
func (p Pin[T]) Release() {
	p.a.touch()
	p.a.release()
}

// Lookup returns the instance of name if there is one, active or draining. It
// neither activates nor counts as use, and does not keep the instance from
// being closed.
func (d *Directory[T]) Lookup(name string) (T, bool) {
	if v, ok := d.router.names.Load(name); ok {
		if instance, ok := v.(*activation).live(); ok {
			return instance.(T), true
		}
	}
	var none T
	return none, false
}

// Active returns the instances that are active or draining with their names, in
// no order. Like Lookup it keeps none from being closed.
func (d *Directory[T]) Active() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		d.router.each(func(a *activation) bool {
			instance, ok := a.live()
			return !ok || yield(a.name, instance.(T))
		})
	}
}

// Len returns how many instances hold resources: those that are being
// activated, are active, drain or are being closed. It does not exceed
// MaxActive + ActivateConcurrency.
func (d *Directory[T]) Len() int { return d.router.slots.count() }

// Wake makes the directory activate a name at the given time, or as soon after
// as WakeConcurrency allows. The earlier of two times wins; the zero time
// removes the wake-up. If the name is active when it falls due, nothing happens:
// an active instance sees to its own alarms, and says by Self.WakeAt what is to
// be remembered when it has been closed.
//
// Being woken is not use: the instance is the first to be evicted. A wake-up
// that fails is tried again after 1 second, then 2, up to 1 minute.
func (d *Directory[T]) Wake(name string, at time.Time) {
	d.router.wakes.request(name, at)
	d.router.nudgeKeeper()
}

// Exclusive drains and closes the instance of name, if there is one, and calls f
// while nobody can activate it. Pins of the name wait until f has returned, and
// so does Exclusive itself behind another; f must therefore not ask for its own
// name. ctx bounds the wait and is passed to f. The error is f's, or wraps ctx's
// or ErrShuttingDown. A drain that was begun is not undone when ctx ends.
func (d *Directory[T]) Exclusive(ctx context.Context, name string, why Reason, f func(context.Context) error) error {
	return d.router.exclusive(ctx, name, why, f)
}

// Stuck returns the names, sorted, of the instances whose current turn has
// lasted longer than the given time.
func (d *Directory[T]) Stuck(longer time.Duration) []string {
	var names []string
	now := d.router.stamp()
	d.router.each(func(a *activation) bool {
		if start := a.inTurn.Load(); start != 0 && now-start > int64(longer) {
			names = append(names, a.name)
		}
		return true
	})
	slices.Sort(names)
	return names
}

// Shutdown refuses new pins, ends the contexts of activations in course, starts
// no more wake-ups, drains every instance and waits for everything the directory
// has started. When ctx ends first, what is left is closed as by Close, and the
// error wraps ctx's. It may be called more than once, also concurrently.
func (d *Directory[T]) Shutdown(ctx context.Context) error { return d.router.shutdown(ctx) }

// Close closes every instance without a drain and refuses what is in the
// mailboxes. It waits for turns and closings in course, for CloseTimeout at
// most; the error then names the instances left behind, which are closed if
// their turns ever end. It may be called more than once, also during Shutdown.
func (d *Directory[T]) Close() error { return d.router.closeNow() }
