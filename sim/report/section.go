package report

// section draws one namespace.
func (m *markup) section(in Input, i int, s space, points int) {
	m.f(`<section id="%s">`+"\n<h2>Namespace %s</h2>\n", identifier(i, "s", 0), s.name)
	m.figures(s)
	m.comparisons(in.Summary, s)
	m.overTime(in, i, s, points)
	m.waits(in, i, s, points)
	m.refusals(i, s)
	m.parties(i, s, "principal", principals)
	m.parties(i, s, "tenant", tenants)
	m.f("</section>\n")
}

func (m *markup) refusals(i int, s space) {
	m.f("<h3>Refusals by reason</h3>\n<div class=\"grid-of\">\n")
	var without string
	for n, p := range s.policies {
		var rows []bar
		for _, r := range p.Figures.Refused {
			rows = append(rows, bar{r.Reason, r.Count.Mean, -1, number(r.Count.Mean)})
		}
		if len(rows) == 0 {
			without += " " + p.policy + " refused nothing."
			continue
		}
		m.bars(identifier(i, "refused", n), p.policy, "Requests that "+p.policy+" refused, by reason.", p.index, rows)
	}
	m.f("</div>\n")
	if without != "" {
		m.f("<p class=\"soft\">%s</p>\n", without)
	}
}
