package namespace

import (
	"context"
	"sync"
	"time"

	"github.com/skerryhq/skerry/actors"
)

// Stream follows a query: emit is called with what there is, and again whenever there
// is more, until the end, an error, the end of ctx or the end of the activation; the
// last is no error, and who follows again is served by the next activation. If there
// is nothing at first, emit is called without frames, so that who follows is told
// that all is well, and every keepalive with nothing to tell it is called so again.
// At a keepalive the query is read too, so that one whose key was revoked is found
// out. An error before the first call of emit is thus the only answer.
//
// While emit runs the namespace cannot be passivated. Its ctx ends with the
// activation, or with the one given here; emit should then return soon.
func (n Namespace) Stream(
	ctx context.Context, class string, caller Caller, q Streaming, keepalive time.Duration,
	emit func(ctx context.Context, frames []Frame) error,
) error {
	pin, err := n.pin(ctx, "stream")
	if err != nil {
		return err
	}
	defer pin.Release()
	i := pin.Instance()
	if caller, err = i.known(caller); err != nil {
		return err
	}
	host, err := i.classOf(class)
	if err != nil {
		return err
	}
	w := i.hub.watch(class, q.Topics())
	defer w.close()
	quiet := newTicker(i.runtime.clock, keepalive)
	defer quiet.stop()
	emitting, end := i.untilDraining(ctx)
	defer end()
	for due := true; ; {
		var frames []Frame
		var last bool
		err := i.look(ctx, host, caller, func(v *View) (err error) {
			frames, last, err = q.Next(ctx, v)
			return err
		})
		if err != nil {
			return err
		}
		if len(frames) > 0 || due {
			if err := emit(emitting, frames); err != nil {
				return err
			}
			quiet.reset()
			due = false
		}
		if last {
			return nil
		}
		if len(frames) > 0 && emitting.Err() == nil {
			continue // there may be more than it reads at once
		}
		select {
		case <-w.changed:
		case <-quiet.due:
			due = true
		case <-i.self.Draining():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// untilDraining is a context that ends with ctx and when the activation begins to
// drain. The function returned ends it too, and must be called.
func (i *instance) untilDraining(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-i.self.Draining():
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watch.Wait()
	}
}

// ticker tells when nothing has happened for a while.
type ticker struct {
	timer actors.Timer
	every time.Duration
	due   chan struct{}
}

func newTicker(clock actors.Clock, every time.Duration) *ticker {
	t := &ticker{every: every, due: make(chan struct{}, 1)}
	t.timer = clock.AfterFunc(every, func() {
		select {
		case t.due <- struct{}{}:
		default:
		}
	})
	return t
}

// reset begins the while again.
func (t *ticker) reset() { t.timer.Reset(t.every) }

func (t *ticker) stop() { t.timer.Stop() }
