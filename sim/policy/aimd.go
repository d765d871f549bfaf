package policy

// aimd moves the limit by the rule of AIMDLimit in Netflix's library
// concurrency-limits (Landau, Thurston and Bozarth, "Performance Under Load", 2018),
// which is that of TCP's congestion window (Chiu and Jain, "Analysis of the Increase
// and Decrease Algorithms for Congestion Avoidance in Computer Networks", 1989): a
// request that took longer than a threshold takes the limit to nine tenths, any other
// adds one if the limit was at least half used.
//
// Simplified: the threshold is the target of the settings, not a timeout of 5 s, so
// that it aims at what the production controller aims at. The library reacts to
// dropped requests as well; here, as in production, what failed is not looked at.
// Requests that the limit holds back wait in one queue, first come first served.
type aimd struct {
	current, max int
	threshold    int64
}

func newAIMD(b bounds) Policy {
	return newDesk(b, &aimd{current: b.initial, max: b.max, threshold: b.target}, newFIFO(b))
}

func (a *aimd) limit() float64 { return float64(a.current) }

func (a *aimd) observe(service int64, inFlight int) {
	switch {
	case service > a.threshold:
		a.current = max(1, a.current*9/10) // always lower by at least one
	case 2*inFlight >= a.current:
		a.current = min(a.current+1, a.max)
	}
}
