package figure

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestInterval(t *testing.T) {
	t.Parallel()
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	mean, half := Interval(ten)
	if !near(mean, 5.5) || math.Abs(half-2.1659) > 0.0005 {
		t.Errorf("got %v ± %v, want 5.5 ± 2.1659", mean, half)
	}
	if mean, half := Interval([]float64{4}); mean != 4 || !math.IsInf(half, 1) {
		t.Errorf("of one value: %v ± %v", mean, half)
	}
	if mean, _ := Interval(nil); !math.IsNaN(mean) {
		t.Errorf("of none: %v", mean)
	}
	// The same difference in each pair leaves no doubt, however far the pairs are apart.
	if mean, half := Paired(ten, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}); mean != 1 || half != 0 {
		t.Errorf("paired: %v ± %v", mean, half)
	}
}

func TestStudentsQuantileNeverGrows(t *testing.T) {
	t.Parallel()
	for n := 2; n < 300; n++ {
		if quantileT(n) > quantileT(n-1) || quantileT(n) < 1.96 {
			t.Errorf("quantile of %d is %v after %v", n, quantileT(n), quantileT(n-1))
		}
	}
}

// Every measure is found in the document under its name: the two lists of fields and
// the document's tags agree.
func TestMeasuresNameTheFieldsOfTheDocument(t *testing.T) {
	t.Parallel()
	var f Figures
	for i, field := range f.fields() {
		*field = Value{Mean: float64(i + 1), Seeds: 1}
	}
	b, err := json.Marshal(&f)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	measures := Measures()
	if len(measures) != len(f.fields()) {
		t.Fatalf("%d measures of %d fields", len(measures), len(f.fields()))
	}
	leaves := 0
	for _, m := range measures {
		at := any(document)
		for part := range strings.SplitSeq(m.Name, ".") {
			at = at.(map[string]any)[part]
		}
		if at != m.Of(&f).Mean {
			t.Errorf("%s is %v in the document, want %v", m.Name, at, m.Of(&f).Mean)
		}
	}
	for _, v := range document {
		if inner, ok := v.(map[string]any); ok {
			leaves += len(inner)
		} else {
			leaves++
		}
	}
	if leaves != len(measures) {
		t.Errorf("the document has %d figures, want %d", leaves, len(measures))
	}
}

func TestOverSeedsLeavesOutWhatIsAbsent(t *testing.T) {
	t.Parallel()
	a, b := NewSample(), NewSample()
	a.Offered, b.Offered = 10, 14
	a.Recovery = 250
	a.Refused = []Reason[float64]{{"wait_timeout", 3}, {"queue_full", 1}}
	b.Refused = []Reason[float64]{{"wait_timeout", 5}}
	got := Over([]Sample{a, b})
	if got.Offered.Mean != 12 || got.Offered.Seeds != 2 || got.Offered.Low >= 12 || got.Offered.High <= 12 {
		t.Errorf("offered is %+v", got.Offered)
	}
	if want := (Value{250, 250, 250, 1}); got.Recovery != want {
		t.Errorf("recovery is %+v", got.Recovery)
	}
	if !got.Jain.IsZero() {
		t.Errorf("Jain's index is %+v", got.Jain)
	}
	if len(got.Refused) != 2 || got.Refused[0].Reason != "queue_full" || got.Refused[0].Count.Mean != 0.5 || got.Refused[1].Count.Mean != 4 {
		t.Errorf("refused is %+v", got.Refused)
	}
}

func TestCompareTellsBetterFromWorseAndFromChance(t *testing.T) {
	t.Parallel()
	sample := func(goodput, wait, starved float64) Sample {
		s := NewSample()
		s.GoodputPerS, s.Wait.P99, s.Starvation = goodput, wait, starved
		return s
	}
	a := []Sample{sample(10, 5, 1), sample(20, 6, 9), sample(30, 7, 4)}
	b := []Sample{sample(9, 3, 9), sample(18.9, 4.2, 1), sample(29.1, 5, 3)}
	verdicts := map[string]string{}
	for _, c := range Compare("space", "a", "b", a, b) {
		verdicts[c.Figure] = c.Verdict
	}
	want := map[string]string{"goodput_per_s": Better, "wait.p99_ms": Worse, "longest_starvation_ms": Even}
	if len(verdicts) != len(want) {
		t.Errorf("compared %v", verdicts)
	}
	for f, v := range want {
		if verdicts[f] != v {
			t.Errorf("%s is %s, want %s", f, verdicts[f], v)
		}
	}
	if got := Compare("space", "a", "b", a[:1], b[:1]); len(got) != 0 {
		t.Errorf("compared one seed: %v", got)
	}
}

func TestValuesComeBackFromJSON(t *testing.T) {
	t.Parallel()
	values := []Value{{}, {Mean: 1234567.25, Low: 1234567.25, High: 1234567.25, Seeds: 1}, {Mean: 2, Low: -1.5, High: 5.5, Seeds: 10}}
	b, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[null,1234567.25,{"mean":2,"low":-1.5,"high":5.5,"seeds":10}]`; string(b) != want {
		t.Errorf("wrote %s, want %s", b, want)
	}
	var back []Value
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back, values) {
		t.Errorf("read %+v, want %+v", back, values)
	}
	if _, err := json.Marshal(Value{Mean: math.Inf(1), Seeds: 1}); err == nil {
		t.Error("wrote infinity")
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{{0, 2, "0"}, {-0.001, 2, "0"}, {1.5, 3, "1.5"}, {100, 0, "100"}, {1e7, 2, "10000000"}, {-2.25, 1, "-2.2"}} {
		if got := Format(c.v, c.decimals); got != c.want {
			t.Errorf("Format(%v, %d) = %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}
