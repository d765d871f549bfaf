package namespace

import (
	"context"
	"time"

	"github.com/skerryhq/skerry/actors"
)

// Stream follows a query: emit is called with what there is, and again whenever there
// is more, until the end, an error, the end of ctx or the end of the activation; the
// last is no error, and who follows again is served by the next activation. Every
// keepalive with nothing to tell, emit is called without frames.
func (n Namespace) Stream(ctx context.Context, class string, caller Caller, q Streaming, keepalive time.Duration, emit func([]Frame) error) error {
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
	for {
		var frames []Frame
		var end bool
		err := i.look(ctx, host, caller, func(v *View) (err error) {
			frames, end, err = q.Next(ctx, v)
			return err
		})
		if err != nil {
			return err
		}
		if len(frames) > 0 {
			if err := emit(frames); err != nil {
				return err
			}
			quiet.reset()
		}
		if end {
			return nil
		}
		if len(frames) > 0 {
			continue // there may be more than it reads at once
		}
		select {
		case <-w.changed:
		case <-quiet.due:
			quiet.reset()
			if err := emit(nil); err != nil {
				return err
			}
		case <-i.self.Draining():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
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
