package admission

import (
	"iter"
	"maps"
	"slices"
)

// Limit returns the exact limit, of which Concurrency is the floor.
func (c *Controller) Limit() float64 { return c.limiter.limit }

// Concurrency returns the limit in force: how many requests may run.
func (c *Controller) Concurrency() int { return c.limiter.inForce() }

// InFlight returns the number of requests that run. It can be above Concurrency
// after the limit has fallen.
func (c *Controller) InFlight() int { return c.running }

// Pending returns the number of requests that wait.
func (c *Controller) Pending() int { return c.queue.waiting }

// Average returns the average service time in the caller's unit, or false
// before the first sample.
func (c *Controller) Average() (float64, bool) { return c.limiter.average, c.limiter.sampled }

// NextDeadline returns the earliest instant at which a waiter must be refused,
// at which the caller should Tick, or false if nobody waits.
func (c *Controller) NextDeadline() (int64, bool) {
	if c.queue.waiting == 0 {
		return 0, false
	}
	return c.queue.deadlines.root().major, true
}

// OldestWait returns how long the oldest waiter has waited at now, or 0 if
// nobody waits. Its cost grows with the number of principals: it is for status
// pages, not for every event.
func (c *Controller) OldestWait(now int64) int64 {
	var wait int64
	for i := range c.queue.crowd.entries {
		wait = max(wait, now-c.queue.crowd.entries[i].item.oldest.arrived)
	}
	return wait
}

// A Standing is what one principal has in a controller.
type Standing struct {
	Principal string
	Pending   int // requests that wait
	InFlight  int // requests that run
	// OldestWait is how long the oldest of Pending has waited, in the caller's
	// unit; zero if none does.
	OldestWait int64
}

// Standing returns what the named principal has at now: all zero, but for the
// name, if it has no live request.
func (c *Controller) Standing(now int64, name string) Standing {
	s := Standing{Principal: name}
	p := c.principals[name]
	if p == nil {
		return s
	}
	s.Pending, s.InFlight = p.waiting, p.running
	if p.oldest != nil {
		s.OldestWait = max(now-p.oldest.arrived, 0)
	}
	return s
}

// Principals yields the standing of every principal with a live request at now,
// by name. The controller must not be stepped meanwhile.
func (c *Controller) Principals(now int64) iter.Seq[Standing] {
	return func(yield func(Standing) bool) {
		for _, name := range slices.Sorted(maps.Keys(c.principals)) {
			if !yield(c.Standing(now, name)) {
				return
			}
		}
	}
}
