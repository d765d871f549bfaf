package admission

import "math"

// limiter holds the limit and the average service time that moves it: additive
// increase while healthy and saturated, multiplicative decrease above the target.
type limiter struct {
	cfg   Config // with defaults
	limit float64

	average   float64
	sampled   bool // whether average and sampledAt mean anything
	sampledAt int64
	changed   bool // whether changedAt means anything
	changedAt int64
}

// inForce is the number of requests that may run: the floor of the exact limit.
// Configuration keeps the limit at 1 or more, so that one always may.
func (l *limiter) inForce() int { return int(l.limit) }

// observe takes in the service time of work that succeeded, and judges the
// limit. saturated says whether every slot was in use until this one was released.
func (l *limiter) observe(now, sample int64, saturated bool) {
	l.absorb(now, float64(max(sample, 0)))
	if l.changed && now-l.changedAt < l.cfg.Interval {
		return
	}
	next := l.judge(saturated)
	if next == l.limit {
		// Nothing came of it, so the interval is not used up: a later sample
		// that finds reason to change may do so at once.
		return
	}
	l.limit, l.changed, l.changedAt = next, true, now
}

// absorb moves the average. An average without a recent sample describes an
// incident that is over, so that the next sample replaces it.
func (l *limiter) absorb(now int64, sample float64) {
	if !l.sampled || now-l.sampledAt >= l.cfg.StaleAfter {
		l.average = sample
	} else {
		// The conversion keeps compilers from fusing the product with the sum, which
		// would give other bits on another architecture.
		l.average += float64(l.cfg.Alpha * (sample - l.average))
	}
	l.sampled, l.sampledAt = true, now
}

func (l *limiter) judge(saturated bool) float64 {
	switch {
	case l.average > float64(l.cfg.Target):
		return max(l.limit*l.cfg.Factor, float64(l.cfg.Min))
	case saturated:
		return min(l.limit+l.cfg.Increase, float64(l.cfg.Max))
	}
	// Demand did not reach the limit: that it is healthy says nothing about
	// what a higher limit would do.
	return l.limit
}

// reconfigure puts cfg into force. Bringing the limit within its bounds is the
// operator's doing, not a judgement, and uses up no interval.
func (l *limiter) reconfigure(cfg Config) {
	l.cfg = cfg
	l.limit = min(max(l.limit, float64(cfg.Min)), float64(cfg.Max))
}

// retryAfter estimates in whole seconds when one more request behind waiting
// others would have been served.
func (l *limiter) retryAfter(waiting int) int {
	if !l.sampled {
		return l.cfg.RetryMin
	}
	seconds := math.Ceil(float64(waiting+1) * l.average / float64(l.inForce()) / float64(l.cfg.Second))
	// Bounded before the conversion: beyond the range of int its result is not defined.
	seconds = min(max(seconds, float64(l.cfg.RetryMin)), float64(l.cfg.RetryMax))
	return int(seconds)
}
