package figure

import (
	"slices"
	"testing"
)

func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		values   []float64
		from, to int64
		took     int64
		ok       bool
	}{
		{"at once", []float64{10, 10, 30, 10, 10}, 20, 30, 0, true},
		{"later", []float64{10, 10, 30, 30, 12, 11, 10}, 20, 30, 20, true},
		{"not for good", []float64{10, 10, 30, 10, 30, 10, 10}, 20, 30, 20, true},
		{"never", []float64{10, 10, 30, 30, 30}, 20, 30, 10, false},
		{"never disturbed", []float64{10, 10, 10, 10}, 10, 20, 0, true},
		{"nothing before", []float64{10, 10}, 0, 10, 0, false},
		{"nothing usual", []float64{0, 0, 9, 9, 0.05, 0}, 20, 30, 10, true},
		{"from between points", []float64{10, 10, 30, 10}, 15, 20, 10, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			took, ok := Recovery(Line{Step: 10, Values: c.values}, c.from, c.to, 0.1)
			if took != c.took || ok != c.ok {
				t.Errorf("took %d, %v; want %d, %v", took, ok, c.took, c.ok)
			}
		})
	}
}

func TestSmoothIsTheMeanOfTheLast(t *testing.T) {
	t.Parallel()
	s := Series{Step: 5, Points: []Point{{Pending: 2}, {Pending: 4}, {Pending: 9}, {Pending: 2}}}
	got := s.Line(func(p Point) float64 { return float64(p.Pending) }).Smooth(3)
	if want := []float64{2, 3, 5, 5}; !slices.Equal(got.Values, want) || got.Step != 5 {
		t.Errorf("got %v, want %v", got, want)
	}
}
