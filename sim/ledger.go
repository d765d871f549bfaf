package sim

import (
	"cmp"
	"slices"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/figure"
	"github.com/skerryhq/skerry/sim/report"
)

// ledger counts what becomes of the requests of one world. What was sent first before
// the end of the warm-up is not counted.
type ledger struct {
	seed   uint64
	policy string
	// sample is the distance of points, warmup what is left out.
	sample, warmup, end int64
	steps               int64
	// each gets every attempt when it has ended; it may be nil.
	each func(report.Request)

	all        tally
	parties    []tally
	starvation figure.Starvation
	series     figure.Series
	point0     figure.Point // what has happened since the last point
}

// tally is what became of the requests of one principal, or of all.
type tally struct {
	name                                string
	offered, started, completed, failed int64
	refused                             [admission.AnonymousQuota + 1]int64
	abandoned                           int64
	work, served, wasted                int64 // asked for, done for somebody, done for nobody
	wait, response, service             figure.Histogram
}

func (l *ledger) begin(w *world) {
	l.parties = make([]tally, len(w.principals))
	for i, p := range w.principals {
		l.parties[i].name = p.name
	}
	l.series.Step = l.sample
}

// of are the tallies in which a request counts.
func (l *ledger) of(r *request) []*tally {
	if r.first < l.warmup {
		return nil
	}
	return []*tally{&l.all, &l.parties[r.principal]}
}

// point adds a point to the series.
func (l *ledger) point(w *world) {
	s := w.policy.Status()
	p := l.point0
	p.Limit, p.InFlight, p.Pending, p.AverageMs = s.Limit, int64(s.InFlight), int64(s.Pending), s.Average/1e6
	l.series.Points = append(l.series.Points, p)
	l.point0 = figure.Point{}
}

func (l *ledger) offered(_ *world, r *request) {
	for _, t := range l.of(r) {
		t.offered++
		t.work += r.work
	}
}

func (l *ledger) sent(w *world, r *request) { l.starvation.Wait(w.now, int(r.principal)) }

func (l *ledger) started(w *world, r *request) {
	l.starvation.Start(w.now, int(r.principal))
	l.point0.Started++
	for _, t := range l.of(r) {
		t.started++
		t.wait.Record(w.now - r.sent)
	}
}

func (l *ledger) refused(w *world, r *request, why admission.Reason) {
	l.starvation.Leave(int(r.principal))
	l.point0.Refused++
	for _, t := range l.of(r) {
		t.refused[why]++
	}
	l.tell(w, r, -1, "refused", why.String())
}

func (l *ledger) finished(w *world, r *request) {
	service := w.now - r.started
	outcome := "completed"
	switch {
	case r.gone:
		outcome = "abandoned"
	case r.fails:
		outcome = "failed"
	default:
		l.point0.Completed++
	}
	for _, t := range l.of(r) {
		t.service.Record(service)
		switch outcome {
		case "completed":
			t.completed++
			t.served += r.work
			t.response.Record(w.now - r.first)
		case "failed":
			t.failed++
			t.wasted += r.work
		default:
			t.wasted += r.work
		}
	}
	l.tell(w, r, r.started, outcome, "")
}

// abandoned notes that a client has given a request up for want of patience.
func (l *ledger) abandoned(w *world, r *request) {
	if r.state == waits {
		l.starvation.Leave(int(r.principal))
		l.tell(w, r, -1, "abandoned", "")
	}
	for _, t := range l.of(r) {
		t.abandoned++
	}
}

func (l *ledger) tell(w *world, r *request, started int64, outcome, reason string) {
	if l.each == nil {
		return
	}
	l.each(report.Request{
		Seed: l.seed, Policy: l.policy, Namespace: w.space.Name, Principal: w.principals[r.principal].name,
		ID: uint64(r.serial), Attempt: int(r.attempt), Arrived: r.sent, Started: started, Ended: w.now,
		Outcome: outcome, Reason: reason,
	})
}

const perMs = 1e6

