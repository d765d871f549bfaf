package admission

import (
	"maps"
	"slices"
)

// shadow is a request that runs because Shadow let it in.
type shadow struct {
	principal string
	started   int64
	cancelled bool
	// verdict is what the controller did with the request last: Start or
	// Enqueue while it has it, Refuse or Cancelled after it has left there,
	// Finished when the request is about to end here too.
	verdict Kind
	reason  Reason // of a Refuse
}

// arriveShadow starts the request, and lets the controller see it arrive.
func (g *Gate) arriveShadow(now int64, id ID, principal string) []Decision {
	g.shadows[id] = shadow{principal: principal, started: g.controller.now}
	g.pass(g.controller.Arrive(now, id, principal))
	g.decisions = g.decisions[:0]
	g.decide(Decision{Kind: Start, ID: id, Principal: principal})
	return g.decisions
}

// judge takes d as the verdict on a request that Shadow let in, and reports
// whether it is on one.
func (g *Gate) judge(d *Decision) bool {
	s, ok := g.shadows[d.ID]
	if !ok {
		return false
	}
	s.verdict, s.reason = d.Kind, d.Reason
	g.shadows[d.ID] = s
	if d.Kind == Start {
		// The work has been going on since before: a sample from here on would
		// be too short, and look healthy.
		g.controller.requests[d.ID].started = s.started
	}
	return true
}

// withdraw prepares the end of a request that Shadow let in: if it waits in the
// controller, it leaves there. Of any other request, it does nothing.
func (g *Gate) withdraw(now int64, id ID) {
	if s, ok := g.shadows[id]; ok && s.verdict == Enqueue {
		// Like every event, this refuses it instead if its deadline has come.
		g.pass(g.controller.Cancel(now, id))
	}
}

// conclude passes on the decisions of the controller on the end of a request,
// and ends the request here if Shadow let it in.
func (g *Gate) conclude(id ID, ds []Decision) []Decision {
	out := g.pass(ds)
	s, ok := g.shadows[id]
	if !ok {
		return out
	}
	g.countVerdict(s)
	delete(g.shadows, id)
	g.decide(Decision{Kind: Finished, ID: id, Principal: s.principal})
	return g.decisions
}

func (g *Gate) countVerdict(s shadow) {
	switch s.verdict {
	case Enqueue, Cancelled:
		g.counters.WouldWait++
	case Refuse:
		g.counters.WouldRefuse[s.reason]++
	case Start, Finished:
	}
}

// startWaiters starts the whole queue, the oldest arrival first, while for the
// controller it goes on waiting.
func (g *Gate) startWaiters() {
	now := g.controller.now
	for _, r := range g.controller.waiters() {
		g.shadows[r.id] = shadow{principal: r.principal.name, started: now, verdict: Enqueue}
		g.decide(Decision{Kind: Start, ID: r.id, Principal: r.principal.name, Waited: now - r.arrived})
	}
}

// adoptShadows makes what Shadow let in ordinary running requests of the
// controller, so that its decisions are true of the real load again.
func (g *Gate) adoptShadows() {
	for _, id := range slices.Sorted(maps.Keys(g.shadows)) {
		s := g.shadows[id]
		g.countVerdict(s)
		if s.verdict != Start {
			g.controller.adopt(id, s)
		}
	}
	clear(g.shadows)
}

// adopt takes in a request that runs without having been started here.
func (c *Controller) adopt(id ID, s shadow) {
	r := c.requests[id]
	if r == nil {
		r = c.enter(id, s.principal)
	} else {
		c.queue.remove(r)
	}
	r.running, r.started, r.cancelled = true, s.started, s.cancelled
	r.principal.running++
	c.running++
}
