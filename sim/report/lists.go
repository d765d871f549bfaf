package report

import (
	"slices"

	"github.com/skerryhq/skerry/sim/figure"
)

// figures is the table of a namespace: a line for each figure, a column for each policy.
func (m *markup) figures(s space) {
	m.f("<div class=\"wide\"><table><caption>Figures</caption>\n<thead><tr><th scope=\"col\">figure</th>")
	for _, p := range s.policies {
		m.f(`<th scope="col">%s</th>`, p.policy)
	}
	m.f("</tr></thead>\n<tbody>\n")
	for _, measure := range figure.Measures() {
		values := make([]figure.Value, len(s.policies))
		known := false
		for i := range s.policies {
			values[i] = measure.Of(&s.policies[i].Figures)
			known = known || values[i].Seeds > 0
		}
		if known {
			m.row(measure, values)
		}
	}
	m.f("</tbody></table></div>\n")
}

func (m *markup) row(measure figure.Measure, values []figure.Value) {
	m.f(`<tr><th scope="row">%s</th>`, label(measure))
	best := bestOf(measure.Good, values)
	for _, v := range values {
		switch {
		case v.Seeds == 0:
			m.f("<td>–</td>")
		case best != "" && number(v.Mean) == best:
			m.f(`<td class="best">★ %s%s</td>`, best, half(v))
		default:
			m.f("<td>%s%s</td>", number(v.Mean), half(v))
		}
	}
	m.f("</tr>\n")
}

func label(measure figure.Measure) string {
	if measure.Unit == "" {
		return measure.Label
	}
	return measure.Label + ", " + measure.Unit
}

// half is half the interval of a figure over several seeds.
func half(v figure.Value) raw {
	if v.Seeds < 2 {
		return ""
	}
	return raw("<small> ±" + number((v.High-v.Low)/2) + "</small>")
}

// bestOf is the best of the values as people see it, and empty if no value is better
// than another.
func bestOf(good figure.Good, values []figure.Value) string {
	var seen []float64
	for _, v := range values {
		if v.Seeds > 0 {
			seen = append(seen, v.Mean)
		}
	}
	if good == figure.Neither || len(seen) == 0 {
		return ""
	}
	low, high := number(slices.Min(seen)), number(slices.Max(seen))
	switch {
	case low == high:
		return ""
	case good == figure.High:
		return high
	}
	return low
}

// comparisons is a table for each pair of policies that were compared in a namespace.
func (m *markup) comparisons(s figure.Summary, n space) {
	type pair struct{ policy, against string }
	var pairs []pair
	for _, c := range s.Comparisons {
		if p := (pair{c.Policy, c.Against}); c.Namespace == n.name && !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 {
		return
	}
	m.f("<div class=\"wide\"><table><caption>Paired differences, with 95 %% confidence intervals</caption>\n<thead><tr><th scope=\"col\">figure</th>")
	for _, p := range pairs {
		m.f(`<th scope="col">%s less %s</th>`, p.policy, p.against)
	}
	m.f("</tr></thead>\n<tbody>\n")
	for _, measure := range figure.Measures() {
		cells := make([]*figure.Comparison, len(pairs))
		known := false
		for i := range s.Comparisons {
			c := &s.Comparisons[i]
			if c.Namespace == n.name && c.Figure == measure.Name {
				cells[slices.Index(pairs, pair{c.Policy, c.Against})] = c
				known = true
			}
		}
		if known {
			m.differences(measure, cells)
		}
	}
	m.f("</tbody></table></div>\n")
}

func (m *markup) differences(measure figure.Measure, cells []*figure.Comparison) {
	m.f(`<tr><th scope="row">%s</th>`, label(measure))
	for _, c := range cells {
		if c == nil {
			m.f("<td>–</td>")
			continue
		}
		sign := map[string]string{figure.Better: "▲", figure.Worse: "▼", figure.Even: "="}[c.Verdict]
		m.f(`<td title="%s">%s %s%s</td>`, c.Verdict, sign, number(c.Difference.Mean), half(c.Difference))
	}
	m.f("</tr>\n")
}
