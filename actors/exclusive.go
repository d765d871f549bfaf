package actors

import (
	"context"
	"fmt"
)

// exclusive runs f while the name is reserved.
func (r *router) exclusive(ctx context.Context, name string, why Reason, f func(context.Context) error) error {
	if !r.crew.join() {
		return ErrShuttingDown
	}
	defer r.crew.leave()
	reservation := newActivation(r, name, reserved)
	if err := r.reserve(ctx, reservation, why); err != nil {
		return err
	}
	defer r.remove(reservation)
	return f(ctx)
}

// reserve returns nil when the reservation is the name's activation.
func (r *router) reserve(ctx context.Context, reservation *activation, why Reason) error {
	reservation.why = why
	for {
		v, loaded := r.names.LoadOrStore(reservation.name, reservation)
		if !loaded {
			return nil
		}
		holder := v.(*activation)
		if !holder.enqueue(reservation) {
			<-holder.gone // it is being removed, and nothing holds that up
			continue
		}
		holder.drainForSuccessor()
		return r.awaitGrant(ctx, reservation)
	}
}

// awaitGrant waits until the reservation holds the name. A reservation granted
// too late is given back.
func (r *router) awaitGrant(ctx context.Context, reservation *activation) error {
	var err error
	select {
	case <-reservation.ready:
	case <-r.crew.quit:
	case <-ctx.Done():
		err = fmt.Errorf("reserve %q: %w", reservation.name, ctx.Err())
	}
	if r.crew.quitting() {
		err = ErrShuttingDown
	}
	if err == nil {
		return nil
	}
	if !reservation.withdraw() {
		<-reservation.ready // granted, and about to be stored
		r.remove(reservation)
	}
	return err
}

// enqueue makes the reservation a successor of the activation, and reports
// false if that is gone already.
func (a *activation) enqueue(reservation *activation) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == gone {
		return false
	}
	a.successors = append(a.successors, reservation)
	return true
}

// drainForSuccessor makes the activation drain if it is active and a
// reservation waits for it.
func (a *activation) drainForSuccessor() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == active && len(a.successors) > 0 {
		a.drainLocked(a.successors[0].why)
		a.signalLocked(signalDrain)
	}
}

// grant gives a reservation the name and those who wait behind it, unless its
// caller has gone away.
func (a *activation) grant(behind []*activation) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.withdrawn {
		return false
	}
	a.granted = true
	a.successors = behind
	return true
}

// withdraw gives up a reservation, unless it has been granted.
func (a *activation) withdraw() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.withdrawn = !a.granted
	return a.withdrawn
}
