package random

import "sort"

// Zipf draws from n things of which number i, from 0, has a weight of (i+1) to the power
// of minus some exponent. It is not changed by drawing.
type Zipf struct {
	// upTo[i] is the share of all weight that the things up to i have.
	upTo []float64
}

// NewZipf makes the sampler of n things, at least one, by an exponent of 0 or more; 0
// gives all the same weight.
func NewZipf(n int, exponent float64) *Zipf {
	upTo := make([]float64, n)
	var total float64
	for i := range upTo {
		total += Pow(float64(i+1), -exponent)
		upTo[i] = total
	}
	for i := range upTo {
		upTo[i] /= total
	}
	return &Zipf{upTo: upTo}
}

// Draw draws the number of a thing, in one draw of the stream.
func (z *Zipf) Draw(s *Stream) int {
	drawn := s.Float64()
	return sort.Search(len(z.upTo)-1, func(i int) bool { return z.upTo[i] > drawn })
}

// Share is the share of all draws that thing number i gets.
func (z *Zipf) Share(i int) float64 {
	if i == 0 {
		return z.upTo[0]
	}
	return z.upTo[i] - z.upTo[i-1]
}
