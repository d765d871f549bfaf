package policy

// gradient2 moves the limit by the rule of Gradient2Limit in Netflix's library
// concurrency-limits (Landau, Thurston and Bozarth, "Performance Under Load", 2018):
// the ratio of the average of many service times to the latest one says whether
// requests queue up behind the limit.
//
// Simplified: every request that succeeded is a sample; the library can also gather
// samples into windows first. The floor of the limit is 1, as of all policies here,
// where the library has the same 20 for the floor and the start.
type gradient2 struct {
	estimate, max float64
	long          longAverage
}

const (
	gradientTolerance = 1.5 // how far the latest may be above the average for nothing
	gradientSmoothing = 0.2 // weight of a new estimate
	gradientQueue     = 4   // by how much the limit may grow while all is well
	gradientFloor     = 0.5 // an outlier halves the estimate at most
	gradientDrift     = 2   // an average this far above the latest is of the past
	gradientDecay     = 0.9 // what is left of such an average
)

func newGradient2(b bounds) Policy {
	return newDesk(b, &gradient2{estimate: float64(b.initial), max: float64(b.max)}, newFIFO(b))
}

func (g *gradient2) limit() float64 { return g.estimate }

func (g *gradient2) observe(service int64, inFlight int) {
	short := float64(service)
	long := g.long.add(short)
	if long/short > gradientDrift {
		// The judgement below still goes by the average before this.
		g.long.value *= gradientDecay
	}
	if float64(inFlight) < g.estimate/2 {
		return // demand, not the limit, holds requests back
	}
	gradient := max(gradientFloor, min(1, gradientTolerance*long/short))
	next := float64(g.estimate*gradient) + gradientQueue
	next = float64(g.estimate*(1-gradientSmoothing)) + float64(next*gradientSmoothing)
	g.estimate = max(1, min(g.max, next))
}

// longAverage is the plain average of the first samples, and an exponential one of
// all that follow.
type longAverage struct {
	value, sum float64
	count      int
}

const (
	longWarmup = 10
	longWindow = 600
)

func (a *longAverage) add(sample float64) float64 {
	if a.count < longWarmup {
		a.count++
		a.sum += sample
		a.value = a.sum / float64(a.count)
		return a.value
	}
	const weight = 2.0 / (longWindow + 1)
	a.value = float64(a.value*(1-weight)) + float64(sample*weight)
	return a.value
}
