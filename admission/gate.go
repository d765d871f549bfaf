package admission

// PausedRetryAfter is the Retry-After in seconds of a refusal for the reason Paused.
const PausedRetryAfter = 30

// A Gate is a Controller behind a Mode that can be changed while requests are
// live. It has the events of a Controller, and its decisions are what the caller
// must do: under Shadow they differ from the controller's.
//
// In every mode each request that arrives is refused, cancelled or finished
// exactly once, and Running returns to 0 when all have ended.
//
// The slice returned by an event is valid until the next event. A Gate is not
// safe for concurrent use.
type Gate struct {
	controller *Controller
	mode       Mode
	running    int
	counters   Counters
	// shadows holds the requests that Shadow let in, by what has become of
	// them in the controller. It is empty in the other modes, in which the
	// controller's requests are the real ones.
	shadows   map[ID]shadow
	decisions []Decision
}

// Counters count since the Gate was made. WouldWait and WouldRefuse count the
// requests that Shadow let in once they end, or once the mode is changed.
type Counters struct {
	// Decisions counts the decisions that the Gate gave, by Kind.
	Decisions [kinds]uint64
	// Refused counts the Refuse decisions by Reason.
	Refused [reasons]uint64
	// WouldWait counts requests that still waited in the controller then, or
	// that were cancelled while they did. One that the controller had started
	// in the meantime counts neither here nor below.
	WouldWait uint64
	// WouldRefuse counts, by Reason, requests that the controller had refused.
	WouldRefuse [reasons]uint64
}

// NewGate returns a gate with nothing in it, or the *ConfigError of c.
func NewGate(c Config, m Mode) (*Gate, error) {
	controller, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Gate{controller: controller, mode: m, shadows: make(map[ID]shadow)}, nil
}

// Arrive asks for a slot, as Controller.Arrive does. Under Shadow the request
// starts, under Pause it is refused.
func (g *Gate) Arrive(now int64, id ID, principal string) []Decision {
	if g.mode == Enforce {
		return g.pass(g.controller.Arrive(now, id, principal))
	}
	out := g.pass(g.controller.Tick(now))
	if g.live(id) {
		return out
	}
	if g.mode == Shadow {
		return g.arriveShadow(now, id, principal)
	}
	g.decisions = g.decisions[:0]
	g.decide(Decision{Kind: Refuse, Reason: Paused, ID: id, Principal: principal, RetryAfter: PausedRetryAfter})
	return g.decisions
}

// Finish reports that the work of a running request succeeded, as
// Controller.Finish does.
func (g *Gate) Finish(now int64, id ID) []Decision {
	g.withdraw(now, id)
	return g.conclude(id, g.controller.Finish(now, id))
}

// FinishIn is Finish for work whose service time was measured by the caller, as
// Controller.FinishIn.
func (g *Gate) FinishIn(now int64, id ID, service int64) []Decision {
	g.withdraw(now, id)
	return g.conclude(id, g.controller.FinishIn(now, id, service))
}

// Discard reports that the work of a running request has ended and is no
// sample, as Controller.Discard does.
func (g *Gate) Discard(now int64, id ID) []Decision {
	g.withdraw(now, id)
	return g.conclude(id, g.controller.Discard(now, id))
}

// Cancel withdraws a request, as Controller.Cancel does. Under Shadow every
// request runs, so that none leaves before it is finished.
func (g *Gate) Cancel(now int64, id ID) []Decision {
	if s, ok := g.shadows[id]; ok {
		s.cancelled = true
		g.shadows[id] = s
	}
	return g.pass(g.controller.Cancel(now, id))
}

// Tick refuses the waiters whose deadline has come. It is due at NextDeadline.
func (g *Gate) Tick(now int64) []Decision {
	return g.pass(g.controller.Tick(now))
}

// Reconfigure puts cfg into force, as Controller.Reconfigure does.
func (g *Gate) Reconfigure(now int64, cfg Config) ([]Decision, error) {
	ds, err := g.controller.Reconfigure(now, cfg)
	if err != nil {
		return nil, err
	}
	return g.pass(ds), nil
}

// SetMode puts m into force. What runs goes on in every mode. From Enforce to
// Pause, the waiters are refused; from Enforce to Shadow, they start, and go on
// waiting in the controller. When Shadow ends, its verdicts are counted, and all
// that it let in takes slots of the controller: more may then be in flight than
// the limit in force, and nothing starts until it is below. A change of mode walks
// over all requests, unlike the other events.
func (g *Gate) SetMode(now int64, m Mode) []Decision {
	// Copied, because a controller's slice must not be appended to.
	g.decisions = append(g.decisions[:0], g.pass(g.controller.Tick(now))...)
	if m == g.mode {
		return g.decisions
	}
	g.adoptShadows()
	g.mode = m
	switch m {
	case Enforce:
	case Shadow:
		g.startWaiters()
	case Pause:
		g.refuseWaiters()
	}
	return g.decisions
}

// refuseWaiters empties the queue, the oldest arrival first.
func (g *Gate) refuseWaiters() {
	for _, r := range g.controller.waiters() {
		g.decide(Decision{
			Kind: Refuse, Reason: Paused, ID: r.id, Principal: r.principal.name,
			RetryAfter: PausedRetryAfter, Waited: g.controller.now - r.arrived,
		})
		g.controller.queue.remove(r)
		g.controller.forget(r)
	}
}

// pass turns the decisions of the controller into the gate's: those on requests
// that Shadow let in become their verdicts, the others stand.
func (g *Gate) pass(ds []Decision) []Decision {
	if len(g.shadows) == 0 {
		for i := range ds {
			g.count(&ds[i])
		}
		return ds
	}
	g.decisions = g.decisions[:0]
	for i := range ds {
		if !g.judge(&ds[i]) {
			g.decide(ds[i])
		}
	}
	return g.decisions
}

func (g *Gate) decide(d Decision) {
	g.count(&d)
	g.decisions = append(g.decisions, d)
}

func (g *Gate) count(d *Decision) {
	g.counters.Decisions[d.Kind]++
	switch d.Kind {
	case Start:
		g.running++
	case Finished:
		g.running--
	case Refuse:
		g.counters.Refused[d.Reason]++
	case Enqueue, Cancelled:
	}
}

// live reports whether a request of that id waits or runs.
func (g *Gate) live(id ID) bool {
	if _, ok := g.shadows[id]; ok {
		return true
	}
	_, ok := g.controller.requests[id]
	return ok
}
