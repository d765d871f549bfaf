package scenario

import (
	"fmt"
	"strconv"
)

// finest bounds how many points a series has, and repeats how often an episode comes.
const (
	finest  = 100_000
	repeats = 2_000
)

// check holds values against each other. Each of them is allowed by itself.
func (r *reading) check(s *Scenario) {
	if s.Warmup >= s.Duration {
		r.failAt("warmup", "must be less than duration, %s", s.Duration)
	}
	if s.Sample > s.Duration || s.Sample < s.Duration/finest {
		r.failAt("sample", "must be %s to %s for this duration", max(s.Duration/finest, 1), s.Duration)
	}
	if len(s.Namespaces) == 0 {
		r.failAt("namespaces", "must hold at least one namespace")
	}
	taken := map[string]string{}
	for i := range s.Namespaces {
		at, n := item("namespaces", i), &s.Namespaces[i]
		r.unique(taken, n.Name, below(at, "name"), "namespace")
		r.namespace(at, n, s.Duration)
	}
}

// unique holds that a name is given once, and remembers where.
func (r *reading) unique(taken map[string]string, name, key, what string) {
	if first, ok := taken[name]; ok {
		r.failAt(key, "there is a %s %s already, in line %d", what, name, r.line(first))
		return
	}
	taken[name] = key
}

func (r *reading) namespace(at string, n *Namespace, duration Span) {
	r.settings(below(at, "settings"), n.Settings)
	switch {
	case len(n.Principals) == 0 && n.Runs == nil:
		r.failAt(at, "must have principals or runs")
	case len(n.Principals) > 0 && !r.has(below(at, "service")):
		r.failAt(at, "must have a service that carries out what its principals ask for")
	}
	if r.has(below(at, "service")) {
		r.distribution(below(at, "service.time"), n.Service.Time)
		r.distribution(below(at, "service.sync"), n.Service.Sync)
	}
	taken, members := map[string]string{}, 0
	for i := range n.Principals {
		key, p := item(below(at, "principals"), i), &n.Principals[i]
		if members += p.Count; members > maxMembers {
			r.failAt(below(key, "count"), "makes %d principals of the namespace; there may be %d", members, maxMembers)
			return
		}
		for name := range p.names {
			r.unique(taken, name, below(key, "name"), "principal")
		}
		r.principal(key, p, duration)
	}
	for i, e := range n.Episodes {
		r.episode(item(below(at, "episodes"), i), e, duration)
	}
	if n.Runs != nil {
		r.runs(below(at, "runs"), n.Runs, duration)
	}
}

// maxMembers bounds the principals of a namespace.
const maxMembers = 200_000

// names yields what the principals are called.
func (p *Principal) names(yield func(string) bool) {
	if p.Count == 1 {
		yield(p.Name)
		return
	}
	for i := range p.Count {
		if !yield(p.Name + "-" + strconv.Itoa(i+1)) {
			return
		}
	}
}

func (r *reading) settings(at string, s Settings) {
	if s.InitialConcurrency <= s.MaxConcurrency {
		return
	}
	key := below(at, "claim_initial_concurrency")
	if !r.has(key) {
		key = below(at, "claim_max_concurrency")
	}
	r.failAt(key, "the initial concurrency, %d, must be at most the maximum, %d", s.InitialConcurrency, s.MaxConcurrency)
}

func (r *reading) distribution(at string, d Distribution) {
	if d.Kind != "pareto" && d.Kind != "uniform" {
		return
	}
	if d.Max <= d.Min {
		r.failAt(below(at, "max"), "must be above min, %s", d.Min)
	}
	if d.Kind == "pareto" && d.Min == 0 {
		r.failAt(below(at, "min"), "must be above 0 for pareto")
	}
}

func (r *reading) principal(at string, p *Principal, duration Span) {
	if p.Cost < leastCost {
		r.failAt(below(at, "cost"), "must be 0 or %v to %d", leastCost, maxCost)
	}
	r.arrivals(below(at, "arrivals"), &p.Arrivals, duration)
	if p.Arrivals.Zipf > 0 && p.Count < 2 {
		r.failAt(below(at, "arrivals.zipf"), "needs a count of at least 2 to spread requests over")
	}
	if c := p.Client; c.Retry == "backoff" && c.Cap < c.Base {
		r.failAt(below(at, "client.cap"), "must be at least base, %s", c.Base)
	}
}

func (r *reading) arrivals(at string, a *Arrivals, duration Span) {
	for _, rate := range []struct {
		name  string
		value float64
	}{{"rate", a.Rate}, {"peak", a.Peak}} {
		if rate.value > 0 && rate.value < leastRate {
			r.failAt(below(at, rate.name), "must be 0 or %v to %d", leastRate, maxRate)
		}
	}
	switch {
	case (a.Kind == "poisson" || a.Kind == "even") && a.Rate == 0:
		r.failAt(below(at, "rate"), "must be above 0 for %s", a.Kind)
	case a.Rate == 0 && a.Peak == 0 && a.Kind != "closed" && a.Kind != "trace":
		r.failAt(below(at, "peak"), "must be above 0 if rate is not")
	}
	if a.From >= duration {
		r.failAt(below(at, "from"), "must be before the end, %s", duration)
	}
	if a.Kind != "trace" && (a.To <= a.From || a.To > duration) {
		r.failAt(below(at, "to"), "must be after from, %s, and at most the duration, %s", a.From, duration)
	}
	r.distribution(below(at, "think"), a.Think)
}

func (r *reading) episode(at string, e Episode, duration Span) {
	if e.From >= duration {
		r.failAt(below(at, "from"), "must be before the end, %s", duration)
	}
	if e.To <= e.From {
		r.failAt(below(at, "to"), "must be after from, %s", e.From)
	}
	if e.Every == 0 {
		return
	}
	if e.Every <= e.To-e.From || e.Every < duration/repeats {
		r.failAt(below(at, "every"), "must be more than the episode lasts, %s, and at least %s", e.To-e.From, duration/repeats)
	}
}

func (r *reading) runs(at string, b *Runs, duration Span) {
	if b.Lost > 0 && b.Lost < Span(millisecond) {
		r.failAt(below(at, "lost"), "must be 0 or 1ms to 24h")
	}
	if len(b.Batches) == 0 {
		r.failAt(below(at, "batches"), "must hold at least one batch")
	}
	for i, batch := range b.Batches {
		r.batch(item(below(at, "batches"), i), batch, duration)
	}
}

func (r *reading) batch(at string, b Batch, duration Span) {
	r.distribution(below(at, "time"), b.Time)
	switch {
	case b.At >= duration:
		r.failAt(below(at, "at"), "must be before the end, %s", duration)
	case b.Times == 1 && b.Every > 0:
		r.failAt(below(at, "every"), "needs times, above 1")
	case b.Times > 1 && b.Every == 0:
		r.failAt(below(at, "times"), "needs every, above 0")
	case b.Times > 1 && b.Every > (duration-1-b.At)/Span(b.Times-1):
		r.failAt(below(at, "times"), "the last would be submitted after the end, %s; there is time for %s", duration,
			fmt.Sprint(1+(duration-1-b.At)/b.Every))
	}
}
