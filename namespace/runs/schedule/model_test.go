package schedule_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// aging is that of the schedulers under test.
const aging = 5000

// pair is the scheduler beside the naive one, with what has been granted.
type pair struct {
	s      *schedule.Scheduler
	n      *naive
	now    int64
	ids    int64
	quanta []schedule.Pick
}

func newPair() *pair {
	return &pair{s: schedule.New(aging), n: &naive{aged: map[string]bool{}}}
}

// chooser draws a number below n.
type chooser func(label string, n int) int

// step lets both do the same, chosen by draw, and says where they differ.
func (p *pair) step(draw chooser) string {
	p.now += int64(draw("pause", 4)) * int64(draw("length", 2000))
	switch draw("event", 12) {
	case 0, 1:
		return p.admit(draw)
	case 2, 3, 4, 5:
		return p.pick(draw)
	case 6:
		return p.pickFrom(draw)
	case 7, 8:
		p.end(draw, func(r *naiveRun, q schedule.Pick, items []int) {
			actual := int64(draw("actual", 40))
			p.s.Settle(q.Run, items, actual)
			p.n.settle(r, items, actual)
		})
	case 9:
		p.end(draw, func(r *naiveRun, q schedule.Pick, items []int) {
			p.s.Return(q.Run, items)
			p.n.giveBack(r, items)
		})
	case 10:
		p.end(draw, func(r *naiveRun, q schedule.Pick, items []int) {
			p.s.Drop(q.Run, items)
			r.leave(items)
		})
	default:
		p.leave(draw)
	}
	return p.diff()
}

func (p *pair) admit(draw chooser) string {
	p.ids++
	costs := make([]int64, 1+draw("items", 9))
	if draw("many", 20) == 0 {
		costs = make([]int64, 150)
	}
	for i := range costs {
		costs[i] = int64(draw("cost", 12))
	}
	d := schedule.Run{
		ID: p.ids, Tenant: string(rune('A' + draw("tenant", 4))), Pool: string(rune('p' + draw("pool", 2))),
		Kind: string(rune('k' + draw("kind", 3))), Costs: costs,
	}
	if err := p.s.Admit(p.now, d); err != nil {
		return err.Error()
	}
	p.n.admit(p.now, d)
	return p.diff()
}

func (p *pair) pick(draw chooser) string {
	q := schedule.Request{Pool: string(rune('p' + draw("pool", 3))), MaxItems: draw("max items", 6), MaxCost: int64(draw("max cost", 15))}
	for k := range 3 {
		if draw("takes kind", 3) == 0 {
			q.Kinds = append(q.Kinds, string(rune('k'+k)))
		}
	}
	want, wantOK := p.n.pick(p.now, q)
	return p.compare(want, wantOK)(p.s.Pick(p.now, q))
}

func (p *pair) pickFrom(draw chooser) string {
	if len(p.n.runs) == 0 {
		return ""
	}
	r := p.n.runs[draw("run", len(p.n.runs))]
	items, cost := draw("max items", 6), int64(draw("max cost", 15))
	var want schedule.Pick
	ok := r.pending()
	if ok {
		want = p.n.grant(p.now, r, items, cost)
	}
	return p.compare(want, ok)(p.s.PickFrom(p.now, r.ID, items, cost))
}

func (p *pair) compare(want schedule.Pick, wantOK bool) func(schedule.Pick, bool) string {
	return func(got schedule.Pick, ok bool) string {
		if diff := cmp.Diff(want, got); ok != wantOK || diff != "" {
			return "pick (-want +got):\n" + diff
		}
		if ok {
			p.quanta = append(p.quanta, want)
		}
		return p.diff()
	}
}

// end lets f end some items of a quantum.
func (p *pair) end(draw chooser, f func(*naiveRun, schedule.Pick, []int)) {
	if len(p.quanta) == 0 {
		return
	}
	q := p.quanta[draw("quantum", len(p.quanta))]
	r := p.n.run(q.Run)
	if r == nil {
		return
	}
	items := q.Items[draw("from", len(q.Items)):]
	f(r, q, items)
}

// leave cancels a run, and perhaps forgets it.
func (p *pair) leave(draw chooser) {
	if len(p.n.runs) == 0 {
		return
	}
	r := p.n.runs[draw("run", len(p.n.runs))]
	if draw("how", 2) == 0 {
		p.s.Cancel(r.ID)
		p.n.cancel(r)
		return
	}
	p.s.Forget(r.ID)
	p.n.forget(r.ID)
}

func (p *pair) diff() string {
	tenants := map[string]int64{}
	for name, state := range p.s.Tenants() {
		tenants[name] = state.Attained
	}
	want := map[string]int64{}
	for _, t := range p.n.tenants {
		want[t.name] = t.attained
	}
	if diff := cmp.Diff(want, tenants); diff != "" {
		return "tenants (-want +got):\n" + diff
	}
	for _, r := range p.n.runs {
		got, ok := p.s.Run(r.ID)
		if !ok {
			return "a run is not known"
		}
		want := schedule.RunState{Tenant: r.Tenant, Pool: r.Pool, Kind: r.Kind, Attained: r.attained, Waiting: r.waiting}
		var pending []int
		for i, s := range r.state {
			switch s {
			case 'p':
				want.Pending++
				pending = append(pending, i)
			case 'g':
				want.Granted++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return "run (-want +got):\n" + diff
		}
		if diff := cmp.Diff(pending, slices.Collect(p.s.Pending(r.ID))); diff != "" {
			return "pending items (-want +got):\n" + diff
		}
	}
	return ""
}

// restore replaces the scheduler by one made from what can be read of it. Of the
// pools it knows nothing, so that the alternation of aging begins anew.
func (p *pair) restore() string {
	s := schedule.New(aging)
	for name, state := range p.s.Tenants() {
		if err := s.RestoreTenant(schedule.RestoredTenant{Name: name, Attained: state.Attained, Picks: state.Picks}); err != nil {
			return err.Error()
		}
	}
	for _, r := range p.n.runs {
		state, _ := p.s.Run(r.ID)
		d := schedule.RestoredRun{Run: r.Run, Attained: state.Attained, Waiting: state.Waiting, Cancelled: r.cancelled}
		for i, s := range r.state {
			switch s {
			case 'p':
				d.Pending = append(d.Pending, i)
			case 'g':
				d.Granted = append(d.Granted, i)
			}
		}
		if err := s.RestoreRun(d); err != nil {
			return err.Error()
		}
	}
	clear(p.n.aged)
	p.s = s
	// A tenant's last pick may be of a run that is gone, and the numbers go on from
	// the last that is known.
	p.n.picks = 0
	for _, t := range p.n.tenants {
		p.n.picks = max(p.n.picks, t.picks)
	}
	return p.diff()
}

func TestSchedulerDecidesAsItsRulesRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPair()
		draw := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			if wrong := p.step(draw); wrong != "" {
				t.Fatal(wrong)
			}
			if draw("restart", 40) == 0 {
				if wrong := p.restore(); wrong != "" {
					t.Fatal(wrong)
				}
			}
		}
	})
}

// FuzzSchedule takes its choices from the input's bytes.
func FuzzSchedule(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"))
	f.Fuzz(func(t *testing.T, script []byte) {
		p := newPair()
		draw := func(_ string, n int) int {
			if len(script) == 0 {
				return 0
			}
			b := script[0]
			script = script[1:]
			return int(b) % n
		}
		for steps := 0; len(script) > 0 && steps < 300; steps++ {
			if wrong := p.step(draw); wrong != "" {
				t.Fatal(wrong)
			}
		}
	})
}
