package policy

import (
	"testing"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

func TestOursDecidesLikeTheController(t *testing.T) {
	t.Parallel()
	// B displaces A's newest waiter. What failed moves nothing; a slow success takes
	// the limit to seven tenths of 2, of which one is in force.
	play(t, newPolicy(t, "ours", small(), 1), `
		0 arrive 1 A: start 1
		0 arrive 2 A: start 2
		0 arrive 3 A: enqueue 3
		0 arrive 4 A: enqueue 4
		0 arrive 5 A: enqueue 5
		0 arrive 6 A: refuse 6 (pending queue full, 1)
		0 arrive 7 B: refuse 5 (fair share of waiting slots, 1), enqueue 7
		10 fail 1 10: finished 1, start 3
		20 fail 2 20: finished 2, start 7
		200 finish 3 190: finished 3
		210 finish 7 190: finished 7, start 4
		210 cancel 4: 
		220 finish 4 10: finished 4`)
}

func TestNoneStartsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, "none", small(), 1)
	play(t, p, `
		0 arrive 1 A: start 1
		0 arrive 2 A: start 2
		0 arrive 3 A: start 3
		0 arrive 3 A: 
		0 arrive 4 A: start 4
		0 cancel 4: 
		5 fail 4 5: finished 4
		5 finish 4 5: 
		5 finish 9 5: `)
	if got := p.Status(); got != (Status{Limit: -1, InFlight: 3}) {
		t.Errorf("status %+v", got)
	}
	if at, ok := p.Next(); ok {
		t.Errorf("asks for a tick at %d", at)
	}
}

func TestFixedServesInOrderOfArrival(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, "fixed", small(), 1)
	play(t, p, `
		0 arrive 1 A: start 1
		0 arrive 2 A: start 2
		10 arrive 3 A: enqueue 3
		20 arrive 4 B: enqueue 4
		30 arrive 5 A: enqueue 5
		40 arrive 6 B: refuse 6 (pending queue full, 1)
		50 cancel 4: cancelled 4
		60 arrive 7 C: enqueue 7
		600 finish 1 600: finished 1, start 3
		610 cancel 3: 
		1020 arrive 8 C: enqueue 8
		1030 finish 3 1: refuse 5 (wait deadline, 1), finished 3, start 7`)
	// The average is 600 ms: two wait already, so that a third needs 3 × 600 / 2.
	play(t, p, `
		1040 arrive 9 A: enqueue 9
		1040 arrive 10 A: enqueue 10
		1040 arrive 11 A: refuse 11 (pending queue full, 2)`)
	if got := p.Status(); got != (Status{Limit: 2, InFlight: 2, Pending: 3, Average: 600 * millisecond}) {
		t.Errorf("status %+v", got)
	}
	if at, ok := p.Next(); at != 2020*millisecond || !ok {
		t.Errorf("next at %d, %v, want the deadline of 8", at, ok)
	}
	play(t, p, `
		2019 tick: 
		2020 tick: refuse 8 (wait deadline, 1)`)
}

func TestAverageIsWhatTheControllerHas(t *testing.T) {
	t.Parallel()
	a, b := newPolicy(t, "fixed", small(), 1), newPolicy(t, "ours", small(), 1)
	now := int64(0)
	// The pause of 20 targets is over at exactly 2 s, and one below it is none.
	for i, pause := range []int64{0, 10, 1999, 2000, 5, 7, 2001, 3} {
		id := admission.ID(i)
		now += pause * millisecond
		for _, p := range []Policy{a, b} {
			p.Arrive(now, id, "A")
			p.Finish(now, id, int64(i*i+1)*millisecond, i != 5)
		}
		if got, want := a.Status().Average, b.Status().Average; got != want {
			t.Fatalf("after %d: average %v, want %v", i, got, want)
		}
	}
}

func TestBucketLetsSixtyThroughAndThenOneASecond(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, "bucket", scenario.Settings{}, 1)
	id := admission.ID(0)
	ask := func(at int64, principal, want string) {
		t.Helper()
		id++
		ds := p.Arrive(at, id, principal)
		got := ds[0].Kind.String()
		if len(ds) != 1 || got != want {
			t.Fatalf("%d at %d: %s, want %s", id, at, describe(ds), want)
		}
		if d := ds[0]; d.Kind == admission.Refuse && (d.Reason != admission.LegacyQuota || d.RetryAfter != 1) {
			t.Fatalf("%d at %d: %s", id, at, describe(ds))
		}
	}
	for range 60 {
		ask(0, "A", "start")
	}
	ask(0, "A", "refuse")
	ask(0, "B", "start") // a bucket each
	ask(second-1, "A", "refuse")
	ask(second, "A", "start") // refusals cost nothing
	ask(second, "A", "refuse")
	ask(3*second, "A", "start")
	ask(3*second, "A", "start")
	ask(3*second, "A", "refuse")
	for range 60 { // a bucket holds no more than it holds
		ask(1000*second, "A", "start")
	}
	ask(1000*second, "A", "refuse")
	if got := p.Status(); got.Limit != -1 || got.Pending != 0 || got.InFlight != 124 {
		t.Errorf("status %+v", got)
	}
}
