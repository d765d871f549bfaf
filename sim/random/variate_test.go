package random

import (
	"math"
	"slices"
	"testing"
)

const ms = 1e6

// shape is a distribution and what theory says of it.
type shape struct {
	name string
	d    Distribution
	// below is the probability of a span up to x, in nanoseconds.
	below func(x float64) float64
	// deviation is the standard deviation.
	deviation float64
}

func shapes() []shape {
	const sigma, scale = 0.8, 5 * ms
	return []shape{
		{
			"exponential", Exponential(5 * ms),
			func(x float64) float64 { return 1 - math.Exp(-x/(5*ms)) }, 5 * ms,
		},
		{
			"log-normal", LogNormal(scale, sigma),
			func(x float64) float64 {
				return math.Erfc(-(math.Log(x/scale)+sigma*sigma/2)/sigma/math.Sqrt2) / 2
			},
			scale * math.Sqrt(math.Exp(sigma*sigma)-1),
		},
		{
			"uniform", Uniform(2*ms, 8*ms),
			func(x float64) float64 { return (x - 2*ms) / (6 * ms) }, 6 * ms / math.Sqrt(12),
		},
		{
			"hyperexponential", Hyper(2*ms, 40*ms, 0.1),
			func(x float64) float64 { return 1 - 0.9*math.Exp(-x/(2*ms)) - 0.1*math.Exp(-x/(40*ms)) },
			math.Sqrt(2*(0.9*4+0.1*1600)-5.8*5.8) * ms,
		},
		paretoOf(1.5, 1*ms, 1000*ms),
		paretoOf(1, 1*ms, 100*ms),
		paretoOf(2.5, 1*ms, 50*ms),
	}
}

func paretoOf(a, least, greatest float64) shape {
	whole := 1 - math.Pow(least/greatest, a)
	// moment is the n-th, by its integral.
	moment := func(n float64) float64 {
		return a * math.Pow(least, a) / whole * (math.Pow(greatest, n-a) - math.Pow(least, n-a)) / (n - a)
	}
	mean := Pareto(a, least, greatest).Mean()
	return shape{
		"pareto", Pareto(a, least, greatest),
		func(x float64) float64 { return (1 - math.Pow(least/x, a)) / whole },
		math.Sqrt(moment(2) - mean*mean),
	}
}

// TestSpansAreThoseOfTheory compares a sample with the distribution function at every
// point (Kolmogorov and Smirnov), and its mean and deviation with theirs.
func TestSpansAreThoseOfTheory(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for i, c := range shapes() {
		s := New(uint64(i), "spans", c.name)
		sample := make([]float64, n)
		var sum, squares float64
		for i := range sample {
			sample[i] = float64(c.d.Draw(s))
			sum += sample[i]
			squares += (sample[i] - c.d.Mean()) * (sample[i] - c.d.Mean())
		}
		slices.Sort(sample)
		off := 0.0
		for i, x := range sample {
			p := c.below(x)
			off = max(off, float64(i+1)/n-p, p-float64(i)/n)
		}
		// 1.95 is passed by one in a thousand.
		if off*math.Sqrt(n) > 1.95 {
			t.Errorf("%s %v: the distribution is off by %.4f", c.name, c.d, off)
		}
		if mean := sum / n; math.Abs(mean-c.d.Mean()) > 4*c.deviation/math.Sqrt(n)+1 {
			t.Errorf("%s %v: mean %.0f, want %.0f", c.name, c.d, mean, c.d.Mean())
		}
		if deviation := math.Sqrt(squares / n); math.Abs(deviation/c.deviation-1) > 0.1 {
			t.Errorf("%s %v: deviation %.0f, want %.0f", c.name, c.d, deviation, c.deviation)
		}
	}
}

// TestNormalQuantilesInvertTheDistribution covers all three ranges of the approximation.
func TestNormalQuantilesInvertTheDistribution(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{
		1e-300, 1e-100, 1e-30, 1e-12, 1e-11, 1e-6, 1e-3, 0.02, 0.074, 0.076, 0.2, 0.4, 0.499, 0.5, 0.6, 0.9, 0.924, 0.926, 0.99, 0.999999,
	} {
		x := quantile(p)
		if got := math.Erfc(-x/math.Sqrt2) / 2; math.Abs(got/p-1) > 1e-12 {
			t.Errorf("below quantile(%v) = %v lies %v", p, x, got)
		}
	}
	for p, want := range map[float64]float64{0.975: 1.959963984540054, 0.005: -2.5758293035489004, 0.5: 0} {
		if got := quantile(p); math.Abs(got-want) > 1e-15 {
			t.Errorf("quantile(%v) = %v, want %v", p, got, want)
		}
	}
}

