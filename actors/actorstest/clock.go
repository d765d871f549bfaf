// Package actorstest provides a clock that tests move by hand.
package actorstest

import (
	"slices"
	"sync"
	"time"

	"github.com/skerryhq/skerry/actors"
)

// Clock is an actors.Clock that stands still until Advance is called. It is
// safe for concurrent use.
type Clock struct {
	advancing sync.Mutex // held by Advance, so that functions run one at a time

	mu      sync.Mutex
	now     time.Time
	pending []*timer // by due time; of equal ones, in the order they were set
}

// NewClock returns a clock that shows start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the time the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f in the Advance that reaches the time d from now; if d is not
// positive, in the next Advance, whatever its length.
func (c *Clock) AfterFunc(d time.Duration, f func()) actors.Timer {
	t := &timer{clock: c, f: f}
	t.Reset(d)
	return t
}

// Advance moves the clock forward by d. It calls the functions that fall due,
// also those that are set meanwhile, in the order of their times, in its own
// goroutine; while one runs, the clock shows the time at which it was due. They
// must not call Advance.
func (c *Clock) Advance(d time.Duration) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	end := c.Now().Add(d)
	for {
		f := c.popDue(end)
		if f == nil {
			return
		}
		f()
	}
}

// popDue takes out the first function due by end and sets the clock to its
// time; when there is none, it sets the clock to end.
func (c *Clock) popDue(end time.Time) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 || c.pending[0].at.After(end) {
		c.now = end
		return nil
	}
	t := c.pending[0]
	c.pending = slices.Delete(c.pending, 0, 1)
	if t.at.After(c.now) {
		c.now = t.at
	}
	return t.f
}

type timer struct {
	clock *Clock
	f     func()
	at    time.Time // guarded by clock.mu
}

// Stop implements actors.Timer.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.stopLocked()
}

// Reset implements actors.Timer.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	was := t.stopLocked()
	t.at = t.clock.now.Add(d)
	i, _ := slices.BinarySearchFunc(t.clock.pending, t.at, func(p *timer, at time.Time) int {
		if p.at.After(at) {
			return 1
		}
		return -1 // behind all that are due at the same time
	})
	t.clock.pending = slices.Insert(t.clock.pending, i, t)
	return was
}

func (t *timer) stopLocked() bool {
	i := slices.Index(t.clock.pending, t)
	if i < 0 {
		return false
	}
	t.clock.pending = slices.Delete(t.clock.pending, i, i+1)
	return true
}
