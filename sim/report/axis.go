package report

import (
	"math"

	"github.com/skerryhq/skerry/sim/figure"
	"github.com/skerryhq/skerry/sim/random"
)

// axis maps values to places in a drawing.
type axis struct {
	low, high float64 // values
	from, to  float64 // places
	log       bool
	ticks     []tick
}

type tick struct {
	at    float64
	label string
}

// at is the place of a value; those outside are moved to the nearer end.
func (a axis) at(v float64) float64 {
	v = min(max(v, a.low), a.high)
	part := (v - a.low) / (a.high - a.low)
	if a.log {
		part = random.Log(v/a.low) / random.Log(a.high/a.low)
	}
	return a.from + float64(part*(a.to-a.from))
}

// linear makes an axis from 0 to a value or a little more, with at most six ticks at
// round numbers.
func linear(high, from, to float64, label func(float64) string) axis {
	if high <= 0 {
		high = 1
	}
	step := roundStep(high / 5)
	a := axis{high: math.Ceil(high/step) * step, from: from, to: to}
	for i := 0; float64(float64(i)*step) <= a.high; i++ {
		v := float64(float64(i) * step)
		a.ticks = append(a.ticks, tick{v, label(v)})
	}
	return a
}

// roundStep is the least of 1, 2 and 5 times a power of ten that is not below a value.
func roundStep(v float64) float64 {
	power := 1.0
	for power > v {
		power /= 10
	}
	for power*10 <= v {
		power *= 10
	}
	for _, n := range []float64{1, 2, 5} {
		if n*power >= v {
			return n * power
		}
	}
	return 10 * power
}

// decades makes a logarithmic axis, from a power of ten to the one that is not below a
// value.
func decades(low, high, from, to float64, label func(float64) string) axis {
	a := axis{low: low, from: from, to: to, log: true}
	for v := a.low; ; v *= 10 {
		a.ticks = append(a.ticks, tick{v, label(v)})
		a.high = v
		if v >= high && len(a.ticks) > 2 {
			return a
		}
	}
}

// span writes milliseconds in a unit that people read easily.
func span(ms float64) string {
	switch {
	case ms >= 1000:
		return figure.Format(ms/1000, 2) + " s"
	case ms >= 1 || ms == 0:
		return figure.Format(ms, 2) + " ms"
	}
	return figure.Format(ms*1000, 0) + " µs"
}
