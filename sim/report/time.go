package report

import (
	"math"
	"slices"

	"github.com/skerryhq/skerry/sim/figure"
)

func (m *markup) overTime(in Input, i int, s space, points int) {
	var series []policySeries
	for _, p := range s.policies {
		at := slices.IndexFunc(in.Series, func(x figure.PolicySeries) bool {
			return x.Policy == p.policy && x.Namespace == s.name
		})
		if at >= 0 && len(in.Series[at].Points) > 0 {
			series = append(series, policySeries{p, in.Series[at].Series})
		}
	}
	if len(series) == 0 {
		return
	}
	bands := episodes(in.Episodes, s.name)
	m.timePlot(identifier(i, "limit", 0), "Limit over time", "requests that may run at once", series, bands, points,
		func(p figure.Point) float64 { return p.Limit })
	m.timePlot(identifier(i, "queue", 0), "Queue over time", "requests that wait", series, bands, points,
		func(p figure.Point) float64 { return float64(p.Pending) })
}

type policySeries struct {
	spacePolicy
	figure.Series
}

func episodes(all []Episode, namespace string) []band {
	var bands []band
	for _, e := range all {
		if e.Namespace == namespace {
			bands = append(bands, band{float64(e.From) / 1e9, float64(e.To) / 1e9, e.Kind})
		}
	}
	return bands
}

func (m *markup) timePlot(id, title, label string, series []policySeries, bands []band, points int, of func(figure.Point) float64) {
	var curves []curve
	var end float64
	none := ""
	for _, s := range series {
		line := s.Line(of)
		end = max(end, float64(float64(len(line.Values)-1)*float64(line.Step))/1e9)
		if slices.Min(line.Values) < 0 {
			none += " " + s.policy + " has no limit and is not drawn."
			continue
		}
		x, y := thin(line, points)
		curves = append(curves, curve{s.index, s.policy, x, y})
	}
	if len(curves) == 0 {
		if none != "" {
			m.f("<p class=\"soft\">%s:%s</p>\n", title, none)
		}
		return
	}
	fromX, toX := plotX()
	x := linear(end, fromX, toX, plain)
	x.high = max(end, x.ticks[1].at)
	x.ticks = slices.DeleteFunc(x.ticks, func(t tick) bool { return t.at > x.high })
	y := heights(curves)
	if y.log {
		label += ", logarithmic; all below 1 at the bottom"
	}
	m.plot(plot{
		id: id, title: title,
		about: "Time in seconds from left to right, " + label + " upward, one curve for each policy." + none,
		x:     x, y: y, xLabel: "time in seconds", yLabel: label,
		curves: curves, bands: bands,
	})
	if none != "" {
		m.f("<p class=\"soft\">%s</p>\n", none)
	}
}

// apart is how many times as high as the lowest the highest curve may be before the
// axis becomes logarithmic, as nobody could read the lowest otherwise.
const apart = 20

// heights is the upward axis of curves.
func heights(curves []curve) axis {
	from, to := plotY()
	var high float64
	low := math.Inf(1)
	for _, c := range curves {
		top := slices.Max(c.y)
		high = max(high, top)
		low = min(low, max(top, 1))
	}
	if high > apart*low {
		return decades(1, high, from, to, plain)
	}
	return linear(high, from, to, plain)
}

func plain(v float64) string { return figure.Format(v, 3) }

// thin makes at most so many points of a line, each the mean of those that it stands
// for, at the time of the first of them. Times are in seconds.
func thin(l figure.Line, points int) (x, y []float64) {
	group := (len(l.Values) + points - 1) / points
	for i := 0; i < len(l.Values); i += group {
		values := l.Values[i:min(i+group, len(l.Values))]
		var sum float64
		for _, v := range values {
			sum += v
		}
		x = append(x, float64(int64(i)*l.Step)/1e9)
		y = append(y, sum/float64(len(values)))
	}
	return x, y
}
