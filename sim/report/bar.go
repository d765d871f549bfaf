package report

// bar is one line of a bar chart.
type bar struct {
	label string
	value float64
	// mark is a value that is marked on the line; negative for none.
	mark float64
	text string
}

// The size of bars.
const (
	barHeight = 16.0
	barLabel  = 190.0
	barText   = 74.0
)

// bars draws one bar below the other, each with its number written out. policy gives
// the colour; the labels tell what is what.
func (m *markup) bars(id, title, about string, policy int, rows []bar) {
	const width = 520.0
	var high float64
	for _, r := range rows {
		high = max(high, r.value, r.mark)
	}
	x := axis{high: max(high, 1e-9), from: barLabel, to: width - barText}
	m.f(`<figure class="bars"><figcaption>%v</figcaption>`+"\n", title)
	m.svg(width, float64(float64(len(rows))*barHeight)+4, id, title, about)
	m.f(`<g class="p%d">`+"\n", policy%styles)
	for i, r := range rows {
		y := float64(float64(i) * barHeight)
		m.f(`<text class="end" x="%v" y="%v">%v</text>`, barLabel-labelGap, y+12, short(r.label))
		m.f(`<rect class="bar" x="%v" y="%v" width="%v" height="10"/>`, barLabel, y+3, x.at(r.value)-barLabel)
		if r.mark >= 0 {
			m.f(`<path class="fair" d="M%v %vv14"/>`, x.at(r.mark), y+1)
		}
		m.f(`<text x="%v" y="%v">%v</text>`+"\n", max(x.at(r.value), x.at(max(r.mark, 0)))+4, y+12, r.text)
	}
	m.f("</g></svg></figure>\n")
}

// labelRunes is how much of a name has room beside a bar.
const labelRunes = 28

func short(s string) string {
	if r := []rune(s); len(r) > labelRunes {
		return string(r[:labelRunes-1]) + "…"
	}
	return s
}
