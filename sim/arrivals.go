package sim

import (
	"github.com/skerryhq/skerry/sim/random"
	"github.com/skerryhq/skerry/sim/scenario"
)

// second in virtual time.
const second = 1_000_000_000

// arrivals say when a principal asks next, one time after the other, and never for one
// that asks when it has been answered.
type arrivals interface {
	// next is the first time behind now, or never.
	next(now int64) int64
}

// newArrivals makes the arrivals of one principal until a scenario's end.
func newArrivals(a *scenario.Arrivals, end int64, s *random.Stream) arrivals {
	to := int64(a.To)
	if to == 0 || to > end {
		to = end
	}
	w := window{int64(a.From), to}
	switch a.Kind {
	case "even":
		return &even{window: w, gap: int64(second / a.Rate)}
	case "trace":
		return &trace{points: a.Trace, end: end}
	case "closed":
		return nothing{}
	}
	rate := rateOf(a, w, end, s)
	if a.Kind == "flash" {
		w = window{0, end}
	}
	return &poisson{window: w, rate: rate, stream: s}
}

type nothing struct{}

func (nothing) next(int64) int64 { return never }

// window bounds the time in which a principal asks; to is outside.
type window struct{ from, to int64 }

func (w window) bound(at int64) int64 {
	if at >= w.to {
		return never
	}
	return at
}

type even struct {
	window
	gap int64
}

func (e *even) next(now int64) int64 {
	if now < e.from {
		return e.bound(e.from)
	}
	return e.bound(now + max(e.gap, 1))
}

type trace struct {
	points []scenario.TracePoint
	read   int
	end    int64
}

func (t *trace) next(int64) int64 {
	if t.read == len(t.points) || int64(t.points[t.read].At) >= t.end {
		return never
	}
	t.read++
	return int64(t.points[t.read-1].At)
}

// rates are pieces of time with one rate each: what a Poisson process with a changing
// rate is made of.
type rates interface {
	// at gives the rate in force, in requests a second, and when it ends.
	at(now int64) (rate float64, until int64)
}

func rateOf(a *scenario.Arrivals, w window, end int64, s *random.Stream) rates {
	switch a.Kind {
	case "bursty":
		return &twoStates{rate: [2]float64{a.Rate, a.Peak}, mean: [2]float64{float64(a.Quiet), float64(a.Burst)}, stream: s}
	case "ramp":
		return ramp{from: w.from, to: w.to, first: a.Rate, last: a.Peak}
	case "onoff":
		return onOff{from: w.from, on: int64(a.On), off: int64(a.Off), rate: [2]float64{a.Peak, a.Rate}}
	case "flash":
		to := int64(a.To)
		if to == 0 {
			to = end
		}
		return flash{crowd: window{int64(a.From), to}, rate: a.Rate, peak: a.Peak}
	}
	return constantRate(a.Rate)
}

type constantRate float64

func (c constantRate) at(int64) (float64, int64) { return float64(c), never }

// twoStates is a Markov-modulated Poisson process of two states.
type twoStates struct {
	rate   [2]float64
	mean   [2]float64
	stream *random.Stream
	state  int
	until  int64
}

func (t *twoStates) at(now int64) (float64, int64) {
	for t.until <= now {
		if t.until > 0 {
			t.state = 1 - t.state
		}
		t.until += max(int64(float64(t.stream.Exp()*t.mean[t.state])), 1)
	}
	return t.rate[t.state], t.until
}

// ramp grows evenly, in a hundred steps.
type ramp struct {
	from, to    int64
	first, last float64
}

const rampSteps = 100

func (r ramp) at(now int64) (float64, int64) {
	if now < r.from {
		return 0, r.from
	}
	step := min((now-r.from)*rampSteps/max(r.to-r.from, 1), rampSteps-1)
	rate := r.first + float64((r.last-r.first)*float64(step))/(rampSteps-1)
	return rate, r.from + (r.to-r.from)*(step+1)/rampSteps
}

type onOff struct {
	from, on, off int64
	rate          [2]float64 // on, off
}

func (o onOff) at(now int64) (float64, int64) {
	if now < o.from {
		return 0, o.from
	}
	cycle := o.on + o.off
	begin := o.from + (now-o.from)/cycle*cycle
	if now < begin+o.on {
		return o.rate[0], begin + o.on
	}
	return o.rate[1], begin + cycle
}

type flash struct {
	crowd      window
	rate, peak float64
}

func (f flash) at(now int64) (float64, int64) {
	switch {
	case now < f.crowd.from:
		return f.rate, f.crowd.from
	case now < f.crowd.to:
		return f.peak, f.crowd.to
	}
	return f.rate, never
}

// poisson draws arrivals at a rate that is constant in pieces. As the process has no
// memory, a gap that reaches into the next piece is drawn anew from its beginning.
type poisson struct {
	window
	rate   rates
	stream *random.Stream
}

func (p *poisson) next(now int64) int64 {
	for now = max(now, p.from); now < p.to; {
		rate, until := p.rate.at(now)
		if rate > 0 {
			gap := p.stream.Exp() * second / rate
			if at := float64(now) + gap; at < float64(min(until, p.to)) {
				return max(int64(at), now+1)
			}
		}
		now = until
	}
	return never
}
