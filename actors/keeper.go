package actors

import (
	"cmp"
	"slices"
	"time"
)

// evictionSlackShare is the share of MaxActive that is evicted beyond the
// surplus, so that looking at every activation to find the least recently used
// is paid for by several evictions. Below that many there is no slack.
const evictionSlackShare = 128

// armingTolerance is how late the keeper's timer may be set.
const armingTolerance = time.Millisecond

// keep is the keeper, the one goroutine a directory runs all the time. It
// passivates the idle, evicts the least recently used and starts wake-ups.
func (r *router) keep() {
	defer r.crew.leave()
	timer := r.clock.AfterFunc(time.Hour, r.nudgeKeeper)
	defer timer.Stop()
	for {
		r.evictSurplus()
		now := r.clock.Now()
		r.probeIdle(now)
		r.startWakes(now)
		if !r.arm(timer) {
			continue
		}
		select {
		case <-r.nudge:
		case <-r.crew.quit:
			return
		}
	}
}

// nudgeKeeper makes the keeper look again. It does not block.
func (r *router) nudgeKeeper() {
	select {
	case r.nudge <- struct{}{}:
	default: // it is going to
	}
}

// arm sets the timer to when the keeper has something to do next, and reports
// false if that is now.
func (r *router) arm(timer Timer) bool {
	for {
		now := r.clock.Now()
		at, ok := r.nextDue()
		if !ok {
			timer.Stop()
			return true
		}
		if !at.After(now) {
			return false
		}
		timer.Reset(at.Sub(now))
		// If time passed between Now and Reset, the timer is late by as much.
		if r.clock.Now().Sub(now) < armingTolerance {
			return true
		}
	}
}

func (r *router) nextDue() (time.Time, bool) {
	idle, ok := r.idle.next()
	wake, wakeOK := r.wakes.next()
	if !ok || wakeOK && wake.Before(idle) {
		return wake, wakeOK
	}
	return idle, ok
}

// evictSurplus makes the least recently used instances drain when more than
// MaxActive are active. Those that were woken and never used come first.
func (r *router) evictSurplus() {
	n := r.slots.surplus()
	if n <= 0 {
		return
	}
	n += r.slots.maxActive / evictionSlackShare
	type candidate struct {
		a       *activation
		lastUse int64
	}
	var candidates []candidate
	r.each(func(a *activation) bool {
		if !a.leaving.Load() {
			candidates = append(candidates, candidate{a, a.lastUse.Load()})
		}
		return true
	})
	slices.SortFunc(candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.lastUse, y.lastUse), cmp.Compare(x.a.seq, y.a.seq))
	})
	for _, c := range candidates {
		if n == 0 {
			return
		}
		if c.a.drain(ReasonEvicted) { // false: still activating, or reserved
			n--
		}
	}
}
