package figure

import (
	"math"
	"slices"
)

// Over sums up what the seeds gave for one namespace, principal or tenant.
func Over(seeds []Sample) Figures {
	var f Figures
	column := make([]float64, len(seeds))
	for _, m := range Measures() {
		for i := range seeds {
			column[i] = m.sampled(&seeds[i])
		}
		*f.fields()[m.field] = NewValue(column)
	}
	f.Refused = refused(seeds)
	return f
}

// refused lists every reason that any seed has; where a seed has it not, it is 0.
func refused(seeds []Sample) []Reason[Value] {
	var reasons []string
	for _, s := range seeds {
		for _, r := range s.Refused {
			reasons = append(reasons, r.Reason)
		}
	}
	slices.Sort(reasons)
	var list []Reason[Value]
	for _, reason := range slices.Compact(reasons) {
		column := make([]float64, len(seeds))
		for i, s := range seeds {
			for _, r := range s.Refused {
				if r.Reason == reason {
					column[i] += r.Count
				}
			}
		}
		list = append(list, Reason[Value]{reason, NewValue(column)})
	}
	return list
}

// Compare gives the paired differences of a namespace under a policy and against
// another, for all figures of which more is better, or less, and that at least two seeds
// have under both. Seed i of both must be the same.
func Compare(namespace, policy, against string, a, b []Sample) []Comparison {
	var list []Comparison
	for _, m := range Measures() {
		if m.Good == Neither {
			continue
		}
		d, ok := m.difference(a, b)
		if !ok {
			continue
		}
		list = append(list, Comparison{
			Namespace: namespace, Policy: policy, Against: against, Figure: m.Name,
			Difference: d, Verdict: m.verdict(d),
		})
	}
	return list
}

// difference is the interval over the seeds that have the figure under both.
func (m Measure) difference(a, b []Sample) (Value, bool) {
	var as, bs []float64
	for i := range a {
		x, y := m.sampled(&a[i]), m.sampled(&b[i])
		if !math.IsNaN(x) && !math.IsNaN(y) {
			as, bs = append(as, x), append(bs, y)
		}
	}
	if len(as) < 2 {
		return Value{}, false
	}
	mean, half := Paired(as, bs)
	return Value{Mean: mean, Low: mean - half, High: mean + half, Seeds: len(as)}, true
}

func (m Measure) verdict(d Value) string {
	switch {
	case d.Low <= 0 && d.High >= 0:
		return Even
	case (d.Mean > 0) == (m.Good == High):
		return Better
	}
	return Worse
}
