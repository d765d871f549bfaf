package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

// event is one step of a drawn run. Which request it is about is a fraction of those
// that run or live at that time, so that the same events suit every policy.
type event struct {
	advance   int64
	do        string
	which     int
	principal string
	service   int64
	ok        bool
}

func drawEvents(t *rapid.T) []event {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
		return event{
			advance:   rapid.SampledFrom([]int64{0, 0, 1, 3, 7, 20, 90}).Draw(t, "advance") * millisecond,
			do:        rapid.SampledFrom([]string{"arrive", "arrive", "arrive", "finish", "finish", "cancel"}).Draw(t, "do"),
			which:     rapid.IntRange(0, 1000).Draw(t, "which"),
			principal: rapid.SampledFrom([]string{"A", "A", "A", "B", "B", "C", "D"}).Draw(t, "principal"),
			service:   rapid.SampledFrom([]int64{0, 1, 10, 50, 51, 400}).Draw(t, "service") * millisecond,
			ok:        rapid.IntRange(0, 4).Draw(t, "ok") > 0,
		}
	}), 1, 150).Draw(t, "events")
}

func drawSettings(t *rapid.T) scenario.Settings {
	pending := rapid.SampledFrom([]int{0, 1, 2, 5, 20, 200}).Draw(t, "pending")
	initial := rapid.IntRange(1, 5).Draw(t, "initial")
	return scenario.Settings{
		InitialConcurrency: initial,
		MaxConcurrency:     initial + rapid.IntRange(0, 10).Draw(t, "above"),
		MaxPending:         &pending,
		MaxWaitMs:          rapid.SampledFrom([]int{1, 5, 30, 100, 1000}).Draw(t, "wait"),
		TargetMs:           50,
		Fixed:              rapid.IntRange(0, 5).Draw(t, "fixed"),
	}
}

// run steps the policy through events, tells it the time when it asks for it, and in
// the end finishes what runs until nothing is left.
func (a *auditor) run(events []event) (all []admission.Decision, status []Status) {
	now, id := int64(0), admission.ID(0)
	note := func(ds []admission.Decision) {
		a.checkLimit(ds)
		all = append(all, ds...)
		status = append(status, a.p.Status())
	}
	for _, e := range events {
		now += e.advance
		note(a.tick(now))
		switch {
		case e.do == "arrive":
			id++
			note(a.arrive(now, id, e.principal))
		case e.do == "finish" && len(a.running) > 0:
			note(a.finish(now, a.running[e.which%len(a.running)], e.service, e.ok))
		case e.do == "cancel" && id > 0:
			note(a.cancel(now, 1+admission.ID(e.which)%id))
		}
	}
	for len(a.running) > 0 {
		note(a.finish(now, a.running[0], millisecond, true))
	}
	if len(a.live) > 0 || a.ended != int(id) {
		a.t.Fatalf("%s: %d requests live on, %d of %d ended", a.name, len(a.live), a.ended, id)
	}
	return all, status
}

// TestEveryRequestIsDecidedOnce also holds limits, deadlines, bounds, orders and
// counts: see auditor.
func TestEveryRequestIsDecidedOnce(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				newAuditor(t, name, drawSettings(t), rapid.Uint64().Draw(t, "seed")).run(drawEvents(t))
			})
		})
	}
}

func TestPoliciesRepeatThemselves(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				s, seed, events := drawSettings(t), rapid.Uint64().Draw(t, "seed"), drawEvents(t)
				once, limits := newAuditor(t, name, s, seed).run(events)
				again, same := newAuditor(t, name, s, seed).run(events)
				if diff := cmp.Diff(once, again) + cmp.Diff(limits, same); diff != "" {
					t.Fatalf("second run differs:\n%s", diff)
				}
			})
		})
	}
}

// TestEventsOnNobodyDoNothing holds for requests that never came or have ended.
func TestEventsOnNobodyDoNothing(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		p := newPolicy(t, name, small(), 1)
		play(t, p, `
			0 finish 1 1: 
			0 cancel 1: 
			0 arrive 1 A: start 1
			0 arrive 1 A: 
			5 finish 1 5: finished 1
			5 finish 1 5: 
			5 cancel 1: 
			9 tick: `)
	}
}
