package admission

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// gateAuditor checks what a gate promises in whatever mode: each request has
// one life, and what runs is what was started and not finished.
type gateAuditor struct {
	t       *rapid.T
	g       *Gate
	waiting map[ID]bool
	running map[ID]bool
	decided [kinds]uint64
}

// busy returns what waits or runs.
func (a *gateAuditor) busy() []ID {
	return append(slices.Sorted(maps.Keys(a.waiting)), slices.Sorted(maps.Keys(a.running))...)
}

func (a *gateAuditor) step(e event) {
	live := a.waiting[e.id] || a.running[e.id]
	opened := false
	for _, d := range e.apply(a.g) {
		a.decided[d.Kind]++
		// The id may have been live until this event refused it at its deadline.
		own := e.do == "arrive" && d.ID == e.id && !a.waiting[d.ID] && !a.running[d.ID]
		opened = opened || own
		switch {
		case d.Kind == Finished && a.running[d.ID]:
			delete(a.running, d.ID)
		case d.Kind == Start && (own || a.waiting[d.ID]) && !a.running[d.ID]:
			delete(a.waiting, d.ID)
			a.running[d.ID] = true
		case d.Kind == Enqueue && own && !a.waiting[d.ID]:
			a.waiting[d.ID] = true
		case (d.Kind == Refuse || d.Kind == Cancelled) && (own || a.waiting[d.ID]):
			delete(a.waiting, d.ID)
		default:
			a.t.Fatalf("%+v: impossible %+v (waiting %v, running %v)", e, d, a.waiting, a.running)
		}
	}
	if e.do == "arrive" && !live && !opened {
		a.t.Fatalf("%+v: an arrival without a decision", e)
	}
	a.check(e)
}

func (a *gateAuditor) check(e event) {
	c := a.g.Counters()
	if c.Decisions != a.decided {
		a.t.Fatalf("%+v: counted %v, want %v", e, c.Decisions, a.decided)
	}
	var refused uint64
	for _, n := range c.Refused {
		refused += n
	}
	if refused != c.Decisions[Refuse] {
		a.t.Fatalf("%+v: refusals by reason %v, want %d", e, c.Refused, c.Decisions[Refuse])
	}
	if got := a.g.Running(); got != len(a.running) {
		a.t.Fatalf("%+v: running %d, want %d", e, got, len(a.running))
	}
	pending := a.g.Pending()
	switch a.g.Mode() {
	case Enforce:
		if a.g.InFlight() != len(a.running) || pending != len(a.waiting) {
			a.t.Fatalf("%+v: in flight %d, pending %d, want %d, %d", e, a.g.InFlight(), pending, len(a.running), len(a.waiting))
		}
	case Pause:
		if a.g.InFlight() != len(a.running) || pending+len(a.waiting) != 0 {
			a.t.Fatalf("%+v: paused with in flight %d, pending %d, want %d, 0", e, a.g.InFlight(), pending, len(a.running))
		}
	case Shadow:
		if a.g.InFlight()+pending > len(a.running) || len(a.waiting) != 0 {
			a.t.Fatalf("%+v: the controller has %d and %d of %d", e, a.g.InFlight(), pending, len(a.running))
		}
	}
}

func TestGateGivesEachRequestOneLifeInEveryMode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, err := NewGate(drawConfig(t), drawMode(t))
		if err != nil {
			t.Fatal(err)
		}
		a := &gateAuditor{t: t, g: g, waiting: make(map[ID]bool), running: make(map[ID]bool)}
		now := int64(0)
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			now += drawAdvance(t)
			e := drawEvent(t, now, a.busy())
			switch rapid.IntRange(0, 19).Draw(t, "setting") {
			case 0:
				e = event{do: "reconfigure", now: now, config: drawConfig(t)}
			case 1, 2:
				e = event{do: "mode", now: now, mode: drawMode(t)}
			}
			a.step(e)
		}
		for id := range ID(drawnIDs) { // nobody waits after this
			a.step(event{do: "cancel", now: now, id: id})
		}
		for id := range ID(drawnIDs) {
			a.step(event{do: "finish", now: now, id: id})
		}
		if g.Running() != 0 || g.InFlight() != 0 || g.Pending() != 0 || len(g.shadows) != 0 || len(g.controller.principals) != 0 {
			t.Fatalf("after the end: running %d, in flight %d, pending %d", g.Running(), g.InFlight(), g.Pending())
		}
	})
}

func drawMode(t *rapid.T) Mode {
	return rapid.SampledFrom([]Mode{Enforce, Shadow, Pause}).Draw(t, "mode")
}

// TestShadowStepsTheControllerLikeItsOwn drives a bare controller with the
// arrivals and the ends that a shadow promises it, decided by looking into it.
func TestShadowStepsTheControllerLikeItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		g, err := NewGate(cfg, Shadow)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var wait, refuse uint64
		begun := make(map[ID]int64)
		now := int64(0)
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			now += drawAdvance(t)
			e := drawEvent(t, now, slices.Sorted(maps.Keys(begun)))
			e.do = rapid.SampledFrom([]string{"arrive", "finish", "tick"}).Draw(t, "do")
			e.apply(g)
			start, live := begun[e.id]
			switch {
			case e.do == "arrive" && !live:
				begun[e.id] = now
				c.Arrive(now, e.id, e.principal)
			case e.do == "finish" && live:
				delete(begun, e.id)
				c.Tick(now)
				switch r := c.requests[e.id]; {
				case r == nil:
					refuse++
				case r.running:
					c.FinishIn(now, e.id, now-start)
				default:
					wait++
					c.Cancel(now, e.id)
				}
			default:
				c.Tick(now)
			}
			compareShadow(t, e, g, c)
		}
		var got uint64
		for _, n := range g.Counters().WouldRefuse {
			got += n
		}
		if got != refuse || g.Counters().WouldWait != wait {
			t.Fatalf("would refuse %d, would wait %d; want %d, %d", got, g.Counters().WouldWait, refuse, wait)
		}
	})
}

func compareShadow(t *rapid.T, e event, g *Gate, c *Controller) {
	got, _ := g.Average()
	want, _ := c.Average()
	if got != want || g.Limit() != c.Limit() || g.InFlight() != c.InFlight() || g.Pending() != c.Pending() {
		t.Fatalf("%+v: average %v, limit %v, in flight %d, pending %d; want %v, %v, %d, %d", e,
			got, g.Limit(), g.InFlight(), g.Pending(), want, c.Limit(), c.InFlight(), c.Pending())
	}
}

func TestModesAreWrittenAsParsed(t *testing.T) {
	t.Parallel()
	var words []string
	for _, m := range []Mode{Enforce, Shadow, Pause} {
		words = append(words, m.String())
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	if want := []string{"enforce", "shadow", "paused"}; !slices.Equal(words, want) {
		t.Errorf("modes %v, want %v", words, want)
	}
	for _, s := range []string{"", "Enforce", "pause", "unknown"} {
		if _, err := ParseMode(s); !errors.Is(err, ErrUnknownMode) {
			t.Errorf("ParseMode(%q) gives %v, want %v", s, err, ErrUnknownMode)
		}
	}
}
