package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// spans draws values of all sizes.
func spans(seed uint64, n int) []int64 {
	r := rand.New(rand.NewPCG(seed, 1))
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(r.Uint64() >> (1 + r.IntN(63)) >> 8)
	}
	return values
}

func filled(values []int64) *Histogram {
	h := new(Histogram)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func TestHistogramQuantilesAreThoseOfTheValues(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		values := spans(seed, 1+int(seed)*97)
		h := filled(values)
		slices.Sort(values)
		var sum int64
		for _, v := range values {
			sum += v
		}
		if h.Count() != int64(len(values)) || h.Sum() != sum || h.Min() != values[0] || h.Max() != values[len(values)-1] {
			t.Fatalf("seed %d: count %d, sum %d, min %d, max %d of %d values with sum %d",
				seed, h.Count(), h.Sum(), h.Min(), h.Max(), len(values), sum)
		}
		for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
			want := values[max(int(math.Ceil(q*float64(len(values))))-1, 0)]
			if got := h.Quantile(q); math.Abs(float64(got-want)) > 0.01*float64(want) {
				t.Errorf("seed %d: quantile %v is %d, want %d", seed, q, got, want)
			}
		}
	}
}

func TestHistogramKeepsSmallValuesExactly(t *testing.T) {
	t.Parallel()
	for v := range int64(128) {
		h := filled([]int64{0, v, 1000})
		if got := h.Quantile(0.5); got != v {
			t.Errorf("median is %d, want %d", got, v)
		}
	}
}

func TestHistogramQuantileIsOfNearestRank(t *testing.T) {
	t.Parallel()
	h := new(Histogram)
	for v := range int64(100) {
		h.Record(v + 1)
	}
	for percent := range int64(101) {
		if got, want := h.Quantile(float64(percent)/100), max(percent, 1); got != want {
			t.Errorf("quantile %d %% of 1 to 100 is %d, want %d", percent, got, want)
		}
	}
}

func TestHistogramBucketsMeetWithoutGapOrOverlap(t *testing.T) {
	t.Parallel()
	next := int64(0)
	for o := range octaves {
		for b := range perOctave {
			least, greatest := edges(o, b)
			if least != next {
				t.Fatalf("bucket %d of octave %d begins at %d, want %d", b, o, least, next)
			}
			for _, v := range []int64{least, greatest} {
				if gotO, gotB := bucket(v); gotO != o || gotB != b {
					t.Fatalf("%d is in bucket %d of octave %d, want %d of %d", v, gotB, gotO, b, o)
				}
			}
			next = greatest + 1
		}
	}
	if next != math.MinInt64 {
		t.Errorf("the last bucket ends at %d", next-1)
	}
}

func TestHistogramsMergedAreOneOfAllValues(t *testing.T) {
	t.Parallel()
	values := spans(7, 500)
	got := filled(values[:200])
	got.Merge(filled(values[200:]))
	got.Merge(new(Histogram))
	want := filled(values)
	if got.Count() != want.Count() || got.Sum() != want.Sum() || got.Min() != want.Min() || got.Max() != want.Max() {
		t.Error("totals differ")
	}
	for upTo, n := range want.Cumulative() {
		found := false
		for u, m := range got.Cumulative() {
			found = found || u == upTo && m == n
		}
		if !found {
			t.Errorf("%d values up to %d are missing", n, upTo)
		}
	}
}

func TestHistogramIsEmptyAfterReset(t *testing.T) {
	t.Parallel()
	h := filled(spans(1, 100))
	h.Reset()
	if h.Count() != 0 || h.Sum() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.Quantile(0.5) != 0 {
		t.Error("something is left")
	}
	for range h.Cumulative() {
		t.Error("a bucket is left")
	}
	h.Record(5)
	if h.Min() != 5 || h.Max() != 5 || h.Quantile(0.99) != 5 {
		t.Error("it does not count anew")
	}
}

func TestHistogramRejectsNegativeSpans(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("recorded")
		}
	}()
	new(Histogram).Record(-1)
}

func BenchmarkHistogramRecord(b *testing.B) {
	b.ReportAllocs()
	values := spans(3, 1024)
	h := new(Histogram)
	for i := 0; b.Loop(); i++ {
		h.Record(values[i&1023])
	}
}