func TestMomentsOfNormalAndExp(t *testing.T) {
	t.Parallel()
	s := New(1, "moments")
	const n = 200_000
	var normal, exp [5]float64
	for range n {
		x, y := s.Normal(), s.Exp()
		for k := range normal {
			normal[k] += math.Pow(x, float64(k)) / n
			exp[k] += math.Pow(y, float64(k)) / n
		}
	}
	// Tolerances are four standard errors: √((moment 2k - moment k ²)/n).
	for k, want := range [5][2]float64{1: {0, 1}, 2: {1, 3}, 3: {0, 15}, 4: {3, 105}} {
		if tolerance := 4 * math.Sqrt((want[1]-want[0]*want[0])/n); k > 0 && math.Abs(normal[k]-want[0]) > tolerance {
			t.Errorf("moment %d of Normal is %.4f, want %v ± %.4f", k, normal[k], want[0], tolerance)
		}
	}
	for k, want := range [4][2]float64{1: {1, 2}, 2: {2, 24}, 3: {6, 720}} {
		if tolerance := 4 * math.Sqrt((want[1]-want[0]*want[0])/n); k > 0 && math.Abs(exp[k]-want[0]) > tolerance {
			t.Errorf("moment %d of Exp is %.4f, want %v ± %.4f", k, exp[k], want[0], tolerance)
		}
	}
}

func TestMeanOfParetoIsSteadyAroundShapeOne(t *testing.T) {
	t.Parallel()
	const least, greatest = 1 * ms, 1000 * ms
	want := least * greatest / (greatest - least) * math.Log(greatest/least)
	for _, off := range []float64{0, 1e-15, -1e-12, 1e-9, -1e-7, 1e-6} {
		got := Pareto(1+off, least, greatest).Mean()
		if math.Abs(got/want-1) > 1e-13+3*math.Abs(off) {
			t.Errorf("mean of shape 1%+g is %v, want %v", off, got, want)
		}
	}
	if got := Pareto(2, ms, ms).Mean(); got != ms {
		t.Errorf("mean between a span and itself is %v", got)
	}
	// Of two branches of grown, the one goes over into the other.
	if a, b := grown(0.000999999), grown(0.001000001); math.Abs(b-a-1e-9) > 1e-12 {
		t.Errorf("grown jumps from %v to %v", a, b)
	}
}

func TestSpansStayWithinTheirBounds(t *testing.T) {
	t.Parallel()
	s := New(1, "bounds")
	for _, c := range []struct {
		d        Distribution
		min, max int64
	}{
		{Constant(7), 7, 7},
		{Constant(-7), 0, 0},
		{Constant(math.NaN()), 0, 0},
		{Constant(math.Inf(1)), Longest, Longest},
		{Exponential(0), 0, 0},
		{Exponential(1e300), Longest, Longest},
		{LogNormal(5, 0), 4, 5},
		{Uniform(3, 9), 3, 8},
		{Pareto(0.01, 1, 1e15), 1, 1e15},
		{Pareto(100, 5, 6), 5, 6},
		{Hyper(0, 1e6, 0), 0, 0},
	} {
		for range 1000 {
			if got := c.d.Draw(s); got < c.min || got > c.max {
				t.Errorf("%#v gives %d, want from %d to %d", c.d, got, c.min, c.max)
				break
			}
		}
	}
}

func TestZipfFollowsItsWeights(t *testing.T) {
	t.Parallel()
	for _, exponent := range []float64{0, 0.9, 1, 2} {
		s := New(1, "zipf")
		const n = 20
		z := NewZipf(n, exponent)
		counts, weights := make([]int, n), make([]float64, n)
		total, shares := 0.0, 0.0
		for i := range n {
			weights[i] = math.Pow(float64(i+1), -exponent)
			total += weights[i]
			shares += z.Share(i)
		}
		for i := range n {
			weights[i] /= total
			if math.Abs(z.Share(i)-weights[i]) > 1e-15 {
				t.Errorf("share %d is %v, want %v", i, z.Share(i), weights[i])
			}
		}
		if math.Abs(shares-1) > 1e-15 {
			t.Errorf("shares are %v in all", shares)
		}
		for range 100_000 {
			counts[z.Draw(s)]++
		}
		asWeighted(t, "zipf", counts, weights)
	}
	if got := NewZipf(1, 1).Draw(New(1)); got != 0 {
		t.Errorf("of one thing, number %d was drawn", got)
	}
}
