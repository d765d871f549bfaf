package policy

import (
	"math"
	"math/rand/v2"
)

// vegas moves the limit by the rule of VegasLimit in Netflix's library
// concurrency-limits (Landau, Thurston and Bozarth, "Performance Under Load", 2018),
// after Brakmo, O'Malley and Peterson, "TCP Vegas: New Techniques for Congestion
// Detection and Avoidance", 1994. The least service time stands for that of a server
// without load, and what is above it for a queue behind the limit:
//
//	queue = limit × (1 − least / latest)
//
// The limit grows while the queue is short, and falls when it is long. Every so often
// the latest service time becomes the least one, in case the server has changed.
//
// Simplified: every request that succeeded is a sample; there are no windows, and what
// failed is not looked at.
type vegas struct {
	estimate, max float64
	least         int64
	probes        int
	jitter        float64
	chance        *rand.Rand
}

// probeEvery is after how many samples, times the limit and a jitter of a half to
// one, the least service time is measured anew.
const probeEvery = 30

func newVegas(b bounds, seed uint64) Policy {
	v := &vegas{
		estimate: float64(b.initial), max: float64(b.max),
		chance: rand.New(rand.NewPCG(seed, streamVegas)),
	}
	v.shake()
	return newDesk(b, v, newFIFO(b))
}

// streamVegas keeps the draws apart from others of the same seed.
const streamVegas = 0x7665676173

func (v *vegas) limit() float64 { return v.estimate }

// shake draws a jitter. The conversion keeps halving and adding apart; see average.
func (v *vegas) shake() { v.jitter = 0.5 + float64(v.chance.Float64()/2) }

func (v *vegas) observe(service int64, inFlight int) {
	v.probes++
	if v.jitter*probeEvery*v.estimate <= float64(v.probes) {
		v.shake()
		v.probes = 0
		v.least = service
		return
	}
	if v.least == 0 || service < v.least {
		v.least = service
		return
	}
	if float64(2*inFlight) < v.estimate {
		return // demand, not the limit, holds requests back
	}
	v.estimate = max(1, min(v.max, v.judge(service)))
}

// judge returns the limit that follows from one sample, not yet within its bounds.
func (v *vegas) judge(service int64) float64 {
	queue := math.Ceil(v.estimate * (1 - float64(v.least)/float64(service)))
	step := logStep(int(v.estimate))
	alpha, beta := float64(3*step), float64(6*step)
	switch {
	case queue <= step:
		return v.estimate + beta
	case queue < alpha:
		return v.estimate + step
	case queue > beta:
		return v.estimate - step
	}
	return v.estimate
}

// logStep is the whole part of the decimal logarithm of limit, and at least 1. It is
// counted in integers: a logarithm in floats need not agree between architectures.
func logStep(limit int) float64 {
	step := 0
	for limit >= 10 {
		limit /= 10
		step++
	}
	return float64(max(1, step))
}
