package actors

import (
	"context"
	"fmt"
	"slices"
)

// shutdown drains everything until ctx ends, and then closes what is left.
func (r *router) shutdown(ctx context.Context) error {
	r.crew.dismiss()
	r.each(func(a *activation) bool {
		a.abortActivation()
		a.drain(ReasonShutdown)
		return true
	})
	select {
	case <-r.crew.empty:
		r.stopSystem()
		return nil
	case <-ctx.Done():
	}
	if err := r.closeNow(); err != nil {
		return fmt.Errorf("shut down directory: %w: %w", ctx.Err(), err)
	}
	return fmt.Errorf("shut down directory: %w", ctx.Err())
}

// closeNow fails everything that is left and waits for what is in course, for
// closeTimeout at most.
func (r *router) closeNow() error {
	r.crew.dismiss()
	r.forceOnce.Do(func() { close(r.forced) })
	r.each(func(a *activation) bool {
		a.abortActivation()
		a.fail(ErrShuttingDown, ErrShuttingDown)
		return true
	})
	expired := make(chan struct{})
	timer := r.clock.AfterFunc(r.closeTimeout, func() { close(expired) })
	defer timer.Stop()
	defer r.stopSystem()
	select {
	case <-r.crew.empty:
		return nil
	case <-expired:
	}
	var left []string
	r.each(func(a *activation) bool {
		left = append(left, a.name)
		return true
	})
	slices.Sort(left)
	return fmt.Errorf("close directory: still busy after %v: %q", r.closeTimeout, left)
}

// stopSystem closes the actor system, which panics when it is closed twice.
func (r *router) stopSystem() { r.systemOnce.Do(r.system.Shutdown) }
