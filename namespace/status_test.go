package namespace_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestListGivesNamespacesInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := []string{"a"}
	for _, n := range []string{"m", "b", "z", "c.d", "b1"} {
		w.create(n)
		want = append(want, n)
	}
	slices.Sort(want)
	for _, when := range []string{"at once", "after a restart"} {
		for _, desc := range []bool{false, true} {
			got, after := []string{}, ""
			for more := true; more; {
				var page []api.NamespaceRef
				var err error
				if page, more, err = w.runtime.List(t.Context(), after, desc, 4); err != nil {
					t.Fatal(err)
				}
				for _, r := range page {
					got, after = append(got, r.Name), r.Name
				}
			}
			if desc {
				slices.Reverse(got)
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("%s, desc %v: names (-got +want):\n%s", when, desc, diff)
			}
		}
		// A page goes on behind a name that is gone.
		page, more, err := w.runtime.List(t.Context(), "bzz", false, 1)
		if err != nil || len(page) != 1 || page[0].Name != "c.d" || !more {
			t.Errorf("%s: behind bzz: got %v, more %v, %v; want c.d and more", when, page, more, err)
		}
		w.restart(true)
	}
}

func TestStatsAreThoseOfTheLastTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxPending = 1 })
		w.must(call(put("k", 1)))
		w.must(call(take("k", 0)))
		w.park("k", 20*time.Second, "a")
		s := w.stats()
		if s.Parked != 1 || s.Admitted != 2 || s.Mode != "enforce" || s.Limit != 1 || s.InFlight != 0 {
			t.Errorf("got %+v; want one parked, two admitted", s)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := w.stats().Parked; got != 0 {
			t.Errorf("got %d parked after the wait, want 0", got)
		}
		free := w.occupy()
		w.start(callAs("b", take("k", 0)))
		synctest.Wait()
		w.fails(callAs("c", take("k", 0)), api.RateLimited)
		synctest.Wait() // figures are published at the end of the turn
		s = w.stats()
		if diff := cmp.Diff(s.Refused, map[string]int64{"pending queue full": 1}); diff != "" {
			t.Errorf("refused (-got +want):\n%s", diff)
		}
		if s.Pending != 1 || s.InFlight != 1 {
			t.Errorf("got %d pending, %d in flight; want 1, 1", s.Pending, s.InFlight)
		}
		time.Sleep(3 * time.Second)
		free()
		synctest.Wait()
		s = w.stats()
		var samples uint64
		for _, n := range s.Service.Counts {
			samples += n
		}
		if samples != 2 || s.Service.Sum != 3*time.Second || len(s.Service.Counts) != len(s.Service.Bounds())+1 {
			t.Errorf("got %d samples of %v in all, %d buckets; want 2 of 3s", samples, s.Service.Sum, len(s.Service.Counts))
		}
		if s.Storage.Commits == 0 || s.Storage.CommitTime < 3*time.Second {
			t.Errorf("got %d commits in %v; want some, that took as long as the slow one", s.Storage.Commits, s.Storage.CommitTime)
		}
	})
}

func TestAdmissionShowsAnAdminTheBusiestAndAnybodyItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.park("k", 20*time.Second, "a", "b", "b", "c")
		want := []api.PrincipalStatus{{Principal: "b", Parked: 2}, {Principal: "a", Parked: 1}, {Principal: "c", Parked: 1}}
		if diff := cmp.Diff(w.status().Principals, want); diff != "" {
			t.Errorf("an admin sees (-got +want):\n%s", diff)
		}
		own, err := w.Admission(t.Context(), as("c"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(own.Principals, want[2:]); diff != "" {
			t.Errorf("c sees (-got +want):\n%s", diff)
		}
	})
}

func TestCatalogTellsLimitsAndServices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *namespace.Options) { o.Version = "v1" })
	w.patch(`{"claim_target_ms": 123}`)
	got, err := w.Catalog(t.Context(), namespace.Caller{Principal: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != "v1" || got.Admission.TargetMs != 123 || got.Limits["items"] != 7 || !slices.Equal(got.Services, []string{"depot"}) {
		t.Errorf("got %+v", got)
	}
}

func TestReadyRunsARealOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.runtime.Ready(t.Context()); err != nil {
		t.Errorf("got %v", err)
	}
}

// A namespace whose actor does not come to an end with a message is reported,
// and the node is not ready.
func TestStuckActorMakesTheNodeUnready(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		stuck := make(chan struct{})
		w.t.Cleanup(func() {
			select {
			case <-stuck:
			default:
				close(stuck)
			}
		})
		p := w.start(call(finishing{act: put("k", 1), next: func() namespace.Admitted { <-stuck; return nil }}))
		synctest.Wait()
		time.Sleep(9 * time.Second)
		if err := w.runtime.Ready(t.Context()); err != nil {
			t.Errorf("after 9s: got %v", err)
		}
		time.Sleep(2 * time.Second)
		wantCode(t, w.runtime.Ready(t.Context()), api.NamespaceUnavailable)
		if got := w.runtime.NodeStats().Stuck; !slices.Equal(got, []string{"a"}) {
			t.Errorf("got %v stuck, want a", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.Admission(ctx, me); err == nil {
			t.Error("the status of a stuck namespace came")
		}
		close(stuck)
		if got := p.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		synctest.Wait() // the turn is over a little later than its answer
		if err := w.runtime.Ready(t.Context()); err != nil {
			t.Errorf("afterwards: got %v", err)
		}
	})
}

func TestNodeStatsCountNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 5 })
	w.must(call(put("k", 1)))
	for n := range 3 {
		w.create(fmt.Sprint(n))
	}
	got := w.runtime.NodeStats()
	if got.Namespaces != 4 || got.Active != 1 || got.MaxActive != 5 || got.Activations != 1 || got.Descriptors < 3 {
		t.Errorf("got %+v; want 4 namespaces, one of them active", got)
	}
}

func TestMaxActiveStaysWithinTheDescriptors(t *testing.T) {
	t.Parallel()
	for want, least := range map[int]int{0: 1, 1: 1, 1 << 40: 1} {
		if got := namespace.MaxActive(want); got < least || got > 1<<30 || (want == 0 && got > 10_000) {
			t.Errorf("MaxActive(%d) = %d", want, got)
		}
	}
}
