package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestJain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 1},
		{[]float64{0, 0}, 1},
		{[]float64{3, 3, 3}, 1},
		{[]float64{0, 0, 0, 8}, 0.25},
		{[]float64{1, 3}, 0.8},
	} {
		if got := Jain(c.values); !near(got, c.want) {
			t.Errorf("Jain(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMaxMin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		demands  []float64
		capacity float64
		want     []float64
	}{
		{nil, 5, []float64{}},
		{[]float64{2, 2.6, 4, 5}, 10, []float64{2, 2.6, 2.7, 2.7}},
		{[]float64{5, 1}, 10, []float64{5, 1}},
		{[]float64{90, 1, 1}, 12, []float64{10, 1, 1}},
		{[]float64{1, 1}, 0, []float64{0, 0}},
	} {
		got := MaxMin(c.demands, c.capacity)
		if !slices.EqualFunc(got, c.want, near) {
			t.Errorf("MaxMin(%v, %v) = %v, want %v", c.demands, c.capacity, got, c.want)
		}
	}
}

// Whoever has less than he demands has no less than anybody, and nothing is left then:
// that is what max-min fair means.
func TestMaxMinLeavesNobodyUnsatisfiedBelowAnother(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 1))
	for range 500 {
		demands := make([]float64, 1+r.IntN(8))
		for i := range demands {
			demands[i] = 10 * r.Float64()
		}
		capacity := 40 * r.Float64()
		shares := MaxMin(demands, capacity)
		var sum float64
		for _, s := range shares {
			sum += s
		}
		if sum > capacity+1e-9 {
			t.Fatalf("%v of %v given to %v", shares, capacity, demands)
		}
		for i, s := range shares {
			unsatisfied := s < demands[i]-1e-9
			if s > demands[i] || unsatisfied && (s < slices.Max(shares)-1e-9 || sum < capacity-1e-9) {
				t.Fatalf("%v of %v given to %v", shares, capacity, demands)
			}
		}
	}
}

func TestStarvation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		play func(s *Starvation)
		want int64 // of principal 0
	}{
		{"nothing happens", func(*Starvation) {}, 0},
		{"waits while another is started", func(s *Starvation) {
			s.Wait(10, 0)
			s.Wait(11, 1)
			s.Start(30, 1)
			s.Start(40, 0)
		}, 20},
		{"waits while nothing is started", func(s *Starvation) {
			s.Wait(10, 0)
			s.Start(90, 0)
		}, 0},
		{"one of its own is started between", func(s *Starvation) {
			s.Wait(0, 0)
			s.Wait(0, 0)
			s.Wait(0, 1)
			s.Wait(0, 1)
			s.Start(50, 1)
			s.Start(60, 0)
			s.Start(90, 1)
			s.Start(95, 0)
		}, 50},
		{"its own start does not count as another's", func(s *Starvation) {
			s.Wait(0, 0)
			s.Wait(0, 0)
			s.Start(10, 0)
			s.Start(80, 0)
		}, 0},
		{"was refused", func(s *Starvation) {
			s.Wait(0, 0)
			s.Wait(0, 1)
			s.Start(70, 1)
			s.Leave(0)
			s.Wait(100, 1)
			s.Start(300, 1)
		}, 70},
		{"still waits", func(s *Starvation) {
			s.Wait(5, 0)
			s.Wait(5, 1)
			s.Start(25, 1)
		}, 20},
		{"another was started before", func(s *Starvation) {
			s.Wait(0, 1)
			s.Start(1, 1)
			s.Wait(2, 0)
			s.Start(100, 0)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s Starvation
			c.play(&s)
			if got := s.Longest(0); got != c.want {
				t.Errorf("longest is %d, want %d", got, c.want)
			}
		})
	}
}
