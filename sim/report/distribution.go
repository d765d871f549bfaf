package report

import (
	"slices"

	"github.com/skerryhq/skerry/sim/figure"
)

func (m *markup) waits(in Input, i int, s space, points int) {
	var curves []curve
	var high float64
	for _, p := range s.policies {
		at := slices.IndexFunc(in.Waits, func(w Waits) bool {
			return w.Policy == p.policy && w.Namespace == s.name && w.Principal == ""
		})
		if at < 0 || in.Waits[at].Histogram.Count() == 0 {
			continue
		}
		x, y := distribution(in.Waits[at].Histogram, points)
		high = max(high, x[len(x)-1])
		curves = append(curves, curve{p.index, p.policy, x, y})
	}
	if len(curves) == 0 {
		return
	}
	fromX, toX := plotX()
	fromY, toY := plotY()
	m.plot(plot{
		id: identifier(i, "wait", 0), title: "Waits",
		about: "The wait on a logarithmic axis from left to right, the share of started requests that waited no longer upward, one curve for each policy.",
		x:     decades(0.1, high, fromX, toX, span), y: linear(1, fromY, toY, plain),
		xLabel: "wait, logarithmic; all below 100 µs at the left edge", yLabel: "share that waited no longer",
		curves: curves,
	})
}

// distribution gives waits in milliseconds, and which share of all is no longer. Of more
// points than wanted it keeps the first, those that rise enough, and the last.
func distribution(h *figure.Histogram, points int) (x, y []float64) {
	x, y = append(x, 0), append(y, 0)
	for upTo, n := range h.Cumulative() {
		share := float64(n) / float64(h.Count())
		if n < h.Count() && len(x) > 1 && share-y[len(y)-1] < 1/float64(points) {
			continue
		}
		x, y = append(x, float64(upTo)/1e6), append(y, share)
	}
	return x, y
}