// figures are those of a tally that need nothing but it.
func (l *ledger) figures(t *tally) figure.Sample {
	s := figure.NewSample()
	s.Offered, s.Started, s.Completed, s.Failed = float64(t.offered), float64(t.started), float64(t.completed), float64(t.failed)
	var refused int64
	for reason, n := range t.refused {
		if n > 0 {
			refused += n
			s.Refused = append(s.Refused, figure.Reason[float64]{Reason: admission.Reason(reason).String(), Count: float64(n)})
		}
	}
	if t.abandoned > 0 {
		s.Refused = append(s.Refused, figure.Reason[float64]{Reason: "client gave up", Count: float64(t.abandoned)})
	}
	slices.SortFunc(s.Refused, func(a, b figure.Reason[float64]) int { return cmp.Compare(a.Reason, b.Reason) })
	s.RefusedTotal = float64(refused)
	s.GoodputPerS = float64(t.completed) * second / float64(l.end-l.warmup)
	if t.wait.Count() > 0 {
		s.Wait = figure.Waits[float64]{
			P50: float64(t.wait.Quantile(0.5)) / perMs, P99: float64(t.wait.Quantile(0.99)) / perMs,
			P999: float64(t.wait.Quantile(0.999)) / perMs, Max: float64(t.wait.Max()) / perMs, Mean: t.wait.Mean() / perMs,
		}
		s.ServiceMean = t.service.Mean() / perMs
	}
	if t.response.Count() > 0 {
		s.ResponseP50, s.ResponseP99 = float64(t.response.Quantile(0.5))/perMs, float64(t.response.Quantile(0.99))/perMs
	}
	s.Wasted = float64(t.wasted) / perMs
	return s
}

// samples are the figures of the namespace and of each principal.
func (l *ledger) samples(w *world) (space figure.Sample, parties []figure.Sample) {
	space = l.figures(&l.all)
	demands, got := make([]float64, len(l.parties)), make([]float64, len(l.parties))
	var total float64
	for i := range l.parties {
		demands[i], got[i] = float64(l.parties[i].work), float64(l.parties[i].served)
		total += got[i]
	}
	fair := figure.MaxMin(demands, total)
	var even []float64
	space.LargestShare, space.Starvation = 0, 0
	for i := range l.parties {
		s := l.figures(&l.parties[i])
		if total > 0 {
			s.Share, s.FairShare = got[i]/total, fair[i]/total
			space.LargestShare = max(space.LargestShare, s.Share)
		}
		if fair[i] > 0 {
			even = append(even, got[i]/fair[i])
		}
		s.Starvation = float64(l.starvation.Longest(i)) / perMs
		space.Starvation = max(space.Starvation, s.Starvation)
		parties = append(parties, s)
	}
	space.Jain = figure.Jain(even)
	l.overTime(&space)
	l.recovery(&space, w)
	return space, parties
}

// overTime fills in what is a mean over the points behind the warm-up.
func (l *ledger) overTime(s *figure.Sample) {
	var n float64
	s.InFlight, s.Pending = 0, 0
	limit := figure.Range[float64]{}
	for i, p := range l.series.Points {
		if int64(i)*l.sample < l.warmup {
			continue
		}
		if n++; n == 1 {
			limit.Min, limit.Max = p.Limit, p.Limit
		}
		s.InFlight += float64(p.InFlight)
		s.Pending += float64(p.Pending)
		limit.Mean += p.Limit
		limit.Min, limit.Max = min(limit.Min, p.Limit), max(limit.Max, p.Limit)
	}
	if n == 0 {
		return
	}
	s.InFlight, s.Pending, limit.Mean = s.InFlight/n, s.Pending/n, limit.Mean/n
	if limit.Min >= 0 {
		s.Limit = limit
	}
}

// How recovery is judged: by the requests in the namespace, smoothed over some points,
// which must be back within half of what was usual before.
const (
	recoverySmooth    = 5
	recoveryTolerance = 0.5
)

// recovery is how long after the last single episode the namespace is as it was.
func (l *ledger) recovery(s *figure.Sample, w *world) {
	for _, e := range w.space.Episodes {
		if e.Every > 0 {
			continue
		}
		line := l.series.Line(func(p figure.Point) float64 { return float64(p.InFlight + p.Pending) })
		took, ok := figure.Recovery(line.Smooth(recoverySmooth), int64(e.From), int64(e.To), recoveryTolerance)
		s.Recovery, s.Unrecovered = float64(took)/perMs, 0
		if !ok {
			s.Unrecovered = 1
		}
	}
}
