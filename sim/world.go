package sim

import (
	"fmt"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/event"
	"github.com/skerryhq/skerry/sim/policy"
	"github.com/skerryhq/skerry/sim/random"
	"github.com/skerryhq/skerry/sim/scenario"
)

// world is one namespace under one policy with one seed.
type world struct {
	space  *scenario.Namespace
	policy policy.Policy
	server server
	queue  event.Queue
	now    int64
	end    int64 // no arrivals from here on

	principals []*principal
	requests   []request
	free       []int32
	attempts   int64 // sent so far, retries too
	serial     int64 // logical requests so far
	running    int
	waiting    int

	failures *random.Stream
	checks   checks
	ledger   *ledger
}

// Kinds of events.
const (
	arrive   uint8 = iota // Actor is a principal
	think                 // Actor is a principal, Arg a client of it that asks again
	resend                // Arg is a request
	giveUp                // Arg is a request
	sampling              // the series get a point
)

// request is one logical request, from when it is sent first until it has ended.
type request struct {
	serial    int64 // 0: the place is free
	id        admission.ID
	principal int32
	client    int32 // of a closed principal
	attempt   int32
	state     state
	fails     bool
	gone      bool // nobody waits for it any more
	first     int64
	sent      int64
	started   int64
	work      int64
}

// state is where a request stands.
type state uint8

const (
	idle    state = iota // between two attempts
	waits                // sent, not decided
	runs                 // started
	decided              // ended
)

// places is how many requests may be live at once: an id holds the place in its low
// bits.
const places = 1 << 24

func newWorld(space *scenario.Namespace, s *scenario.Scenario, p policy.Policy, seed uint64, l *ledger) (*world, error) {
	w := &world{space: space, policy: p, end: int64(s.Duration), ledger: l}
	w.failures = random.New(seed, space.Name, "failures")
	var sync func() int64
	if space.Service.Model == "writer" {
		d, err := random.FromScenario(space.Service.Sync)
		if err != nil {
			return nil, fmt.Errorf("namespace %s: sync: %w", space.Name, err)
		}
		stream := random.New(seed, space.Name, "sync")
		sync = func() int64 { return d.Draw(stream) }
	}
	w.server = newServer(space.Service, newPace(space.Episodes, s.Duration.Duration()), sync)
	w.checks = newChecks(l.policy, &space.Settings)
	if err := w.populate(seed); err != nil {
		return nil, err
	}
	l.begin(w)
	for at := int64(0); at <= w.end; at += l.sample {
		w.queue.Push(at, sampling, 0, 0)
	}
	return w, nil
}

// run steps until nothing is left to happen.
func (w *world) run() error {
	for step := int64(1); ; step++ {
		at, source := w.next()
		if at == never {
			break
		}
		w.now = at
		var ds []admission.Decision
		switch source {
		case fromServer:
			ds = w.finish()
		case fromPolicy:
			ds = w.policy.Tick(w.now)
		default:
			ds = w.step()
		}
		w.decide(ds)
		if err := w.checks.step(w); err != nil {
			return fmt.Errorf("step %d, at %.6f s: %w", step, float64(w.now)/second, err)
		}
		w.ledger.steps++
	}
	if w.running+w.waiting > 0 {
		return fmt.Errorf("%d requests never ended", w.running+w.waiting)
	}
	return nil
}

// source is where the next event comes from. At one moment what is done comes first, so
// that its slot is free, and then what arrives.
type source uint8

const (
	fromServer source = iota
	fromQueue
	fromPolicy
)

func (w *world) next() (int64, source) {
	at, from := w.server.next(), fromServer
	if e, ok := w.queue.Peek(); ok && e.At < at {
		at, from = e.At, fromQueue
	}
	if due, ok := w.policy.Next(); ok && due < at {
		at, from = max(due, w.now), fromPolicy
	}
	return at, from
}

// step carries out the next event of the queue.
func (w *world) step() []admission.Decision {
	e, _ := w.queue.Pop()
	switch e.Kind {
	case arrive:
		return w.arrival(w.principals[e.Actor])
	case think:
		return w.ask(w.principals[e.Actor], int32(e.Arg), 1)
	case resend:
		if r := w.find(e.Arg); r != nil {
			return w.send(r)
		}
	case giveUp:
		if r := w.find(e.Arg); r != nil {
			return w.lose(r)
		}
	case sampling:
		w.ledger.point(w)
	}
	return nil
}

