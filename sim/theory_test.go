package sim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/skerryhq/skerry/sim"
	"github.com/skerryhq/skerry/sim/figure"
	"github.com/skerryhq/skerry/sim/scenario"
)

// model is a namespace with one Poisson principal under a fixed limit, in YAML.
func model(t *testing.T, rate float64, limit, pending int, service string) *scenario.Scenario {
	t.Helper()
	text := fmt.Sprintf(`
title: a queue
duration: 1h
warmup: 1m
namespaces:
  - name: q
    settings: {claim_initial_concurrency: %d, fixed: %d, claim_max_pending: %d, claim_max_wait_ms: 3600000}
    service: {model: delay, time: %s}
    principals:
      - {name: p, arrivals: {kind: poisson, rate: %g}, client: {retry: never}}
`, limit, limit, pending, service, rate)
	s, err := scenario.Parse("model.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seeds are enough for narrow intervals.
func seeds(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// figures runs a model under the fixed limit.
func figures(t *testing.T, s *scenario.Scenario) figure.Figures {
	t.Helper()
	r, err := sim.Run(t.Context(), s, sim.Options{Seeds: seeds(10), Policies: []string{"fixed"}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Summary.Policies[0].Namespaces[0].Figures
}

// agrees wants the theory within the confidence interval, widened by a half for the
// one in twenty that it misses by chance.
func agrees(t *testing.T, what string, got figure.Value, want float64) {
	t.Helper()
	half := (got.High - got.Low) / 2 * 1.5
	if math.Abs(got.Mean-want) > half {
		t.Errorf("%s: got %.4g ± %.2g, theory says %.4g", what, got.Mean, half, want)
	}
	if half > 0.1*want {
		t.Errorf("%s: the interval ± %.2g around %.4g is too wide to prove anything", what, half, want)
	}
}

// erlangB is the probability that all c servers are busy and a request is lost, and
// erlangC that it must wait, for an offered load of a servers.
func erlangB(a float64, c int) float64 {
	b := 1.0
	for n := 1; n <= c; n++ {
		b = a * b / (float64(n) + a*b)
	}
	return b
}

func erlangC(a float64, c int) float64 {
	b, n := erlangB(a, c), float64(c)
	return n * b / (n - a*(1-b))
}

func TestWaitsAgreeWithErlangC(t *testing.T) {
	t.Parallel()
	const mean = 0.1 // seconds of service
	for _, c := range []int{1, 4, 8} {
		rate := 0.7 * float64(c) / mean
		f := figures(t, model(t, rate, c, 100_000, "{kind: exponential, mean: 100ms}"))
		a := rate * mean
		agrees(t, fmt.Sprintf("M/M/%d mean wait in ms", c), f.Wait.Mean, 1000*erlangC(a, c)*mean/(float64(c)-a))
	}
}

func TestWaitsAgreeWithPollaczekKhinchine(t *testing.T) {
	t.Parallel()
	const mean, rate = 0.1, 7.0
	wait := func(secondMoment float64) float64 { return 1000 * rate * secondMoment / 2 / (1 - rate*mean) }
	f := figures(t, model(t, rate, 1, 100_000, "{kind: constant, mean: 100ms}"))
	agrees(t, "M/D/1 mean wait in ms", f.Wait.Mean, wait(mean*mean))
	// Two phases: 90 % of 50 ms, 10 % of 550 ms; the second moment of each is twice its square.
	f = figures(t, model(t, rate, 1, 100_000, "{kind: hyperexponential, mean: 50ms, slow: 550ms, share: 0.1}"))
	agrees(t, "M/H2/1 mean wait in ms", f.Wait.Mean, wait(2*(0.9*0.05*0.05+0.1*0.55*0.55)))
}

func TestLossesAgreeWithErlangB(t *testing.T) {
	t.Parallel()
	const mean, rate, c = 0.1, 40.0, 4
	f := figures(t, model(t, rate, c, 0, "{kind: exponential, mean: 100ms}"))
	lost := figure.Value{
		Mean: f.RefusedTotal.Mean / f.Offered.Mean, Low: f.RefusedTotal.Low / f.Offered.Mean, High: f.RefusedTotal.High / f.Offered.Mean,
	}
	agrees(t, "M/M/4/4 share lost", lost, erlangB(rate*mean, c))
}

// A bounded queue: M/M/4 with ten places in all.
func TestLossesAgreeWithABoundedQueue(t *testing.T) {
	t.Parallel()
	const mean, rate, c, places = 0.1, 36.0, 4, 10
	f := figures(t, model(t, rate, c, places-c, "{kind: exponential, mean: 100ms}"))
	// The chain of births and deaths, state by state.
	p, sum, last := 1.0, 1.0, 1.0
	for n := 1; n <= places; n++ {
		p *= rate * mean / math.Min(float64(n), c)
		sum, last = sum+p, p
	}
	lost := figure.Value{
		Mean: f.RefusedTotal.Mean / f.Offered.Mean, Low: f.RefusedTotal.Low / f.Offered.Mean, High: f.RefusedTotal.High / f.Offered.Mean,
	}
	agrees(t, "M/M/4/10 share lost", lost, last/sum)
}

// On a path that begins and ends empty, the sum of all times in the system is the
// integral of the number in it, whatever the policy does.
func TestLittlesLawHoldsExactly(t *testing.T) {
	t.Parallel()
	s := model(t, 50, 4, 1000, "{kind: exponential, mean: 70ms}")
	s.Duration, s.Warmup = scenario.Span(60e9), 0
	for _, name := range []string{"ours", "fixed"} {
		type change struct {
			at int64
			by int
		}
		var changes []change
		var times int64
		_, err := sim.Run(t.Context(), s, sim.Options{Seeds: []uint64{3}, Policies: []string{name}, Requests: func(r sim.Request) {
			changes = append(changes, change{r.Arrived, 1}, change{r.Ended, -1})
			times += r.Ended - r.Arrived
		}})
		if err != nil {
			t.Fatal(err)
		}
		var integral int64
		for _, c := range changes {
			integral -= c.at * int64(c.by)
		}
		if integral != times || len(changes) < 4000 {
			t.Errorf("%s: the integral is %d, the times add up to %d, over %d changes", name, integral, times, len(changes))
		}
	}
}
