package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/skerryhq/skerry/sim/figure"
)

// partiesShown bounds the principals, and the tenants, of a namespace that are drawn.
const partiesShown = 12

func (m *markup) parties(i int, s space, what string, of parties) {
	all := partyNames(s, of)
	if len(all) == 0 {
		return
	}
	shown := largest(s, of, all)
	m.f("<h3>Shares by %s</h3>\n", what)
	note := "The line across a bar is the max-min fair share."
	if more := len(all) - len(shown); more > 0 {
		note += " Shown are the " + strconv.Itoa(len(shown)) + " that have most; " + strconv.Itoa(more) + " more are in summary.json."
	}
	m.f("<p class=\"soft\">%s</p>\n<div class=\"grid-of\">\n", note)
	for n := range s.policies {
		p := &s.policies[n]
		var rows []bar
		for _, name := range shown {
			f := party(of(&p.Namespace), name)
			if f == nil || f.Share.Seeds == 0 {
				continue
			}
			fair := -1.0
			if f.FairShare.Seeds > 0 {
				fair = f.FairShare.Mean
			}
			rows = append(rows, bar{name, f.Share.Mean, fair, percent(f.Share.Mean)})
		}
		if len(rows) > 0 {
			m.bars(identifier(i, what, n), p.policy, "Which share of all each "+what+" had under "+p.policy+".", p.index, rows)
		}
	}
	m.f("</div>\n")
	m.partyFigures(s, what, of, shown)
}

// largest are those who have the largest share under any policy, in their own order.
func largest(s space, of parties, all []string) []string {
	if len(all) <= partiesShown {
		return all
	}
	share := map[string]float64{}
	for i := range s.policies {
		for _, p := range of(&s.policies[i].Namespace) {
			share[p.Name] = max(share[p.Name], p.Figures.Share.Mean)
		}
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(share[b], share[a]) })
	sorted = sorted[:partiesShown]
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(sorted, name) })
}

func percent(share float64) string { return figure.Format(share*100, 1) + " %" }

// partyFigures lists what those who use a namespace felt, policy by policy.
func (m *markup) partyFigures(s space, what string, of parties, shown []string) {
	for _, name := range []string{"goodput_per_s", "wait.p99_ms", "longest_starvation_ms", "refused_total"} {
		measure, ok := measure(name)
		if !ok {
			continue
		}
		m.f("<div class=\"wide\"><table><caption>By %s: %s</caption>\n<thead><tr><th scope=\"col\">%s</th>", what, label(measure), what)
		for _, p := range s.policies {
			m.f(`<th scope="col">%s</th>`, p.policy)
		}
		m.f("</tr></thead>\n<tbody>\n")
		for _, who := range shown {
			m.f(`<tr><th scope="row">%s</th>`, who)
			for i := range s.policies {
				m.cell(measure, party(of(&s.policies[i].Namespace), who))
			}
			m.f("</tr>\n")
		}
		m.f("</tbody></table></div>\n")
	}
}

func (m *markup) cell(measure figure.Measure, f *figure.Figures) {
	if f == nil || measure.Of(f).Seeds == 0 {
		m.f("<td>–</td>")
		return
	}
	v := measure.Of(f)
	m.f("<td>%s%s</td>", number(v.Mean), half(v))
}