// arrival lets a principal, or one of its group, ask, and plans the next.
func (w *world) arrival(p *principal) []admission.Decision {
	cost := p.traceCost()
	w.plan(p)
	return w.ask(w.member(p), 0, cost)
}

// plan puts a principal's next arrival into the queue.
func (w *world) plan(p *principal) {
	if at := p.arrivals.next(w.now); at != never {
		w.queue.Push(at, arrive, p.index, 0)
	}
}

// ask makes a logical request and sends it.
func (w *world) ask(p *principal, client int32, cost float64) []admission.Decision {
	w.serial++
	var place int32
	if n := len(w.free); n > 0 {
		place, w.free = w.free[n-1], w.free[:n-1]
	} else {
		place = int32(len(w.requests))
		w.requests = append(w.requests, request{})
	}
	r := &w.requests[place]
	*r = request{serial: w.serial, id: admission.ID(place), principal: p.index, client: client, first: w.now, work: p.draw(cost)}
	r.fails = w.space.Service.Failures > 0 && p.failures.Float64() < w.space.Service.Failures
	w.ledger.offered(w, r)
	if p.spec.Patience > 0 {
		w.queue.Push(w.now+int64(p.spec.Patience), giveUp, 0, w.handle(place))
	}
	return w.send(r)
}

// handle names a logical request in events.
func (w *world) handle(place int32) int64 {
	return w.requests[place].serial*places + int64(place)
}

// find gives a request that has not ended.
func (w *world) find(handle int64) *request {
	r := &w.requests[handle%places]
	if r.serial != handle/places {
		return nil
	}
	return r
}

func (w *world) place(r *request) int32 { return int32(uint64(r.id) % places) }

// send makes the next attempt of a request.
func (w *world) send(r *request) []admission.Decision {
	place := w.place(r)
	w.attempts++
	r.id = admission.ID(uint64(w.attempts)*places + uint64(place))
	r.attempt++
	r.sent, r.state = w.now, waits
	w.waiting++
	p := w.principals[r.principal]
	w.checks.sent(r, p)
	w.ledger.sent(w, r)
	return w.policy.Arrive(w.now, r.id, p.name)
}

// decide carries out what the policy has decided.
func (w *world) decide(ds []admission.Decision) {
	for i := range ds {
		d := &ds[i]
		switch d.Kind {
		case admission.Start:
			r := w.of(d.ID)
			w.checks.started(w, r)
			w.waiting--
			w.running++
			r.state, r.started = runs, w.now
			w.ledger.started(w, r)
			w.server.start(w.now, int64(w.place(r)), r.work)
		case admission.Refuse:
			r := w.of(d.ID)
			w.checks.refused(w, r)
			w.waiting--
			w.ledger.refused(w, r, d.Reason)
			w.refused(r, d.RetryAfter)
		case admission.Enqueue, admission.Cancelled, admission.Finished:
		}
	}
}

func (w *world) of(id admission.ID) *request { return &w.requests[uint64(id)%places] }

// finish takes what the server has done.
func (w *world) finish() []admission.Decision {
	r := &w.requests[w.server.done(w.now)]
	w.running--
	r.state = decided
	id, service, ok := r.id, w.now-r.started, !r.fails
	w.ledger.finished(w, r)
	w.close(r)
	return w.policy.Finish(w.now, id, service, ok)
}

// lose ends a request whose client has run out of patience. What runs goes on to its
// end, for nobody.
func (w *world) lose(r *request) []admission.Decision {
	switch r.state {
	case waits:
		w.checks.withdrawn(w, r)
		w.waiting--
		id := r.id
		w.ledger.abandoned(w, r)
		w.close(r)
		return w.policy.Cancel(w.now, id)
	case runs:
		r.gone = true
		w.ledger.abandoned(w, r)
		w.pause(r)
	case idle:
		w.ledger.abandoned(w, r)
		w.close(r)
	case decided:
	}
	return nil
}

// close frees the place of a request that has ended.
func (w *world) close(r *request) {
	place := w.place(r)
	if !r.gone {
		w.pause(r)
	}
	r.serial = 0
	w.free = append(w.free, place)
}

// pause lets the client of a closed loop think, and then ask again.
func (w *world) pause(r *request) {
	p := w.principals[r.principal]
	if p.think == nil {
		return
	}
	if at := w.now + p.think.Draw(p.thinking); at < p.until(w.end) {
		w.queue.Push(at, think, r.principal, int64(r.client))
	}
}
