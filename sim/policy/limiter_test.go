package policy

import (
	"math"
	"testing"
)

// sample is what a limiter observes, and the limit that must follow.
type sample struct {
	service  int64
	inFlight int
	want     float64
}

func observe(t *testing.T, l limiter, samples []sample) {
	t.Helper()
	for i, s := range samples {
		l.observe(s.service, s.inFlight)
		if got := l.limit(); math.Abs(got-s.want) > 1e-9 {
			t.Fatalf("sample %d, %+v: limit %v", i, s, got)
		}
	}
}

func TestAIMDAddsOneAndTakesATenth(t *testing.T) {
	t.Parallel()
	observe(t, &aimd{current: 10, max: 12, threshold: 100}, []sample{
		{50, 5, 11},  // half used
		{50, 5, 11},  // less than half used
		{100, 6, 12}, // at the threshold is not above it
		{1, 12, 12},  // at the maximum
		{101, 1, 10}, // 10.8, however little is used
		{101, 1, 9},
		{101, 1, 8}, // 8.1
		{101, 1, 7}, // 7.2
		{99, 4, 8},
		{500, 8, 7},
	})
	observe(t, &aimd{current: 2, max: 12, threshold: 100}, []sample{{101, 1, 1}, {101, 1, 1}, {1, 1, 2}})
}

func TestGradient2FollowsTheRatioOfLongToShort(t *testing.T) {
	t.Parallel()
	observe(t, &gradient2{estimate: 20, max: 1000}, []sample{
		{100, 20, 20.8},    // 20 + 4, of which a fifth
		{300, 20, 21.6},    // 1.5 × 200 / 300 is 1
		{1000, 20, 21.104}, // 1.5 × 466.67 / 1000 is 0.7: 21.6 × 0.7 + 4 is 19.12
		// 1.5 × 25350 / 100000 is below a half: 21.104 / 2 + 4 is 14.552
		{100_000, 20, 19.7936},
		{100_000, 9, 19.7936}, // less than half used
		// 1.5 × 60676 … is above 1 again
		{1000, 10, 20.5936},
	})
}

func TestGradient2StaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	observe(t, &gradient2{estimate: 20, max: 21}, []sample{{100, 20, 20.8}, {100, 20, 21}, {100, 20, 21}})
	// With a halved estimate and 4 more, the limit falls towards 8 and never to 1.
	g := &gradient2{estimate: 20, max: 1000, long: longAverage{count: longWarmup, value: 1}}
	for range 100 {
		g.observe(1e12, 1000)
		g.long.value = 1
	}
	if got := g.limit(); math.Abs(got-8) > 0.01 {
		t.Errorf("limit %v, want 8", got)
	}
}

func TestGradient2ForgetsAnIncidentThatIsOver(t *testing.T) {
	t.Parallel()
	g := &gradient2{estimate: 20, max: 1000, long: longAverage{count: longWarmup, value: 602}}
	g.observe(301, 0)
	// 602 − 301 × 2/601 is 600.998…, less than twice the latest: it stays.
	if got, want := g.long.value, 602-301*2.0/601; math.Abs(got-want) > 1e-9 {
		t.Errorf("average %v, want %v", got, want)
	}
	g.long.value = 602
	g.observe(1, 0)
	// 602 − 601 × 2/601 is 600, more than twice the latest: a tenth goes.
	if got := g.long.value; math.Abs(got-540) > 1e-9 {
		t.Errorf("average %v, want 540", got)
	}
}

func TestLongAverageIsPlainAtFirst(t *testing.T) {
	t.Parallel()
	var a longAverage
	for i := range 10 {
		if got, want := a.add(float64(20*i)), float64(10*i); math.Abs(got-want) > 1e-9 {
			t.Fatalf("average of %d samples %v, want %v", i+1, got, want)
		}
	}
	// 90 + (691 − 90) × 2/601
	if got := a.add(691); math.Abs(got-92) > 1e-9 {
		t.Errorf("average %v, want 92", got)
	}
}

func TestVegasKeepsTheQueueBetweenAlphaAndBeta(t *testing.T) {
	t.Parallel()
	v := &vegas{estimate: 10, max: 120, jitter: 1}
	observe(t, v, []sample{
		{100, 10, 10}, // the first is the least
		{100, 5, 16},  // no queue: beta, 6, is added
		{100, 7, 16},  // less than half used
		{115, 8, 16},  // 16 × (1 − 100/115) is 2.09, a queue of 3: neither below alpha nor above beta
		{112, 8, 17},  // 1.71, a queue of 2: one is added
		{160, 9, 16},  // 6.4, a queue of 7: one is taken
		{200, 9, 15},
		{90, 15, 15},  // a new least
		{100, 15, 16}, // 15 × 0.1 is 1.5, a queue of 2
		{96, 15, 22},  // 16 × 0.0625 is 1, a queue of 1
	})
	v.estimate = 100
	observe(t, v, []sample{
		{91, 100, 112},  // 1.1, a queue of 2, and the step is 2 now
		{180, 112, 110}, // a queue of 56
		{90, 110, 120},  // 12 are added, up to the maximum
	})
}

func TestVegasMeasuresTheLeastAnew(t *testing.T) {
	t.Parallel()
	v := newVegas(bounds{initial: 10, max: 100}, 1).(*desk).limiter.(*vegas)
	v.jitter = 0.5
	for range 149 { // 0.5 × 30 × 10 is 150
		v.observe(100, 0)
	}
	v.observe(500, 0)
	if v.least != 500 || v.probes != 0 || v.jitter < 0.5 || v.jitter >= 1 {
		t.Errorf("least %d after %d samples, jitter %v", v.least, v.probes, v.jitter)
	}
	v.observe(499, 0)
	if v.least != 499 {
		t.Errorf("least %d, want 499", v.least)
	}
}

func TestVegasDrawsFromItsSeed(t *testing.T) {
	t.Parallel()
	jitter := func(seed uint64) float64 {
		return newVegas(bounds{initial: 10, max: 100}, seed).(*desk).limiter.(*vegas).jitter
	}
	if jitter(1) != jitter(1) || jitter(1) == jitter(2) {
		t.Errorf("jitters %v, %v of seed 1, %v of seed 2", jitter(1), jitter(1), jitter(2))
	}
}

func TestLogStepIsTheWholeLogarithm(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]float64{1: 1, 9: 1, 10: 1, 99: 1, 100: 2, 999: 2, 1000: 3, 99_999: 4, 100_000: 5} {
		if got := logStep(limit); got != want {
			t.Errorf("step of %d: %v, want %v", limit, got, want)
		}
	}
}
