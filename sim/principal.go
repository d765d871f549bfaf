package sim

import (
	"fmt"

	"github.com/skerryhq/skerry/sim/random"
	"github.com/skerryhq/skerry/sim/scenario"
)

// principal asks for work in one namespace.
type principal struct {
	index    int32
	name     string
	spec     *scenario.Principal
	arrivals arrivals
	// group is who asks when this one's arrival comes: itself, or one of as many,
	// drawn by Zipf's law.
	group []*principal
	ranks *random.Zipf
	rank  *random.Stream

	work     random.Distribution
	working  *random.Stream
	failures *random.Stream
	retrying *random.Stream
	think    random.Distribution // nil if it is no closed loop
	thinking *random.Stream
	trace    *trace
}

// populate makes the principals of the namespace and plans their first arrivals.
func (w *world) populate(seed uint64) error {
	for i := range w.space.Principals {
		spec := &w.space.Principals[i]
		if err := w.makePrincipals(spec, seed); err != nil {
			return fmt.Errorf("namespace %s: principal %s: %w", w.space.Name, spec.Name, err)
		}
	}
	return nil
}

func (w *world) makePrincipals(spec *scenario.Principal, seed uint64) error {
	var made []*principal
	for n := range max(spec.Count, 1) {
		name := spec.Name
		if spec.Count > 1 {
			name = fmt.Sprintf("%s-%d", spec.Name, n+1)
		}
		p, err := w.makePrincipal(spec, name, seed)
		if err != nil {
			return err
		}
		made = append(made, p)
	}
	if spec.Arrivals.Zipf > 0 {
		first := made[0]
		first.group, first.ranks = made, random.NewZipf(len(made), spec.Arrivals.Zipf)
		first.rank = random.New(seed, w.space.Name, spec.Name, "rank")
		made = made[:1]
	}
	for _, p := range made {
		p.arrivals = newArrivals(&spec.Arrivals, w.end, random.New(seed, w.space.Name, p.name, "arrivals"))
		p.trace, _ = p.arrivals.(*trace)
		w.now = -1 // an arrival at 0 is one
		w.plan(p)
		w.now = 0
		for client := range spec.Arrivals.Clients {
			w.queue.Push(int64(spec.Arrivals.From)+p.think.Draw(p.thinking), think, p.index, int64(client))
		}
	}
	return nil
}

func (w *world) makePrincipal(spec *scenario.Principal, name string, seed uint64) (*principal, error) {
	stream := func(what string) *random.Stream { return random.New(seed, w.space.Name, name, what) }
	p := &principal{
		index: int32(len(w.principals)), name: name, spec: spec, arrivals: nothing{},
		working: stream("work"), failures: stream("failures"), retrying: stream("retries"),
	}
	var err error
	if p.work, err = random.FromScenario(w.space.Service.Time); err != nil {
		return nil, fmt.Errorf("service time: %w", err)
	}
	if spec.Arrivals.Kind == "closed" {
		if p.think, err = random.FromScenario(spec.Arrivals.Think); err != nil {
			return nil, fmt.Errorf("think: %w", err)
		}
		p.thinking = stream("think")
	}
	w.principals = append(w.principals, p)
	return p, nil
}

// member is who asks when the principal's arrival comes.
func (w *world) member(p *principal) *principal {
	if p.ranks == nil {
		return p
	}
	return p.group[p.ranks.Draw(p.rank)]
}

// draw is the work of the principal's next request.
func (p *principal) draw(cost float64) int64 {
	work := p.work.Draw(p.working)
	if p.spec.Cost > 0 {
		cost *= p.spec.Cost
	}
	if cost == 1 {
		return work
	}
	return int64(float64(work) * cost)
}

// traceCost is what the trace says of the arrival that has come.
func (p *principal) traceCost() float64 {
	if p.trace == nil || p.trace.read == 0 {
		return 1
	}
	if cost := p.trace.points[p.trace.read-1].Cost; cost > 0 {
		return cost
	}
	return 1
}

// until is when the principal stops asking.
func (p *principal) until(end int64) int64 {
	if to := int64(p.spec.Arrivals.To); to > 0 && to < end {
		return to
	}
	return end
}

// Behaviour of clients that a scenario does not set.
const (
	defaultAttempts = 10
	defaultJitter   = 0.2
	defaultBase     = second / 10
	defaultCap      = 30 * second
)

// refused lets a client come back, or ends its request.
func (w *world) refused(r *request, retryAfter int) {
	p := w.principals[r.principal]
	c := &p.spec.Client
	most := int32(c.Attempts)
	if most == 0 {
		most = defaultAttempts
	}
	if c.Retry == "never" || r.attempt >= most {
		w.close(r)
		return
	}
	r.state = idle
	w.queue.Push(w.now+p.stayAway(c, int(r.attempt), retryAfter), resend, 0, w.handle(w.place(r)))
}

// stayAway is how long a client waits before it sends again.
func (p *principal) stayAway(c *scenario.Client, attempt, retryAfter int) int64 {
	base, most := int64(c.Base), int64(c.Cap)
	if most == 0 {
		most = defaultCap
	}
	switch c.Retry {
	case "immediate":
		return max(base, 1)
	case "backoff":
		if base == 0 {
			base = defaultBase
		}
		span := base
		for i := 1; i < attempt && span < most; i++ {
			span *= 2
		}
		return max(int64(p.retrying.Float64()*float64(min(span, most))), 1)
	}
	jitter := defaultJitter
	if c.Jitter != nil {
		jitter = *c.Jitter
	}
	after := float64(retryAfter) * second
	return max(int64(after+float64(float64(after*jitter)*p.retrying.Float64())), 1)
}
