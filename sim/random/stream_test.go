package random

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestGeneratorIsXoshiro256PlusPlus(t *testing.T) {
	t.Parallel()
	s := &Stream{1, 2, 3, 4}
	// What the authors' program prints from this state.
	for i, want := range []uint64{
		41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
		14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
	} {
		if got := s.Uint64(); got != want {
			t.Errorf("draw %d is %d, want %d", i, got, want)
		}
	}
}

func TestEveryPathHasItsOwnStream(t *testing.T) {
	t.Parallel()
	seen := make(map[Stream]string)
	paths := [][]string{
		nil,
		{""},
		{"", ""},
		{"a"},
		{"b"},
		{"ab"},
		{"a", "b"},
		{"b", "a"},
		{"a", ""},
		{"", "a"},
		{"a", "b", ""},
		{"ab", ""},
		{"a\x00b"},
		{"a\x00\x00\x00\x00\x00\x00\x00\x00b"},
		{"a\x01\x00\x00\x00\x00\x00\x00\x00b"},
	}
	for i := range 1000 {
		paths = append(paths, []string{"principal", fmt.Sprint(i)})
	}
	for _, seed := range []uint64{0, 1, 2, 1 << 32, math.MaxUint64} {
		for _, path := range paths {
			name := fmt.Sprintf("%d %q", seed, path)
			if other, ok := seen[*New(seed, path...)]; ok {
				t.Errorf("%s has the stream of %s", name, other)
			}
			seen[*New(seed, path...)] = name
		}
	}
}

// TestStreamsOfNeighboursAreIndependent counts which draws come together in two streams
// whose seeds or names differ by little.
func TestStreamsOfNeighboursAreIndependent(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct {
		name string
		a, b *Stream
	}{
		{"seeds", New(1, "a"), New(2, "a")},
		{"names", New(1, "a-1"), New(1, "a-2")},
		{"depth", New(1, "a"), New(1, "a", "b")},
	} {
		const cells = 16
		counts := make([]int, cells*cells)
		for range 100 * len(counts) {
			counts[int(pair.a.Float64()*cells)*cells+int(pair.b.Float64()*cells)]++
		}
		even(t, pair.name, counts)
	}
}

// even fails if the counts are not those of a fair die: a chi-square test that holds in
// all but one of about 30,000 cases. The seeds being fixed, it does or it does not.
func even(t *testing.T, what string, counts []int) {
	t.Helper()
	weights := make([]float64, len(counts))
	for i := range weights {
		weights[i] = 1 / float64(len(counts))
	}
	asWeighted(t, what, counts, weights)
}

func asWeighted(t *testing.T, what string, counts []int, weights []float64) {
	t.Helper()
	total := 0
	for _, n := range counts {
		total += n
	}
	square := 0.0
	for i, n := range counts {
		want := weights[i] * float64(total)
		square += (float64(n) - want) * (float64(n) - want) / want
	}
	free := float64(len(counts) - 1)
	// Wilson and Hilferty: the cube root of what is counted is nearly normal.
	z := (math.Cbrt(square/free) - (1 - 2/(9*free))) / math.Sqrt(2/(9*free))
	if math.Abs(z) > 4 { // too even is suspect as well
		t.Errorf("%s: chi-square %.1f with %.0f degrees of freedom, %.1f standard deviations off", what, square, free, z)
	}
}

func TestDrawsAreEven(t *testing.T) {
	t.Parallel()
	s := New(1, "even")
	const n = 200_000
	float, seven, bit := make([]int, 256), make([]int, 7), make([][]int, 64)
	orders := make(map[[4]int]int)
	for range n {
		f := s.Float64()
		if f < 0 || f >= 1 {
			t.Fatalf("%v is outside of [0, 1)", f)
		}
		float[int(f*256)]++
		seven[s.Intn(7)]++
		orders[[4]int(s.Perm(4))]++
	}
	for range n {
		drawn := s.Uint64()
		for i := range bit {
			if bit[i] == nil {
				bit[i] = make([]int, 2)
			}
			bit[i][drawn>>i&1]++
		}
	}
	even(t, "Float64", float)
	even(t, "Intn", seven)
	for i := range bit {
		even(t, fmt.Sprintf("bit %d", i), bit[i])
	}
	if len(orders) != 24 {
		t.Fatalf("%d orders of four things, want 24", len(orders))
	}
	var counts []int
	for _, n := range orders {
		counts = append(counts, n)
	}
	even(t, "Perm", counts)
}

// TestIntnHasNoBias takes a bound of three eighths of all draws. Without rejection, every
// third number would come from two of them, and the others from three.
func TestIntnHasNoBias(t *testing.T) {
	t.Parallel()
	s := New(1, "bias")
	const bound = 3 << 61
	thirds := make([]int, 3)
	for range 100_000 {
		n := s.Intn(bound)
		if n < 0 || n >= bound {
			t.Fatalf("%d is not below %d", n, bound)
		}
		thirds[n%3]++
	}
	even(t, "thirds", thirds)
	mustPanic(t, func() { s.Intn(0) })
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

func TestShuffleKeepsWhatItShuffles(t *testing.T) {
	t.Parallel()
	s := New(1, "shuffle")
	for n := range 20 {
		order := s.Perm(n)
		slices.Sort(order)
		for i, v := range order {
			if v != i {
				t.Fatalf("of %d things, place %d of the sorted order has %d", n, i, v)
			}
		}
	}
}
