package report

import (
	"math"
	"testing"

	"github.com/skerryhq/skerry/sim/figure"
)

func TestAxisPutsTicksEvenlyAndKeepsWithin(t *testing.T) {
	t.Parallel()
	for _, high := range []float64{0, 0.03, 1, 7, 99.5, 100, 123456} {
		a := linear(high, 50, 250, plain)
		if a.high < high || len(a.ticks) < 2 || len(a.ticks) > 7 {
			t.Errorf("up to %v: axis to %v with %d ticks", high, a.high, len(a.ticks))
		}
		if a.at(-5) != 50 || a.at(2*a.high) != 250 {
			t.Errorf("up to %v: goes from %v to %v", high, a.at(-5), a.at(2*a.high))
		}
	}
	a := decades(0.1, 4000, 0, 500, span)
	if a.high != 10_000 || len(a.ticks) != 6 {
		t.Fatalf("axis to %v with %d ticks", a.high, len(a.ticks))
	}
	for i, tick := range a.ticks {
		if got := a.at(tick.at); math.Abs(got-float64(100*i)) > 1e-6 {
			t.Errorf("%s is at %v, want %d", tick.label, got, 100*i)
		}
	}
	if a.at(0) != 0 {
		t.Errorf("what is below the axis is at %v", a.at(0))
	}
}

func TestCurvesFarApartGetALogarithmicAxis(t *testing.T) {
	t.Parallel()
	flat := curve{y: []float64{0, 4}}
	if heights([]curve{flat, {y: []float64{70}}}).log {
		t.Error("logarithmic for 4 and 70")
	}
	if a := heights([]curve{flat, {y: []float64{900}}}); !a.log || a.at(4) > 200 {
		t.Errorf("4 is at %v and 900 at %v", a.at(4), a.at(900))
	}
}

func TestDistributionEndsWithEverybody(t *testing.T) {
	t.Parallel()
	h := input(small()).Waits[2].Histogram
	for _, points := range []int{1, 5, 1000} {
		x, y := distribution(h, points)
		last := len(x) - 1
		if len(x) > points+4 && points < 100 || x[last] != float64(h.Max())/1e6 || y[last] != 1 {
			t.Errorf("%d points: %d, the last at %v, %v", points, len(x), x[last], y[last])
		}
		for i := range last {
			if x[i] > x[i+1] || y[i] > y[i+1] {
				t.Errorf("%d points: falls at %v, %v", points, x[i+1], y[i+1])
			}
		}
	}
}

func TestThinKeepsTheMean(t *testing.T) {
	t.Parallel()
	s := input(small()).Series[0]
	s.Points = s.Points[:20]
	line := s.Line(func(p figure.Point) float64 { return float64(p.Pending) })
	x, y := thin(line, 6)
	if len(x) != 5 || x[1] != 10 {
		t.Errorf("points at %v", x)
	}
	var want, got float64
	for _, v := range line.Values {
		want += v / 20
	}
	for _, v := range y {
		got += v / 5
	}
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("mean is %v, want %v", got, want)
	}
}
