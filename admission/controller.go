package admission

import "math"

// A Controller admits the requests of one namespace. It is stepped: every event
// takes the time, and returns the decisions that it caused, in order. Within an
// event, waiters whose deadline has come are refused first, then the event
// itself is judged, then free slots are given to waiters.
//
// The slice returned by an event is valid until the next event. A time before
// that of the previous event counts as that time.
//
// A Controller is not safe for concurrent use. Its memory is bounded by the
// highest number of requests that were live at once; at a steady load it
// allocates nothing.
type Controller struct {
	limiter    limiter
	queue      queue
	maxPending int
	maxWait    int64

	running  int
	now      int64  // of the latest event
	arrivals uint64 // so far

	// Looked up by key only, never iterated by an event: the order of a map
	// must not reach a decision.
	requests   map[ID]*request
	principals map[string]*principal

	freeRequests   *request
	freePrincipals *principal
	decisions      []Decision
}

// New returns a controller with nothing in it, or the *ConfigError of c.
func New(c Config) (*Controller, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Controller{
		limiter:    limiter{cfg: c.withDefaults(), limit: float64(c.Initial)},
		maxPending: c.Pending,
		maxWait:    c.MaxWait,
		now:        math.MinInt64,
		requests:   make(map[ID]*request),
		principals: make(map[string]*principal),
	}, nil
}

// Arrive asks for a slot. The request starts at once if one is free and nobody
// waits; else it is enqueued, perhaps at another's cost, or refused. The
// controller keeps principal until the request has ended. An id that waits or
// runs already is ignored.
func (c *Controller) Arrive(now int64, id ID, principal string) []Decision {
	c.begin(now)
	if _, live := c.requests[id]; !live {
		c.arrive(id, principal)
	}
	return c.end()
}

// Finish reports that the work of a running request succeeded, and takes the
// time since its start as a sample. An id that does not run is ignored.
func (c *Controller) Finish(now int64, id ID) []Decision {
	c.begin(now)
	if r := c.requests[id]; r != nil && r.running {
		c.finish(r, true, c.now-r.started)
	}
	return c.end()
}

// FinishIn is Finish for work whose service time was measured by the caller. A
// negative one counts as 0.
func (c *Controller) FinishIn(now int64, id ID, service int64) []Decision {
	c.begin(now)
	if r := c.requests[id]; r != nil && r.running {
		c.finish(r, true, service)
	}
	return c.end()
}

// Discard reports that the work of a running request has ended without saying
// anything about service time: it failed, or there was nothing to do. Its slot
// is freed, and the average and the limit stay. An id that does not run is ignored.
func (c *Controller) Discard(now int64, id ID) []Decision {
	c.begin(now)
	if r := c.requests[id]; r != nil && r.running {
		c.finish(r, false, 0)
	}
	return c.end()
}

// Cancel withdraws a request. One that waits leaves at once. One that runs
// keeps its slot until it is reported finished, and is then no sample. An
// unknown id is ignored: the request may have ended in the meantime.
func (c *Controller) Cancel(now int64, id ID) []Decision {
	c.begin(now)
	r := c.requests[id]
	switch {
	case r == nil:
	case r.running:
		r.cancelled = true
	default:
		c.queue.remove(r)
		c.decide(Decision{Kind: Cancelled, ID: r.id, Principal: r.principal.name, Waited: c.now - r.arrived})
		c.forget(r)
	}
	return c.end()
}

// Tick refuses the waiters whose deadline has come. It is due at NextDeadline.
func (c *Controller) Tick(now int64) []Decision {
	c.begin(now)
	return c.end()
}

// Reconfigure puts cfg into force at once, or returns its *ConfigError and does
// nothing. The limit is brought within Min and Max; nobody running is stopped.
// No waiter is put out, even if the queue is now longer than Pending, and
// deadlines already given stay. Initial must be valid, and has no effect.
func (c *Controller) Reconfigure(now int64, cfg Config) ([]Decision, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c.begin(now)
	c.limiter.reconfigure(cfg.withDefaults())
	c.maxPending, c.maxWait = cfg.Pending, cfg.MaxWait
	return c.end(), nil
}

// begin opens an event: it sets the time and refuses whoever has waited too
// long. Their slots in the queue are free before the event is judged, and none
// of them can be started by it.
func (c *Controller) begin(now int64) {
	c.now = max(c.now, now)
	c.decisions = c.decisions[:0]
	for c.queue.waiting > 0 && c.queue.deadlines.root().major <= c.now {
		r := c.queue.deadlines.root().item
		c.queue.remove(r)
		c.refuse(r, WaitDeadline, c.queue.waiting)
	}
}

// end closes an event: it gives free slots to waiters in turn order. Afterwards
// either nobody waits or every slot is in use.
func (c *Controller) end() []Decision {
	for c.queue.waiting > 0 && c.running < c.limiter.inForce() {
		c.start(c.queue.next())
	}
	return c.decisions
}

func (c *Controller) arrive(id ID, name string) {
	r := c.enter(id, name)
	switch {
	case c.running < c.limiter.inForce():
		// No waiter is overtaken: while one waits, end leaves no slot free.
		c.start(r)
	case c.queue.waiting < c.maxPending:
		c.enqueue(r)
	default:
		c.arriveFull(r)
	}
}

// arriveFull applies the rule of the full queue: a waiter of the principal that
// holds the most makes room, or the arriver is refused.
func (c *Controller) arriveFull(r *request) {
	var victim *request
	if c.maxPending > 0 { // without a queue there is no slot to hand over
		victim = c.queue.surplus(r.principal.waiting, c.maxPending)
	}
	if victim == nil {
		c.refuse(r, QueueFull, c.queue.waiting)
		return
	}
	c.queue.remove(victim)
	// The arriver is ahead of the victim from now on, so that it counts among
	// those that wait.
	c.refuse(victim, FairShare, c.queue.waiting+1)
	c.enqueue(r)
}

func (c *Controller) enqueue(r *request) {
	c.queue.push(r, r.arrived+c.maxWait)
	c.decide(Decision{Kind: Enqueue, ID: r.id, Principal: r.principal.name})
}

func (c *Controller) start(r *request) {
	r.running, r.started = true, c.now
	r.principal.running++
	c.running++
	c.decide(Decision{Kind: Start, ID: r.id, Principal: r.principal.name, Waited: c.now - r.arrived})
}

// refuse ends r, which is in no line any more; waiting counts those ahead of
// its next attempt.
func (c *Controller) refuse(r *request, why Reason, waiting int) {
	c.decide(Decision{
		Kind: Refuse, Reason: why, ID: r.id, Principal: r.principal.name,
		RetryAfter: c.limiter.retryAfter(waiting), Waited: c.now - r.arrived,
	})
	c.forget(r)
}

func (c *Controller) finish(r *request, sample bool, service int64) {
	saturated := c.running >= c.limiter.inForce()
	c.running--
	r.principal.running--
	if sample && !r.cancelled {
		c.limiter.observe(c.now, service, saturated)
	}
	c.decide(Decision{Kind: Finished, ID: r.id, Principal: r.principal.name})
	c.forget(r)
}

func (c *Controller) decide(d Decision) { c.decisions = append(c.decisions, d) }
