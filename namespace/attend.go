package namespace

import (
	"context"
	"slices"
	"sync"
)

// attendants are the goroutines of the classes that look after their namespaces
// from the inside. The zero value takes none.
type attendants struct {
	mu     sync.Mutex
	ctx    context.Context // of the goroutines
	cancel context.CancelFunc
	// left ends when somebody who stops has no time left, and ctx with it.
	left   context.Context
	hurry  context.CancelFunc
	ended  chan struct{} // closed when all have ended
	closed bool
	wg     sync.WaitGroup
}

func (a *attendants) open() {
	a.left, a.hurry = context.WithCancel(context.Background())
	a.ctx, a.cancel = context.WithCancel(a.left)
	a.ended = make(chan struct{})
}

// start runs f, unless the runtime is shutting down.
func (a *attendants) start(f func(context.Context)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.ctx == nil {
		return false
	}
	a.wg.Go(func() { f(a.ctx) })
	return true
}

// stop lets no more begin, gives those under way and the classes until the end of
// ctx, and waits for them. It may be called again, and beside another call: then the
// end of either ctx counts.
func (a *attendants) stop(ctx context.Context, classes []Class) {
	a.mu.Lock()
	first := !a.closed
	a.closed = true
	a.mu.Unlock()
	if a.ctx == nil {
		return
	}
	defer context.AfterFunc(ctx, a.hurry)()
	if first {
		a.end(ctx, classes)
	}
	<-a.ended
}

// end stops the classes and then the goroutines.
func (a *attendants) end(ctx context.Context, classes []Class) {
	defer close(a.ended)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.left, cancel)()
	for _, c := range classes {
		if c.Stop != nil {
			c.Stop(ctx)
		}
	}
	a.cancel()
	a.hurry()
	a.wg.Wait()
}

// attended says that a class has looked after the namespace.
type attended struct{ host *classHost }

// attend calls a class's attendant, or has it called again if it is under way.
func (i *instance) attend(h *classHost) {
	if h.class.Attend == nil || i.draining {
		return
	}
	if h.attending {
		h.attendAgain = true
		return
	}
	n := Namespace{i.runtime, i.name}
	h.attendAgain = false
	h.attending = i.runtime.attendants.start(func(ctx context.Context) {
		h.class.Attend(ctx, n)
		i.self.Tell(attended{h})
	})
}

// attendTo calls the attendant of a class if one of its topics was signalled.
func (i *instance) attendTo(h *classHost, signals []signal) {
	if h.class.Attend == nil {
		return
	}
	for _, s := range signals {
		if slices.ContainsFunc(h.class.Topics, func(t string) bool { return within(s.topic, t) }) {
			i.attend(h)
			return
		}
	}
}

// Hold keeps the namespace active, however long nobody uses it, until release is
// called, as often as one likes. It is for attendants that wait for means to do its
// work. A namespace that has to make room for others is passivated all the same,
// which ends the hold: a pin would keep the holder's own commands, and everybody's,
// waiting for an activation that waits for its release.
func (n Namespace) Hold(ctx context.Context) (release func(), err error) {
	pin, err := n.pin(ctx, "hold")
	if err != nil {
		return nil, err
	}
	defer pin.Release()
	i := pin.Instance()
	i.holds.Add(1)
	return sync.OnceFunc(func() { i.holds.Add(-1) }), nil
}
