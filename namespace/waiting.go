package namespace

import (
	"slices"
	"time"

	"github.com/skerryhq/skerry/admission"
)

// mayPark reports whether a command that found nothing should wait for work.
func (i *instance) mayPark(c *call) bool {
	paused := c.admitted != nil && i.gate.Mode() == admission.Pause
	return c.wait > 0 && !i.draining && !paused && !c.gone.Load() && i.keys.Load().admits(c.Caller) && i.now().Before(c.arrived.Add(c.wait))
}

// park puts a command that found nothing aside until there is work for it, or
// its wait is over.
func (i *instance) park(c *call) {
	first := c.sequence == 0
	c.stage, c.idle, c.topics, c.woken = stageParked, c.turn.answer, c.turn.topics, false
	i.lot.add(c)
	i.changed = true
	if first {
		i.waits.put(c, c.arrived.Add(c.wait))
	}
}

// wake takes up as many parked commands as there is work for. They arrive at
// admission again, in turn order.
func (i *instance) wake(class string, signals []signal) {
	for _, s := range signals {
		if s.n == 0 || i.lot.size == 0 {
			continue
		}
		for _, c := range i.lot.take(class, s.topic, s.n) {
			c.woken = true
			if c.admitted == nil {
				i.submit(c, stageRunning)
				continue
			}
			i.offer(c)
		}
	}
}

// handOn wakes others in place of commands that were woken for work and ended
// without taking any. It comes after everything else in a turn, because whoever
// is woken arrives at admission, and may end there likewise. While admission has
// no room at all it is put off: it would refuse one after another until nobody is
// left who waits for the work. What runs then ends in a later turn.
func (i *instance) handOn() {
	n := 0
	for n < len(i.forsaken) && (i.lot.size == 0 || i.forsaken[n].admitted == nil || i.roomInAdmission()) {
		i.pass(i.forsaken[n])
		n++
	}
	i.forsaken = slices.Delete(i.forsaken, 0, n)
}

// roomInAdmission reports whether a command that arrives may start or wait.
func (i *instance) roomInAdmission() bool {
	return i.gate.Mode() != admission.Enforce || i.gate.InFlight() < i.gate.Concurrency() ||
		i.gate.Pending() < i.settings.Load().ClaimMaxPending
}

// pass wakes somebody else in place of a command.
func (i *instance) pass(c *call) {
	for _, t := range i.lot.known() {
		// One that named no topic would have taken anything, so there may be work for
		// anybody.
		near := func(own string) bool { return within(t, own) || within(own, t) }
		if len(c.topics) == 0 || slices.ContainsFunc(c.topics, near) {
			i.wake(c.Class, []signal{{topic: t, n: 1}})
		}
	}
}

// endWait ends the wait of a command whose time has come: a parked one gets the
// answer that it found nothing. One that was taken up again may still wait in
// admission, but the whole must not take longer than the longer of the two
// waits.
func (i *instance) endWait(c *call) {
	switch c.stage {
	case stageParked:
		i.lot.remove(c)
		c.outcome.Answer = c.idle
		i.answer(c, nil)
	case stageQueued:
		end := c.arrived.Add(max(c.wait, time.Duration(i.settings.Load().ClaimMaxWaitMs)*time.Millisecond))
		if i.now().Before(end) {
			i.waits.put(c, end)
			return
		}
		i.decide(i.gate.Cancel(i.now().UnixNano(), c.id))
		if c.stage == stageDone {
			return // its deadline in admission came first
		}
		c.outcome.Answer = c.idle
		i.answer(c, nil)
		i.forsaken = append(i.forsaken, c)
	case stageDeferred:
		i.rule(c.ruling)
	case stageRunning:
		// It looks once more, and is answered whatever it finds.
	case stageNew, stageLookup, stageChained, stageDone:
	}
}

// runDue does what has fallen due: deadlines in admission, ends of waits, alarms.
func (i *instance) runDue() {
	now := i.now()
	if at, ok := i.gate.NextDeadline(); ok && at <= now.UnixNano() {
		i.decide(i.gate.Tick(now.UnixNano()))
	}
	for c := i.waits.due(now); c != nil; c = i.waits.due(now) {
		i.endWait(c)
	}
	if at := i.nextAlarm(); !at.IsZero() && !at.After(now) && !i.draining {
		i.soundAlarms(now)
	}
}

// arm sets the one timer to whatever falls due first.
func (i *instance) arm() {
	var at time.Time
	earlier := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if ns, ok := i.gate.NextDeadline(); ok {
		earlier(time.Unix(0, ns))
	}
	if t, ok := i.waits.next(); ok {
		earlier(t)
	}
	if t := i.nextAlarm(); !t.IsZero() && !i.draining {
		earlier(t)
	}
	if at.IsZero() || (!i.timerAt.IsZero() && !at.Before(i.timerAt)) {
		return
	}
	i.timerAt = at
	wait := max(at.Sub(i.now()), 0)
	if i.timer == nil {
		i.timer = i.self.After(wait, tick{})
		return
	}
	i.timer.Reset(wait)
}
