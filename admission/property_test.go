package admission

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// pair steps a controller beside its model, under an auditor.
type pair struct {
	t     rapid.TB
	c     *Controller
	m     *model
	audit *auditor
}

func newPair(t rapid.TB, cfg Config) *pair {
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{t: t, c: c, m: newModel(cfg), audit: newAuditor(c, cfg, t.Fatalf)}
}

func (p *pair) step(e event) {
	p.t.Helper()
	got := e.apply(p.c)
	if diff := cmp.Diff(got, e.apply(p.m), cmpopts.EquateEmpty()); diff != "" {
		p.t.Fatalf("%+v: (-got +want)\n%s", e, diff)
	}
	p.audit.observe(e, got)
	var names []string
	for _, q := range ring(p.c) {
		names = append(names, q.name)
	}
	if diff := cmp.Diff(names, p.m.ring, cmpopts.EquateEmpty()); diff != "" {
		p.t.Fatalf("%+v: ring (-got +want)\n%s", e, diff)
	}
	if average, _ := p.c.Average(); p.c.Limit() != p.m.limit || average != p.m.average {
		p.t.Fatalf("%+v: limit %v, average %v; want %v, %v", e, p.c.Limit(), average, p.m.limit, p.m.average)
	}
	p.checkWaits(e.now)
}

func (p *pair) checkWaits(now int64) {
	var wait int64
	deadline, ok := int64(0), len(p.m.waiting) > 0
	for i, r := range p.m.waiting {
		wait = max(wait, now-r.arrived)
		if i == 0 || r.deadline < deadline {
			deadline = r.deadline
		}
	}
	if got := p.c.OldestWait(now); got != wait {
		p.t.Fatalf("oldest wait %d, want %d", got, wait)
	}
	if got, some := p.c.NextDeadline(); got != deadline || some != ok {
		p.t.Fatalf("next deadline %d, %v, want %d, %v", got, some, deadline, ok)
	}
}

// drain ends everything, after which no request may be left in any state.
func (p *pair) drain(now int64) {
	for len(p.c.requests) > 0 {
		p.step(event{do: "finish", now: now, id: slices.Min(running(p.c))})
	}
	if len(p.c.principals) != 0 || p.audit.opened != p.audit.ended {
		p.t.Fatalf("after the end: %d principals, %d requests taken in, %d ended", len(p.c.principals), p.audit.opened, p.audit.ended)
	}
}

func live(c *Controller) []ID { return slices.Sorted(maps.Keys(c.requests)) }

func running(c *Controller) []ID {
	return slices.DeleteFunc(live(c), func(id ID) bool { return !c.requests[id].running })
}

func TestControllerAgreesWithModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t, drawConfig(t))
		now := int64(0)
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			now += drawAdvance(t)
			e := drawEvent(t, now, live(p.c))
			if rapid.IntRange(0, 39).Draw(t, "reconfigure") == 0 {
				e = event{do: "reconfigure", now: now, config: drawConfig(t)}
			}
			p.step(e)
		}
		p.drain(now)
	})
}

// TestFullQueueAgreesWithModel keeps the queue full of few principals, among
// whom ties for the most are common.
func TestFullQueueAgreesWithModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t, Config{
			Initial: 1, Max: 1, Pending: rapid.IntRange(4, 12).Draw(t, "pending"), Target: 10, MaxWait: 1000,
		})
		now := int64(0)
		for id := range ID(rapid.IntRange(1, 150).Draw(t, "events")) {
			now++
			e := event{do: "arrive", now: now, id: id}
			e.principal = rapid.SampledFrom([]string{"A", "A", "A", "B", "B", "B", "C", "D"}).Draw(t, "principal")
			if rapid.IntRange(0, 3).Draw(t, "end") == 0 && len(p.c.requests) > 0 {
				e.do = rapid.SampledFrom([]string{"finish", "cancel"}).Draw(t, "do")
				e.id = rapid.SampledFrom(live(p.c)).Draw(t, "live")
			}
			p.step(e)
		}
	})
}

func TestControllerRepeatsItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		now := int64(0)
		events := make([]event, rapid.IntRange(1, 60).Draw(t, "events"))
		for i := range events {
			now += drawAdvance(t)
			events[i] = drawEvent(t, now, nil)
		}
		if diff := cmp.Diff(decisionsOf(t, cfg, events), decisionsOf(t, cfg, events)); diff != "" {
			t.Fatalf("second run differs:\n%s", diff)
		}
	})
}

func decisionsOf(t rapid.TB, cfg Config, events []event) []Decision {
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var all []Decision
	for _, e := range events {
		all = append(all, e.apply(c)...)
	}
	return all
}

// FuzzController reads two bytes an event: what happens and to whom, in a
// configuration chosen by the first byte.
func FuzzController(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 64, 1, 128, 9})
	f.Add([]byte("admission of requests in turn, first come first served within each"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || len(b) > 1000 {
			t.Skip()
		}
		p := newPair(t, Config{
			Initial: 1 + int(b[0]>>6), Max: 4, Pending: int(b[0] & 7), Target: 8, Interval: int64(b[0] >> 3 & 7),
			MaxWait: 20, StaleAfter: 40, Second: 10,
		})
		now := int64(0)
		for i := 1; i+1 < len(b); i += 2 {
			now += int64(b[i] >> 4 & 3)
			kinds := [...]string{"arrive", "arrive", "arrive", "finish", "finish in", "discard", "cancel", "tick"}
			p.step(event{
				do: kinds[b[i]&7], now: now,
				id: ID(b[i+1] & 15), principal: string('A' + rune(b[i+1]>>4&3)), service: int64(b[i+1]) - 20,
			})
		}
		p.drain(now)
	})
}
