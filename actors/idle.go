package actors

import (
	"sync"
	"time"
)

// idleDeadlines holds, for every active instance, a time not later than the one
// at which it may have been without use for long enough. Use does not move it:
// the keeper looks at lastUse when the deadline passes and sets another.
type idleDeadlines struct {
	mu     sync.Mutex
	agenda agenda[*activation]
}

// set makes the keeper look at an activation at the given time.
func (d *idleDeadlines) set(a *activation, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agenda.set(a, at)
}

// postpone is set for an activation that has not been removed meanwhile.
func (d *idleDeadlines) postpone(a *activation, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.agenda.has(a) {
		d.agenda.set(a, at)
	}
}

func (d *idleDeadlines) remove(a *activation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agenda.remove(a)
}

func (d *idleDeadlines) due(now time.Time) (*activation, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.agenda.due(now)
}

func (d *idleDeadlines) next() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.agenda.next()
}

// idleRecheck is when an instance is looked at again whose own IdleTimeout gives
// no deadline, when the directory itself never passivates.
const idleRecheck = time.Minute

// probeIdle asks every instance that is due whether it is idle.
func (r *router) probeIdle(now time.Time) {
	for {
		a, ok := r.idle.due(now)
		if !ok {
			return
		}
		recheck := r.idleTimeout
		if recheck < 0 {
			recheck = idleRecheck
		}
		at := now.Add(recheck)
		// A pin counts as use until it is released, so that the deadline of a
		// pinned instance moves with now.
		if deadline, ok := a.idleDeadline(); ok {
			if !deadline.After(now) {
				a.probe()
			} else if deadline.Before(at) {
				at = deadline
			}
		}
		r.idle.postpone(a, at)
	}
}

// probe asks an active instance to passivate itself if it can.
func (a *activation) probe() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == active {
		a.signalLocked(signalProbe)
	}
}

// idleDeadline is when the instance will have been without use for its idle
// timeout, if that is ever.
func (a *activation) idleDeadline() (time.Time, bool) {
	var timeout time.Duration
	if err := a.guard("IdleTimeout", func() { timeout = a.instance.IdleTimeout() }); err != nil {
		a.fail(err, a.restarted())
		return time.Time{}, false
	}
	if timeout == 0 {
		timeout = a.router.idleTimeout
	}
	if timeout < 0 {
		return time.Time{}, false
	}
	// An instance that was woken has perhaps never been used.
	last := max(a.lastUse.Load(), a.since)
	return a.router.stampTime(last).Add(timeout), true
}

// unused reports that the idle deadline has passed.
func (a *activation) unused() bool {
	deadline, ok := a.idleDeadline()
	return ok && !deadline.After(a.router.clock.Now())
}
