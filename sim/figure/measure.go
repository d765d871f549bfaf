package figure

import "math"

// Absent is the value of a figure that means nothing: the time to recover where nothing
// happened, say.
func Absent() float64 { return math.NaN() }

// NewSample is a Sample of which every figure is Absent.
func NewSample() Sample {
	var s Sample
	for _, f := range s.fields() {
		*f = Absent()
	}
	return s
}

// Good says which way a figure is better.
type Good int

// Neither is of figures that are no merit by themselves.
const (
	Neither Good = iota
	High
	Low
)

// Measure describes one figure of a Set.
type Measure struct {
	// Name is that in summary.json, the parts joined by a dot.
	Name string
	// Label is for people, Unit empty for a plain number.
	Label, Unit string
	// Good says which way is better.
	Good Good
	// field is its place in Set.fields.
	field int
}

// Of gives the figure out of a set; nothing is known of it if Seeds of that is 0.
func (m Measure) Of(f *Figures) Value { return *f.fields()[m.field] }

// sampled gives the figure of one seed.
func (m Measure) sampled(s *Sample) float64 { return *s.fields()[m.field] }

// Measures are all figures of a set but the refusals by reason, in the order of its
// fields.
func Measures() []Measure {
	measures := []Measure{
		{Name: "offered", Label: "requests offered"},
		{Name: "started", Label: "started"},
		{Name: "completed", Label: "completed", Good: High},
		{Name: "failed", Label: "failed", Good: Low},
		{Name: "refused_total", Label: "refused", Good: Low},
		{Name: "goodput_per_s", Label: "goodput", Unit: "/s", Good: High},
		{Name: "wait.p50_ms", Label: "wait, median", Unit: "ms", Good: Low},
		{Name: "wait.p99_ms", Label: "wait, 99 %", Unit: "ms", Good: Low},
		{Name: "wait.p999_ms", Label: "wait, 99.9 %", Unit: "ms", Good: Low},
		{Name: "wait.max_ms", Label: "wait, longest", Unit: "ms", Good: Low},
		{Name: "wait.mean_ms", Label: "wait, mean", Unit: "ms", Good: Low},
		{Name: "service_mean_ms", Label: "service, mean", Unit: "ms", Good: Low},
		{Name: "response_p50_ms", Label: "response, median", Unit: "ms", Good: Low},
		{Name: "response_p99_ms", Label: "response, 99 %", Unit: "ms", Good: Low},
		{Name: "share", Label: "share of all"},
		{Name: "fair_share", Label: "max-min fair share"},
		{Name: "jain", Label: "Jain's index", Good: High},
		{Name: "largest_share", Label: "largest share", Good: Low},
		{Name: "longest_starvation_ms", Label: "longest starvation", Unit: "ms", Good: Low},
		{Name: "recovery_ms", Label: "recovery", Unit: "ms", Good: Low},
		{Name: "unrecovered", Label: "never recovered (share)", Good: Low},
		{Name: "wasted_ms", Label: "wasted work", Unit: "ms", Good: Low},
		{Name: "limit.mean", Label: "limit, mean"},
		{Name: "limit.min", Label: "limit, least"},
		{Name: "limit.max", Label: "limit, greatest"},
		{Name: "in_flight_mean", Label: "in flight, mean"},
		{Name: "pending_mean", Label: "pending, mean"},
	}
	for i := range measures {
		measures[i].field = i
	}
	return measures
}

// fields are all figures of a set in the order of Measures.
func (s *Set[T]) fields() []*T {
	return []*T{
		&s.Offered, &s.Started, &s.Completed, &s.Failed, &s.RefusedTotal, &s.GoodputPerS,
		&s.Wait.P50, &s.Wait.P99, &s.Wait.P999, &s.Wait.Max, &s.Wait.Mean,
		&s.ServiceMean, &s.ResponseP50, &s.ResponseP99,
		&s.Share, &s.FairShare, &s.Jain, &s.LargestShare, &s.Starvation,
		&s.Recovery, &s.Unrecovered, &s.Wasted,
		&s.Limit.Mean, &s.Limit.Min, &s.Limit.Max, &s.InFlight, &s.Pending,
	}
}
