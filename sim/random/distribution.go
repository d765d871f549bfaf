package random

import "math"

// Longest is the longest span that a Distribution draws, in nanoseconds: 13 days. A
// longer one would be that, so that sums and products of spans stay within an int64.
const Longest = 1 << 50

// Distribution is one of spans of time. It has no state: what it draws is up to the
// stream.
type Distribution interface {
	// Draw draws a span in nanoseconds, from 0 to Longest, rounded down.
	Draw(s *Stream) int64
	// Mean is the mean of the distribution in nanoseconds, before a draw is rounded
	// or cut off at Longest.
	Mean() float64
}

// span makes what was drawn one that a Distribution may give.
func span(ns float64) int64 {
	switch {
	case ns >= Longest:
		return Longest
	case ns > 0:
		return int64(ns)
	}
	return 0 // also of NaN
}

type constant float64

// Constant is always the same span, in nanoseconds. It takes no draw of the stream.
func Constant(ns float64) Distribution { return constant(ns) }

func (c constant) Draw(*Stream) int64 { return span(float64(c)) }
func (c constant) Mean() float64      { return float64(c) }

type exponential float64

// Exponential is the exponential distribution with a mean in nanoseconds.
func Exponential(mean float64) Distribution { return exponential(mean) }

func (e exponential) Draw(s *Stream) int64 { return span(float64(e) * s.Exp()) }
func (e exponential) Mean() float64        { return float64(e) }

type logNormal struct{ mean, sigma float64 }

// LogNormal is the log-normal distribution with a mean in nanoseconds, whose logarithm
// has the standard deviation sigma.
func LogNormal(mean, sigma float64) Distribution { return logNormal{mean, sigma} }

func (l logNormal) Draw(s *Stream) int64 { return span(s.LogNormal(l.mean, l.sigma)) }
func (l logNormal) Mean() float64        { return l.mean }

type uniform struct{ from, to float64 }

// Uniform is even between two spans in nanoseconds.
func Uniform(from, to float64) Distribution { return uniform{from, to} }

func (u uniform) Draw(s *Stream) int64 { return span(s.Uniform(u.from, u.to)) }
func (u uniform) Mean() float64        { return (u.from + u.to) / 2 }

type hyper struct{ fast, slow, share float64 }

// Hyper is the hyperexponential distribution of two phases with means in nanoseconds: a
// share of the draws, 0 to 1, is from the slow one.
func Hyper(fast, slow, share float64) Distribution { return hyper{fast, slow, share} }

func (h hyper) Draw(s *Stream) int64 { return span(s.HyperExp(h.fast, h.slow, h.share)) }

func (h hyper) Mean() float64 {
	return float64(h.fast*(1-h.share)) + float64(h.slow*h.share)
}

type pareto struct{ shape, least, greatest float64 }

// Pareto is the Pareto distribution of a shape above 0 between two spans in nanoseconds,
// the first of them above 0.
func Pareto(shape, least, greatest float64) Distribution { return pareto{shape, least, greatest} }

func (p pareto) Draw(s *Stream) int64 {
	return span(s.BoundedPareto(p.shape, p.least, p.greatest))
}

// Mean is least·a/(a-1)·(1-r^(a-1))/(1-r^a) for the shape a and r = least/greatest,
// written so that it does not lose its digits, or divide by zero, around a = 1.
func (p pareto) Mean() float64 {
	log := Log(p.least / p.greatest)
	return p.least * grown(float64((p.shape-1)*log)) / grown(float64(p.shape*log))
}

// grown is (eˣ-1)/x.
func grown(x float64) float64 {
	if math.Abs(x) < 1e-3 {
		return 1 + float64(x/2*(1+float64(x/3*(1+float64(x/4*(1+x/5))))))
	}
	return (Exp(x) - 1) / x
}
