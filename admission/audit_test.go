package admission

import (
	"slices"
)

// auditor follows a controller from outside and checks what it promises. It
// knows what waits and runs from the decisions alone.
type auditor struct {
	failf func(format string, args ...any)
	c     *Controller

	cfg      Config
	maxQueue int // the queue may stay longer than Pending after Pending was lowered
	waiting  map[string][]waiter
	running  map[ID]string
	// lead[{a, b}] counts the grants of a less those of b since both have been
	// waiting without a break.
	lead      map[[2]string]int
	limit     float64
	changed   bool
	changedAt int64
	// ended counts the terminal decisions, opened the requests taken in.
	opened, ended int
}

type waiter struct {
	id       ID
	deadline int64
}

func newAuditor(c *Controller, cfg Config, failf func(string, ...any)) *auditor {
	return &auditor{
		failf: failf, c: c, cfg: cfg.withDefaults(), limit: c.Limit(),
		waiting: make(map[string][]waiter), running: make(map[ID]string), lead: make(map[[2]string]int),
	}
}

func (a *auditor) pending() int {
	n := 0
	for _, line := range a.waiting {
		n += len(line)
	}
	return n
}

func (a *auditor) observe(e event, ds []Decision) {
	a.maxQueue = max(a.cfg.Pending, a.pending())
	if e.do == "reconfigure" {
		a.cfg = e.config.withDefaults()
	}
	for _, d := range ds {
		a.decision(e, d)
	}
	a.totals()
	a.limitChange(e)
}

func (a *auditor) decision(e event, d Decision) {
	switch d.Kind {
	case Enqueue:
		a.open(d)
		line := a.waiting[d.Principal]
		a.waiting[d.Principal] = append(line, waiter{d.ID, e.now + a.cfg.MaxWait})
	case Start:
		if e.do == "arrive" && d.ID == e.id {
			a.open(d)
			if a.pending() > 0 {
				a.failf("%+v: %d starts past %d waiters", e, d.ID, a.pending())
			}
		} else {
			a.grant(e, d)
		}
		a.running[d.ID] = d.Principal
		if len(a.running) > a.c.Concurrency() {
			a.failf("%+v: %d starts as number %d of %d", e, d.ID, len(a.running), a.c.Concurrency())
		}
	case Refuse:
		if d.Reason == QueueFull {
			a.open(d)
		} else {
			a.leave(e, d)
		}
		if d.RetryAfter < a.cfg.RetryMin || d.RetryAfter > a.cfg.RetryMax {
			a.failf("%+v: retry after %d s", e, d.RetryAfter)
		}
		a.ended++
	case Cancelled:
		a.leave(e, d)
		a.ended++
	case Finished:
		if a.running[d.ID] != d.Principal {
			a.failf("%+v: %d finishes without running", e, d.ID)
		}
		delete(a.running, d.ID)
		a.ended++
	}
}

func (a *auditor) open(d Decision) {
	if _, ok := a.running[d.ID]; ok {
		a.failf("%d is taken in while it runs", d.ID)
	}
	for _, line := range a.waiting {
		if slices.ContainsFunc(line, func(w waiter) bool { return w.id == d.ID }) {
			a.failf("%d is taken in while it waits", d.ID)
		}
	}
	a.opened++
}

// grant checks a start from the queue: oldest of its principal, before its
// deadline, and no principal that has waited as long left behind by two.
func (a *auditor) grant(e event, d Decision) {
	for other, line := range a.waiting {
		if other == d.Principal || len(line) == 0 {
			continue
		}
		a.lead[[2]string{d.Principal, other}]++
		a.lead[[2]string{other, d.Principal}]--
		if n := a.lead[[2]string{d.Principal, other}]; n > 1 {
			a.failf("%+v: %s is %d grants ahead of %s", e, d.Principal, n, other)
		}
	}
	w := a.leave(e, d)
	if e.now >= w.deadline {
		a.failf("%+v: %d starts at or after its deadline %d", e, d.ID, w.deadline)
	}
}

// leave takes a request out of its line: from its head, unless it was cancelled,
// expired (after a change of MaxWait, in any order) or displaced (from its tail).
func (a *auditor) leave(e event, d Decision) waiter {
	line := a.waiting[d.Principal]
	i := slices.IndexFunc(line, func(w waiter) bool { return w.id == d.ID })
	switch {
	case i < 0:
		a.failf("%+v: %+v of a request that does not wait", e, d)
		return waiter{}
	case d.Kind == Start && i != 0:
		a.failf("%+v: %d starts before older ones of %s", e, d.ID, d.Principal)
	case d.Reason == FairShare && i != len(line)-1:
		a.failf("%+v: %d is displaced, and is not the newest of %s", e, d.ID, d.Principal)
	}
	w := line[i]
	a.waiting[d.Principal] = slices.Delete(line, i, i+1)
	if len(a.waiting[d.Principal]) == 0 {
		for pair := range a.lead {
			if pair[0] == d.Principal || pair[1] == d.Principal {
				delete(a.lead, pair)
			}
		}
	}
	return w
}

func (a *auditor) totals() {
	pending := a.pending()
	if pending != a.c.Pending() || len(a.running) != a.c.InFlight() {
		a.failf("pending %d, in flight %d; decisions say %d, %d", a.c.Pending(), a.c.InFlight(), pending, len(a.running))
	}
	if pending > a.maxQueue {
		a.failf("%d wait, above %d", pending, a.maxQueue)
	}
	if pending > 0 && len(a.running) < a.c.Concurrency() {
		a.failf("%d wait while %d of %d run", pending, len(a.running), a.c.Concurrency())
	}
	if a.opened-a.ended != pending+len(a.running) {
		a.failf("%d taken in, %d ended, %d live", a.opened, a.ended, pending+len(a.running))
	}
	var sum Standing
	for s := range a.c.Principals(0) {
		if s.Pending != len(a.waiting[s.Principal]) || s.Pending+s.InFlight == 0 {
			a.failf("standing %+v, and %d wait", s, len(a.waiting[s.Principal]))
		}
		sum.Pending += s.Pending
		sum.InFlight += s.InFlight
	}
	if sum.Pending != pending || sum.InFlight != len(a.running) {
		a.failf("standings add up to %+v", sum)
	}
}

func (a *auditor) limitChange(e event) {
	limit := a.c.Limit()
	if limit < float64(a.cfg.Min) || limit > float64(a.cfg.Max) {
		a.failf("%+v: limit %v outside %d to %d", e, limit, a.cfg.Min, a.cfg.Max)
	}
	if limit == a.limit || e.do == "reconfigure" {
		a.limit = limit
		return
	}
	if a.changed && e.now-a.changedAt < a.cfg.Interval {
		a.failf("%+v: the limit changes %d after its last change", e, e.now-a.changedAt)
	}
	a.limit, a.changed, a.changedAt = limit, true, e.now
}
