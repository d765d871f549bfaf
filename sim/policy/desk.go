package policy

import (
	"math"

	"github.com/skerryhq/skerry/admission"
)

// queue is where requests wait, and the order in which they leave.
type queue interface {
	// push adds r, gives it its deadline, and reports false if there is no room.
	push(now int64, r *request) bool
	// pass takes note of a request that starts without a wait.
	pass(now int64, r *request)
	// pop takes out the one to start next; somebody waits.
	pop(now int64) *request
	// remove takes out r, wherever it stands.
	remove(now int64, r *request)
	// due is the waiter whose deadline comes first, nil if nobody waits.
	due() *request
	// ended takes note of a request that ran for so long.
	ended(now int64, r *request, service int64)
	// waiting counts those in the queue.
	waiting() int
}

// limiter says how many requests may run at once.
type limiter interface {
	// limit is the exact limit, at least 1; its floor is in force.
	limit() float64
	// observe takes in the service time, at least 1, of a request that succeeded,
	// and how many ran when it was started, with it.
	observe(service int64, inFlight int)
}

// desk is what all policies but the production controller have in common: it keeps
// the requests, and steps a limiter and a queue in the controller's own order. Within
// an event, overdue waiters are refused first, then the event itself is judged, then
// free slots are given to waiters. So policies differ by their rules only.
//
// It keeps an average of service times for Retry-After alone, by the formula of the
// production controller: a comparison is of admission, not of advice.
type desk struct {
	limiter limiter
	queue   queue
	average average

	now       int64
	inFlight  int
	live      map[admission.ID]*request // looked up by key only
	free      *request
	decisions []admission.Decision
}

func newDesk(b bounds, l limiter, q queue) *desk {
	return &desk{
		limiter: l, queue: q, live: make(map[admission.ID]*request),
		average: average{staleAfter: staleTargets * b.target},
	}
}

// Arrive implements Policy.
func (d *desk) Arrive(now int64, id admission.ID, principal string) []admission.Decision {
	d.begin(now)
	if d.live[id] == nil {
		d.arrive(d.enter(id, principal))
	}
	return d.end()
}

// Finish implements Policy.
func (d *desk) Finish(now int64, id admission.ID, service int64, ok bool) []admission.Decision {
	d.begin(now)
	if r := d.live[id]; r != nil && r.running {
		d.finish(r, max(service, 1), ok)
	}
	return d.end()
}

// Cancel implements Policy.
func (d *desk) Cancel(now int64, id admission.ID) []admission.Decision {
	d.begin(now)
	r := d.live[id]
	switch {
	case r == nil:
	case r.running:
		r.cancelled = true
	default:
		d.queue.remove(d.now, r)
		d.decide(admission.Decision{Kind: admission.Cancelled, ID: id, Principal: r.principal, Waited: d.now - r.arrived})
		d.forget(r)
	}
	return d.end()
}

// Next implements Policy.
func (d *desk) Next() (int64, bool) {
	if r := d.queue.due(); r != nil {
		return r.deadline, true
	}
	return 0, false
}

// Tick implements Policy.
func (d *desk) Tick(now int64) []admission.Decision {
	d.begin(now)
	return d.end()
}

// Status implements Policy.
func (d *desk) Status() Status {
	return Status{
		Limit: d.limiter.limit(), InFlight: d.inFlight, Pending: d.queue.waiting(), Average: d.average.value,
	}
}

func (d *desk) begin(now int64) {
	d.now = max(d.now, now)
	d.decisions = d.decisions[:0]
	for r := d.queue.due(); r != nil && r.deadline <= d.now; r = d.queue.due() {
		d.queue.remove(d.now, r)
		d.refuse(r, admission.WaitDeadline)
	}
}

// end gives free slots away, after which nobody waits or every slot is in use.
func (d *desk) end() []admission.Decision {
	for d.queue.waiting() > 0 && d.inFlight < d.inForce() {
		d.start(d.queue.pop(d.now))
	}
	return d.decisions
}

// inForce is how many may run, the floor of the exact limit.
func (d *desk) inForce() int { return int(d.limiter.limit()) }

func (d *desk) arrive(r *request) {
	switch {
	case d.inFlight < d.inForce():
		// Nobody is overtaken: while one waits, end leaves no slot free.
		d.queue.pass(d.now, r)
		d.start(r)
	case d.queue.push(d.now, r):
		d.decide(admission.Decision{Kind: admission.Enqueue, ID: r.id, Principal: r.principal})
	default:
		d.refuse(r, admission.QueueFull)
	}
}

func (d *desk) start(r *request) {
	d.inFlight++
	r.running, r.inFlight = true, d.inFlight
	d.decide(admission.Decision{Kind: admission.Start, ID: r.id, Principal: r.principal, Waited: d.now - r.arrived})
}

// finish frees the slot of r. Work that failed or was cancelled says nothing about
// how long work takes.
func (d *desk) finish(r *request, service int64, ok bool) {
	d.inFlight--
	d.queue.ended(d.now, r, service)
	if ok && !r.cancelled {
		d.average.add(d.now, float64(service))
		d.limiter.observe(service, r.inFlight)
	}
	d.decide(admission.Decision{Kind: admission.Finished, ID: r.id, Principal: r.principal})
	d.forget(r)
}

// refuse ends r, which waits no more.
func (d *desk) refuse(r *request, why admission.Reason) {
	d.decide(admission.Decision{
		Kind: admission.Refuse, Reason: why, ID: r.id, Principal: r.principal,
		RetryAfter: d.average.retryAfter(d.queue.waiting(), d.inForce()), Waited: d.now - r.arrived,
	})
	d.forget(r)
}

func (d *desk) decide(e admission.Decision) { d.decisions = append(d.decisions, e) }

func (d *desk) enter(id admission.ID, principal string) *request {
	r := d.free
	if r == nil {
		r = new(request)
	} else {
		d.free = r.links[byArrival].next
	}
	*r = request{id: id, principal: principal, arrived: d.now}
	d.live[id] = r
	return r
}

// forget keeps the record for a later request, so that a steady load allocates nothing.
func (d *desk) forget(r *request) {
	delete(d.live, r.id)
	*r = request{}
	r.links[byArrival].next = d.free
	d.free = r
}

// average is the moving average of service times, in nanoseconds. After a pause the
// next sample replaces it, as in the production controller.
type average struct {
	value      float64
	sampled    bool
	sampledAt  int64
	staleAfter int64
}

const (
	averageWeight = 0.2 // of a new sample
	staleTargets  = 20  // target service times without a sample make a pause
	retryMin      = 1   // seconds
	retryMax      = 30  // seconds
)

func (a *average) add(now int64, sample float64) {
	if !a.sampled || now-a.sampledAt >= a.staleAfter {
		a.value = sample
	} else {
		// The conversion keeps the compiler from fusing the product into the sum,
		// which would round differently from one architecture to another.
		a.value += float64(averageWeight * (sample - a.value))
	}
	a.sampled, a.sampledAt = true, now
}

// retryAfter estimates in whole seconds when one more request behind so many waiting
// others would have been served.
func (a *average) retryAfter(waiting, limit int) int {
	if !a.sampled {
		return retryMin
	}
	seconds := math.Ceil(float64(waiting+1) * a.value / float64(limit) / second)
	return int(min(max(seconds, retryMin), retryMax))
}
