package policy

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

// auditor checks, event by event, what every policy promises.
type auditor struct {
	t       rapid.TB
	p       Policy
	name    string
	b       bounds
	live    map[admission.ID]*seen
	waiting []admission.ID // by arrival
	running []admission.ID // by start
	ended   int
}

// seen is a request that arrived and has not ended.
type seen struct {
	principal string
	arrived   int64
	running   bool
}

func newAuditor(t rapid.TB, name string, s scenario.Settings, seed uint64) *auditor {
	p, err := New(name, s, seed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := boundsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return &auditor{t: t, p: p, name: name, b: b, live: map[admission.ID]*seen{}}
}

func (a *auditor) arrive(now int64, id admission.ID, principal string) []admission.Decision {
	a.live[id] = &seen{principal: principal, arrived: now}
	ds := a.p.Arrive(now, id, principal)
	own := slices.ContainsFunc(ds, func(d admission.Decision) bool { return d.ID == id })
	if !own {
		a.t.Fatalf("%s: arrival of %d decided nothing on it: %s", a.name, id, describe(ds))
	}
	return a.observe(now, id, ds)
}

func (a *auditor) finish(now int64, id admission.ID, service int64, ok bool) []admission.Decision {
	ds := a.p.Finish(now, id, service, ok)
	if !slices.ContainsFunc(ds, func(d admission.Decision) bool { return d.Kind == admission.Finished && d.ID == id }) {
		a.t.Fatalf("%s: finish of %d: %s", a.name, id, describe(ds))
	}
	return a.observe(now, id, ds)
}

func (a *auditor) cancel(now int64, id admission.ID) []admission.Decision {
	waits := a.live[id] != nil && !a.live[id].running
	ds := a.p.Cancel(now, id)
	gone := slices.ContainsFunc(ds, func(d admission.Decision) bool { return d.Kind == admission.Cancelled && d.ID == id })
	if gone != waits {
		a.t.Fatalf("%s: cancel of %d, waiting %v: %s", a.name, id, waits, describe(ds))
	}
	return a.observe(now, id, ds)
}

// tick tells the time whenever the policy wants to know it, up to now.
func (a *auditor) tick(now int64) []admission.Decision {
	var all []admission.Decision
	for at, ok := a.p.Next(); ok && at <= now; at, ok = a.p.Next() {
		ds := a.p.Tick(at)
		if len(ds) == 0 {
			a.t.Fatalf("%s: a tick at %d that was asked for decides nothing", a.name, at)
		}
		all = append(all, a.observe(at, 0, ds)...)
	}
	return all
}

// observe takes in the decisions of one event, on the request id if any, and returns a
// copy of them.
func (a *auditor) observe(now int64, id admission.ID, ds []admission.Decision) []admission.Decision {
	for _, d := range ds {
		r := a.live[d.ID]
		if r == nil || r.principal != d.Principal {
			a.t.Fatalf("%s: %+v is on no request that lives", a.name, d)
		}
		a.decide(now, id, d, r)
	}
	a.checkStatus()
	return slices.Clone(ds)
}

func (a *auditor) decide(now int64, id admission.ID, d admission.Decision, r *seen) {
	switch d.Kind {
	case admission.Start:
		a.checkStart(now, d, r)
		a.leave(d.ID)
		r.running = true
		a.running = append(a.running, d.ID)
	case admission.Enqueue:
		if d.ID != id || slices.Contains(a.waiting, id) || r.running {
			a.t.Fatalf("%s: %+v in the event of %d", a.name, d, id)
		}
		a.waiting = append(a.waiting, d.ID)
	case admission.Refuse, admission.Cancelled:
		a.checkEnd(now, d, r)
		a.leave(d.ID)
		a.end(d.ID)
	case admission.Finished:
		i := slices.Index(a.running, d.ID)
		if d.ID != id || i < 0 {
			a.t.Fatalf("%s: %+v in the event of %d", a.name, d, id)
		}
		a.running = slices.Delete(a.running, i, i+1)
		a.end(d.ID)
	}
}

func (a *auditor) checkStart(now int64, d admission.Decision, r *seen) {
	if r.running || d.Waited != now-r.arrived || d.Waited >= a.b.maxWait {
		a.t.Fatalf("%s: %+v at %d of one that arrived at %d", a.name, d, now, r.arrived)
	}
	for _, earlier := range a.waiting {
		if earlier == d.ID {
			return
		}
		overtaken := a.live[earlier].principal == d.Principal && a.name == "ours"
		if overtaken || slices.Contains([]string{"fixed", "aimd", "gradient2", "vegas"}, a.name) {
			a.t.Fatalf("%s: %+v overtakes %d", a.name, d, earlier)
		}
	}
}

func (a *auditor) checkEnd(now int64, d admission.Decision, r *seen) {
	if r.running || d.Waited != now-r.arrived {
		a.t.Fatalf("%s: %+v at %d of one that arrived at %d", a.name, d, now, r.arrived)
	}
	if d.Kind != admission.Refuse {
		return
	}
	if d.RetryAfter < 1 || d.RetryAfter > 30 {
		a.t.Fatalf("%s: %+v", a.name, d)
	}
	waits := []int64{a.b.maxWait}
	if a.name == "codel" {
		waits = []int64{min(codelTarget, a.b.maxWait), min(codelInterval, a.b.maxWait)}
	}
	if (d.Reason == admission.WaitDeadline) != slices.Contains(waits, d.Waited) && d.Reason != admission.FairShare {
		a.t.Fatalf("%s: %+v with a wait of up to %v", a.name, d, waits)
	}
}

func (a *auditor) checkStatus() {
	s := a.p.Status()
	if s.InFlight != len(a.running) || s.Pending != len(a.waiting) {
		a.t.Fatalf("%s: status %+v with %d running, %d waiting", a.name, s, len(a.running), len(a.waiting))
	}
	if s.Limit >= 0 && (s.Limit < 1 || s.Limit > float64(max(a.b.max, a.b.fixed))) {
		a.t.Fatalf("%s: limit %v", a.name, s.Limit)
	}
	if _, ok := a.p.Next(); ok != (s.Pending > 0) {
		a.t.Fatalf("%s: next %v with %d waiting", a.name, ok, s.Pending)
	}
	if s.Pending > a.b.pending || s.Pending > 0 && s.InFlight < int(s.Limit) {
		a.t.Fatalf("%s: status %+v, pending limit %d", a.name, s, a.b.pending)
	}
}

// checkLimit holds that starts went no further than the limit. It can be lower than
// what runs, but then nothing has been started.
func (a *auditor) checkLimit(ds []admission.Decision) {
	s := a.p.Status()
	started := slices.ContainsFunc(ds, func(d admission.Decision) bool { return d.Kind == admission.Start })
	if started && s.Limit >= 0 && s.InFlight > int(s.Limit) {
		a.t.Fatalf("%s: %s with %d running, limit %v", a.name, describe(ds), s.InFlight, s.Limit)
	}
}

func (a *auditor) leave(id admission.ID) {
	if i := slices.Index(a.waiting, id); i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
}

func (a *auditor) end(id admission.ID) {
	delete(a.live, id)
	a.ended++
}
