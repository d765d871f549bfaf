package schedule_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

func admit(t interface{ Fatal(...any) }, s *schedule.Scheduler, now, id int64, tenant string, costs ...int64) {
	if err := s.Admit(now, schedule.Run{ID: id, Tenant: tenant, Pool: "p", Kind: "k", Costs: costs}); err != nil {
		t.Fatal(err)
	}
}

// Without aging, who is picked has attained no more than the other, so afterwards it
// is ahead by its quantum at the most.
func TestTenantsWithPendingItemsStayWithinOneQuantum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := schedule.New(aging)
		costs := func(label string) []int64 { return rapid.SliceOfN(rapid.Int64Range(1, 50), 200, 200).Draw(t, label) }
		for i := range int64(3) {
			admit(t, s, 0, i, fmt.Sprint(i), costs("costs")...)
		}
		dearest := int64(0)
		for range 60 {
			p, ok := s.Pick(0, schedule.Request{Pool: "p", MaxItems: rapid.IntRange(1, 3).Draw(t, "items")})
			if !ok {
				t.Fatal("nothing was picked")
			}
			dearest = max(dearest, p.Cost)
			least, most := int64(math.MaxInt64), int64(0)
			for _, state := range s.Tenants() {
				least, most = min(least, state.Attained), max(most, state.Attained)
			}
			if most-least > dearest {
				t.Fatalf("tenants are %d apart, the dearest quantum cost %d", most-least, dearest)
			}
		}
	})
}

// At every pick by aging the longest wait ends, and every second pick is one while
// anybody has waited too long: with n candidates each is picked within 2n picks.
func TestNoCandidateLosesEveryDecision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := schedule.New(aging)
		n := rapid.Int64Range(2, 8).Draw(t, "runs")
		for id := range n {
			costs := slices.Repeat([]int64{rapid.Int64Range(0, 1000).Draw(t, "cost")}, 500)
			admit(t, s, 0, id, rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "tenant"), costs...)
		}
		last := make([]int, n)
		for i := 1; i < 100; i++ {
			p, ok := s.Pick(int64(i)*aging, schedule.Request{Pool: "p", MaxItems: 1})
			if !ok {
				t.Fatal("nothing was picked")
			}
			last[p.Run] = i
			for run, at := range last {
				if i-at > 2*int(n)+1 {
					t.Fatalf("run %d was not picked in %d picks of %d runs", run, i-at, n)
				}
			}
		}
	})
}

func TestEveryItemIsGrantedOnceAndChargedOnce(t *testing.T) {
	t.Parallel()
	s := schedule.New(aging)
	admit(t, s, 0, 1, "A", slices.Repeat([]int64{3}, 100)...)
	admit(t, s, 0, 2, "B", slices.Repeat([]int64{5}, 100)...)
	seen := map[[2]int64]bool{}
	for now := int64(0); ; now += 700 {
		p, ok := s.Pick(now, schedule.Request{Pool: "p", MaxItems: 7})
		if !ok {
			break
		}
		for _, i := range p.Items {
			key := [2]int64{p.Run, int64(i)}
			if seen[key] {
				t.Errorf("item %d of run %d was granted twice", i, p.Run)
			}
			seen[key] = true
		}
		s.Settle(p.Run, p.Items, p.Cost)
	}
	if len(seen) != 200 {
		t.Errorf("%d items were granted, want 200", len(seen))
	}
	for name, want := range map[string]int64{"A": 300, "B": 500} {
		if state, _ := s.Tenant(name); state.Attained != want || state.Pending != 0 {
			t.Errorf("tenant %s: got %+v, want %d attained and nothing pending", name, state, want)
		}
	}
}

func TestCostsSaturateRatherThanOverflow(t *testing.T) {
	t.Parallel()
	s := schedule.New(aging)
	admit(t, s, 0, 1, "A", math.MaxInt64, math.MaxInt64, 1)
	p, _ := s.Pick(0, schedule.Request{Pool: "p", MaxItems: 2})
	if p.Cost != math.MaxInt64 {
		t.Errorf("got a cost of %d", p.Cost)
	}
	s.Settle(1, slices.Clone(p.Items), math.MaxInt64)
	if state, _ := s.Tenant("A"); state.Attained != math.MaxInt64 {
		t.Errorf("got %d attained", state.Attained)
	}
}

func TestCandidatesAreInTheOrderOfPicksByCost(t *testing.T) {
	t.Parallel()
	s := schedule.New(aging)
	admit(t, s, 0, 1, "A", 5, 5)
	admit(t, s, 0, 2, "A", 5, 5)
	admit(t, s, 0, 3, "B", 1, 1)
	s.Pick(0, schedule.Request{Pool: "p", MaxItems: 1}) // run 1 of A
	if diff := cmp.Diff([]int64{3, 2, 1}, s.Candidates("p", "k", 10)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{3, 2}, s.Candidates("p", "k", 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.Candidates("p", "other", 10); len(got) != 0 {
		t.Errorf("got %v of a kind that nobody has", got)
	}
}

func TestRunsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	s := schedule.New(aging)
	admit(t, s, 0, 1, "A", 1)
	for name, d := range map[string]schedule.Run{
		"known":         {ID: 1, Tenant: "B", Pool: "p", Costs: []int64{1}},
		"empty":         {ID: 2, Tenant: "B", Pool: "p"},
		"negative cost": {ID: 2, Tenant: "B", Pool: "p", Costs: []int64{1, -1}},
	} {
		if err := s.Admit(0, d); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
	if _, ok := s.Tenant("B"); ok {
		t.Error("a refused run made its tenant known")
	}
	if err := s.RestoreTenant(schedule.RestoredTenant{Name: "A"}); err == nil {
		t.Error("a known tenant was restored")
	}
	if err := s.RestoreRun(schedule.RestoredRun{Run: schedule.Run{ID: 9, Tenant: "A", Costs: []int64{1}}, Pending: []int{1}}); err == nil {
		t.Error("a run was restored with an item that it does not have")
	}
}

func TestPickAllocatesNothing(t *testing.T) {
	s, request := backlog(t, 100, 8)
	now := int64(0)
	if got := testing.AllocsPerRun(200, func() {
		now++
		p, ok := s.Pick(now, request)
		if !ok {
			t.Fatal("nothing was picked")
		}
		s.Settle(p.Run, p.Items, p.Cost)
	}); got != 0 {
		t.Errorf("a pick and its settlement allocate %v times", got)
	}
}

// backlog is a scheduler in which so many tenants have so many runs each.
func backlog(t testing.TB, tenants, each int) (*schedule.Scheduler, schedule.Request) {
	t.Helper()
	s := schedule.New(aging)
	id := int64(0)
	for range each {
		for tenant := range tenants {
			id++
			admit(t, s, 0, id, fmt.Sprint(tenant), slices.Repeat([]int64{3}, 1000)...)
		}
	}
	return s, schedule.Request{Pool: "p", Kinds: []string{"k"}, MaxItems: 4}
}

func BenchmarkPick(b *testing.B) {
	for _, tenants := range []int{10, 1000, 5000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			s, request := backlog(b, tenants, 8)
			b.ReportAllocs()
			now := int64(0)
			for b.Loop() {
				now++
				p, ok := s.Pick(now, request)
				if !ok {
					b.Fatal("nothing was picked")
				}
				s.Return(p.Run, p.Items)
			}
		})
	}
}
