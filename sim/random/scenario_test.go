package random

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/sim/scenario"
)

func TestScenariosGetTheDistributionTheyDescribe(t *testing.T) {
	t.Parallel()
	span := func(d time.Duration) scenario.Span { return scenario.Span(d) }
	for _, c := range []struct {
		described scenario.Distribution
		want      Distribution
		mean      time.Duration
	}{
		{scenario.Distribution{}, Constant(0), 0},
		{scenario.Distribution{Kind: "constant", Mean: span(5 * time.Millisecond)}, Constant(5e6), 5 * time.Millisecond},
		{scenario.Distribution{Kind: "exponential", Mean: span(time.Second)}, Exponential(1e9), time.Second},
		{scenario.Distribution{Kind: "lognormal", Mean: span(time.Second), Sigma: 0.5}, LogNormal(1e9, 0.5), time.Second},
		{scenario.Distribution{Kind: "uniform", Min: 2, Max: 10}, Uniform(2, 10), 6},
		{scenario.Distribution{Kind: "pareto", Shape: 2, Min: 1000, Max: 3000}, Pareto(2, 1000, 3000), 1500},
		{
			scenario.Distribution{Kind: "hyperexponential", Mean: span(4 * time.Millisecond), Slow: span(24 * time.Millisecond), Share: 0.25},
			Hyper(4e6, 24e6, 0.25), 9 * time.Millisecond,
		},
	} {
		got, err := FromScenario(c.described)
		if err != nil {
			t.Errorf("%+v: %v", c.described, err)
			continue
		}
		if got != c.want {
			t.Errorf("%+v gives %#v, want %#v", c.described, got, c.want)
		}
		if math.Abs(got.Mean()/float64(max(c.mean, 1))-min(float64(c.mean), 1)) > 1e-12 {
			t.Errorf("%+v has mean %v, want %d", c.described, got.Mean(), c.mean)
		}
	}
}

func TestWrongDescriptionsAreRefusedByTheirKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		described scenario.Distribution
		key       string
	}{
		{scenario.Distribution{Mean: 1}, "kind"},
		{scenario.Distribution{Kind: "gamma", Mean: 1}, "kind"},
		{scenario.Distribution{Kind: "constant", Mean: -1}, "mean"},
		{scenario.Distribution{Kind: "exponential", Mean: Longest + 1}, "mean"},
		{scenario.Distribution{Kind: "lognormal", Mean: 1, Sigma: -1}, "sigma"},
		{scenario.Distribution{Kind: "lognormal", Mean: 1, Sigma: math.NaN()}, "sigma"},
		{scenario.Distribution{Kind: "lognormal", Mean: 1, Sigma: math.Inf(1)}, "sigma"},
		{scenario.Distribution{Kind: "uniform", Min: -1, Max: 2}, "min"},
		{scenario.Distribution{Kind: "uniform", Min: 3, Max: 2}, "max"},
		{scenario.Distribution{Kind: "uniform", Min: 3, Max: Longest + 1}, "max"},
		{scenario.Distribution{Kind: "pareto", Shape: 1, Min: 0, Max: 2}, "min"},
		{scenario.Distribution{Kind: "pareto", Shape: 1, Min: 3, Max: 2}, "max"},
		{scenario.Distribution{Kind: "pareto", Shape: 0, Min: 1, Max: 2}, "shape"},
		{scenario.Distribution{Kind: "pareto", Shape: math.NaN(), Min: 1, Max: 2}, "shape"},
		{scenario.Distribution{Kind: "hyperexponential", Mean: 1, Slow: 2, Share: 1.1}, "share"},
		{scenario.Distribution{Kind: "hyperexponential", Mean: 1, Slow: 2, Share: math.NaN()}, "share"},
		{scenario.Distribution{Kind: "hyperexponential", Mean: 1, Slow: -2, Share: 0.1}, "slow"},
		{scenario.Distribution{Kind: "hyperexponential", Mean: 1, Slow: 2, Share: -0.1}, "share"},
	} {
		got, err := FromScenario(c.described)
		if err == nil || !strings.HasPrefix(err.Error(), c.key+":") {
			t.Errorf("%+v: %#v, %v; want an error of %s", c.described, got, err, c.key)
		}
	}
}

// FuzzFromScenario looks for a description that is taken and then draws what it may not.
func FuzzFromScenario(f *testing.F) {
	f.Add("constant", int64(5), 0.0, 0.0, int64(0), int64(0), int64(0), 0.0)
	f.Add("exponential", int64(Longest), 0.0, 0.0, int64(0), int64(0), int64(0), 0.0)
	f.Add("lognormal", int64(1e9), 5.0, 0.0, int64(0), int64(0), int64(0), 0.0)
	f.Add("uniform", int64(0), 0.0, 0.0, int64(7), int64(9), int64(0), 0.0)
	f.Add("pareto", int64(0), 0.0, 1e-6, int64(1), int64(Longest), int64(0), 0.0)
	f.Add("pareto", int64(0), 0.0, 100.0, int64(1), int64(Longest), int64(0), 0.0)
	f.Add("pareto", int64(0), 0.0, 1.0, int64(7), int64(7), int64(0), 0.0)
	f.Add("hyperexponential", int64(1e6), 0.0, 0.0, int64(0), int64(0), int64(1e9), 0.0001)
	f.Fuzz(func(t *testing.T, kind string, mean int64, sigma, shape float64, least, greatest, slow int64, share float64) {
		described := scenario.Distribution{
			Kind: kind, Mean: scenario.Span(mean), Sigma: sigma, Shape: shape,
			Min: scenario.Span(least), Max: scenario.Span(greatest), Slow: scenario.Span(slow), Share: share,
		}
		d, err := FromScenario(described)
		if err != nil {
			return
		}
		low, high := int64(0), int64(Longest)
		if kind == "uniform" || kind == "pareto" {
			// Rounding may take one of the last bits.
			low, high = least-least>>50-1, greatest
		}
		if got := d.Mean(); !(got >= float64(low) && got <= float64(high)) {
			t.Errorf("%+v has mean %v", described, got)
		}
		s := New(1, "fuzz")
		for range 100 {
			if got := d.Draw(s); got < low || got > high {
				t.Fatalf("%+v drew %d", described, got)
			}
		}
	})
}

// FuzzPow holds that the result grows with the base, up to its last bit, and that the
// opposite exponent gives the inverse.
func FuzzPow(f *testing.F) {
	f.Add(2.0, 0.5)
	f.Add(1e-300, 1.01)
	f.Add(1.0000000001, 1e10)
	f.Add(0x1p-1074, -0.9)
	f.Fuzz(func(t *testing.T, x, y float64) {
		if !(x >= 0 && x <= math.MaxFloat64 && y >= -math.MaxFloat64 && y <= math.MaxFloat64) {
			return
		}
		power, inverse := Pow(x, y), Pow(x, -y)
		if !(power >= 0) {
			t.Fatalf("Pow(%v, %v) = %v", x, y, power)
		}
		if between(power) && between(inverse) && math.Abs(power*inverse-1) > 1e-15 {
			t.Errorf("Pow(%v, ±%v) are %v and %v", x, y, power, inverse)
		}
		next := Pow(math.Nextafter(x, math.Inf(1)), y)
		if y < 0 {
			power, next = next, power
		}
		if between(power) && next < math.Nextafter(math.Nextafter(power, 0), 0) {
			t.Errorf("Pow around %v, %v goes from %v to %v", x, y, power, next)
		}
	})
}

// between tells numbers with all their digits.
func between(x float64) bool { return x >= 0x1p-1022 && x <= 0x1p1022 }
