package report

import (
	"strconv"
	"strings"
)

// The size of a plot, and the margins for what stands beside its axes.
const (
	plotWidth  = 720.0
	plotHeight = 260.0
	leftMargin = 56.0
	topMargin  = 24.0
	below      = 40.0
	labelGap   = 6.0
)

// styles is how many policies can be told apart by colour, dashes and marker. Those
// beyond begin again.
const styles = 9

// curve is what a plot draws for one policy.
type curve struct {
	policy int // in the summary
	name   string
	x, y   []float64
}

// plot is a drawing of curves over each other.
type plot struct {
	id, title, about string
	x, y             axis
	xLabel, yLabel   string
	curves           []curve
	// bands are times that are shaded, in values of x.
	bands []band
}

type band struct {
	from, to float64
	label    string
}

func plotX() (from, to float64) { return leftMargin, plotWidth - labelGap }
func plotY() (from, to float64) { return plotHeight - below, topMargin }

func (m *markup) plot(p plot) {
	m.f(`<figure><figcaption>%v</figcaption>`+"\n", p.title)
	m.svg(plotWidth, plotHeight, p.id, p.title, p.about)
	for _, b := range p.bands {
		m.f(`<rect class="band" x="%v" y="%v" width="%v" height="%v"><title>%v</title></rect>`+"\n",
			p.x.at(b.from), p.y.to, max(p.x.at(b.to)-p.x.at(b.from), 1), p.y.from-p.y.to, b.label)
	}
	m.grid(p)
	for _, c := range p.curves {
		m.curve(p, c)
	}
	m.f("</svg>\n")
	m.legend(p.curves)
	m.f("</figure>\n")
}

// svg begins a drawing, with its title and description for those who cannot see it.
func (m *markup) svg(width, height float64, id, title, about string) {
	m.f(`<svg viewBox="0 0 %v %v" role="img" aria-labelledby="%v-t %v-d">`, width, height, id, id)
	m.f(`<title id="%v-t">%v</title><desc id="%v-d">%v</desc>`+"\n", id, title, id, about)
}

func (m *markup) grid(p plot) {
	for _, t := range p.y.ticks {
		y := p.y.at(t.at)
		m.f(`<path class="grid" d="M%v %vH%v"/>`, p.x.from, y, p.x.to)
		m.f(`<text class="end" x="%v" y="%v">%v</text>`+"\n", p.x.from-labelGap, y+4, t.label)
	}
	for _, t := range p.x.ticks {
		x := p.x.at(t.at)
		m.f(`<path class="grid" d="M%v %vV%v"/>`, x, p.y.from, p.y.to)
		m.f(`<text class="mid" x="%v" y="%v">%v</text>`+"\n", x, p.y.from+15, t.label)
	}
	m.f(`<text class="mid" x="%v" y="%v">%v</text>`+"\n", (p.x.from+p.x.to)/2, plotHeight-6, p.xLabel)
	m.f(`<text x="2" y="10">%v</text>`+"\n", p.yLabel)
}

// markers is how many markers a curve has.
const markers = 7

func (m *markup) curve(p plot, c curve) {
	if len(c.x) == 0 {
		return
	}
	var d strings.Builder
	for i := range c.x {
		if i == 0 {
			d.WriteByte('M')
		} else {
			d.WriteByte('L')
		}
		d.WriteString(place(p.x.at(c.x[i])) + " " + place(p.y.at(c.y[i])))
	}
	style := c.policy % styles
	m.f(`<g class="p%d"><title>%v</title><path class="line" d="%v"/>`, style, c.name, d.String())
	// Policies have their markers at different places, so that none covers another.
	every := max(len(c.x)/markers, 1)
	for i := every * (style + 1) / (styles + 1); i < len(c.x); i += every {
		m.marker(style, p.x.at(c.x[i]), p.y.at(c.y[i]))
	}
	m.f("</g>\n")
}

// marker draws the shape of a policy.
func (m *markup) marker(style int, x, y float64) {
	shapes := [styles]string{
		"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", // disc
		"m-3-3h6v6h-6z",             // square
		"m0-4l4 7h-8z",              // triangle
		"m0-4.5l4 4.5-4 4.5-4-4.5z", // diamond
		"m-3.5-3.5l7 7m0-7l-7 7",    // saltire
		"m-4 0h8m-4-4v8",            // cross
		"m0 4l4-7h-8z",              // triangle on its head
		"m-4-2h8v4h-8z",             // lying bar
		"m-2-4h4v8h-4z",             // standing bar
	}
	m.f(`<path class="mark" d="M%v %v%v"/>`, x, y, shapes[style])
}

// legend names the curves, each with its stroke and its marker.
func (m *markup) legend(curves []curve) {
	m.f(`<ul class="legend">`)
	for _, c := range curves {
		style := c.policy % styles
		m.f(`<li><svg viewBox="0 0 36 12" width="36" height="12" aria-hidden="true"><g class="p%d"><path class="line" d="M0 6H36"/>`, style)
		m.marker(style, 18, 6)
		m.f(`</g></svg> %v</li>`, c.name)
	}
	m.f("</ul>\n")
}

// identifier numbers the drawings of a page.
func identifier(space int, what string, n int) string {
	return "n" + strconv.Itoa(space) + "-" + what + strconv.Itoa(n)
}
