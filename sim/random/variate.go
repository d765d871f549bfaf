package random

// Uniform draws evenly between two numbers.
func (s *Stream) Uniform(from, to float64) float64 {
	return from + float64((to-from)*s.Float64())
}

// Exp draws from the exponential distribution with mean 1.
func (s *Stream) Exp() float64 {
	// A draw may be 0 but never 1.
	return -Log(1 - s.Float64())
}

// LogNormal draws from the log-normal distribution with the given mean, whose logarithm
// has the standard deviation sigma.
func (s *Stream) LogNormal(mean, sigma float64) float64 {
	// The mean of e^(sigma·normal) is e^(sigma²/2).
	return float64(mean * Exp(float64(sigma*s.Normal())-float64(sigma*sigma/2)))
}

// BoundedPareto draws from the Pareto distribution of the given shape and least value,
// cut off at the greatest. All three are above 0.
func (s *Stream) BoundedPareto(shape, least, greatest float64) float64 {
	// The inverse of the distribution function, at a draw.
	below := float64(s.Float64() * (1 - Pow(least/greatest, shape)))
	return min(float64(least*Pow(1-below, -1/shape)), greatest)
}

// HyperExp draws from the exponential distribution with mean slow in the given share of
// cases, 0 to 1, and from that with mean fast in all others.
func (s *Stream) HyperExp(fast, slow, share float64) float64 {
	mean := fast
	if s.Float64() < share {
		mean = slow
	}
	return float64(mean * s.Exp())
}
