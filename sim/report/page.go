package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/skerryhq/skerry/sim/figure"
)

//go:embed page.css
var style string

// WriteHTML writes the page: everything it needs is in it, and it runs no script. It
// reads in light and dark, on paper, and without seeing colours. However much there is
// in the input, it stays below 1.5 MB: curves get fewer points, and of many principals
// the largest are shown.
func WriteHTML(w io.Writer, in Input) error {
	var m markup
	spaces := namespaces(in.Summary)
	m.head(in.Summary)
	m.intro(in, spaces)
	points := curvePoints(in)
	for i, s := range spaces {
		m.section(in, i, s, points)
	}
	m.f("</main>\n</body>\n</html>\n")
	if _, err := w.Write(m.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// All curves of a page have about so many points together, and each at least and at
// most so many.
const (
	pagePoints  = 40_000
	leastPoints = 20
	mostPoints  = 240
)

func curvePoints(in Input) int {
	const plots = 2 // that each series is drawn in
	curves := max(len(in.Series)*plots+len(in.Waits), 1)
	return min(max(pagePoints/curves, leastPoints), mostPoints)
}

func (m *markup) head(s figure.Summary) {
	m.f(`<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>%s: %s</title>
<link rel="icon" href="data:,"/>
<style>
%s</style>
</head>
<body>
<main>
`, s.Scenario, s.Title, raw(style))
	m.f("<h1>%s</h1>\n", s.Title)
}

func (m *markup) intro(in Input, spaces []space) {
	s := in.Summary
	for para := range strings.SplitSeq(s.About, "\n\n") {
		if strings.TrimSpace(para) != "" {
			m.f("<p>%s</p>\n", strings.TrimSpace(para))
		}
	}
	m.f(`<p class="soft">Scenario %s, %s of virtual time, of which figures leave out the first %s; %s: %s.</p>`+"\n",
		s.Scenario, span(float64(s.DurationMs)), span(float64(s.WarmupMs)), seedCount(len(s.Seeds)), seedList(s.Seeds))
	m.f("<nav><ul>\n")
	for i, n := range spaces {
		m.f(`<li><a href="#%s">Namespace %s</a></li>`+"\n", identifier(i, "s", 0), n.name)
	}
	m.f("</ul></nav>\n<h2>How to read this</h2>\n<ul class=\"read\">\n")
	for _, line := range reading() {
		m.f("<li>%s</li>\n", line)
	}
	m.f("</ul>\n")
}

// reading explains the page to one who sees such a page for the first time.
func reading() []string {
	return []string{
		"All policies saw the same requests, with the same work, from the same seeds; only who was let in, and when, differs.",
		"Goodput counts requests that were completed, a wait is the time between asking and being started. A policy that refuses much may wait little: look at both.",
		"Over several seeds a figure is the mean, and ± half its 95 % confidence interval. Curves over time are those of the first seed; waits are those of all seeds.",
		"★ marks the best of a line, ties included. It says nothing of chance: the paired differences do. Better (▲) and worse (▼) are differences whose interval leaves out 0; where it does not (=), chance may have made the difference.",
		"Jain's index is 1 if all have the same, and 1/n if one of n has everything. Max-min fair is what everybody would get if nobody got more than he asked for, and nobody could get more but from one who has no more.",
		"Starvation is the longest time in which a principal had a request waiting and none of its own was started, while others' were. Recovery is the time from an episode's end until the figure is back where it was, for good. Wasted work is what was done for requests that nobody waited for any more.",
		"Policies differ in colour, in dashes and in their markers. Shaded times are episodes in which something was wrong with the service.",
	}
}

// seedsListed bounds the seeds that are named.
const seedsListed = 20

func seedList(seeds []uint64) string {
	var b strings.Builder
	for i, s := range seeds {
		if i == seedsListed {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", s)
	}
	return b.String()
}
