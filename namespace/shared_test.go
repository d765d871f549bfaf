package namespace_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// counter is a memory that queries may see.
type counter struct {
	n     atomic.Int64
	asked *atomic.Int64
}

func (c *counter) Shared() any {
	c.asked.Add(1)
	return &c.n
}

// countShared is what a query of the class sees of its memory.
func (w *world) countShared(class string) any {
	w.t.Helper()
	var shared any
	_, err := w.Read(w.t.Context(), class, me, ask(func(_ context.Context, v *namespace.View) (namespace.Answer, error) {
		shared = v.Shared()
		return namespace.Answer{}, nil
	}))
	if err != nil {
		w.t.Fatal(err)
	}
	return shared
}

func TestQueriesSeeWhatTheMemoryShares(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	sharing := namespace.Class{Name: "sharing", New: func() any { return &counter{asked: &asked} }}
	w := newWorld(t, func(o *namespace.Options) { o.Classes = append(o.Classes, sharing) })
	w.create("b")
	count := namespace.Call{Class: "sharing", Caller: me, Command: act(func(t *namespace.Turn) (namespace.Answer, error) {
		t.State().(*counter).n.Add(1)
		return namespace.Answer{Body: t.Shared() == any(&t.State().(*counter).n)}, nil
	})}
	for range 3 {
		if same := w.must(count).Answer.Body; same != true {
			t.Errorf("the command sees something else shared than queries do")
		}
	}
	read := func() int64 {
		t.Helper()
		shared, ok := w.countShared("sharing").(*atomic.Int64)
		if !ok {
			t.Fatalf("got %T shared, want a counter", w.countShared("sharing"))
		}
		return shared.Load()
	}
	if got := read(); got != 3 || asked.Load() != 1 {
		t.Errorf("got %d, of memory that was asked %d times; want 3 and once", got, asked.Load())
	}
	if got := w.countShared("depot"); got != nil {
		t.Errorf("a class that shares nothing shares %v", got)
	}
	w.Namespace = w.runtime.Namespace("b")
	if got := read(); got != 0 {
		t.Errorf("got %d in another namespace, want 0", got)
	}
	w.restart(true)
	if got := read(); got != 0 || asked.Load() != 3 {
		t.Errorf("got %d in another activation, of %d that were asked; want 0, 3", got, asked.Load())
	}
}

func TestClassDescribesItselfInTheCatalogForEachTenant(t *testing.T) {
	t.Parallel()
	describing := depot(nil)
	describing.Describe = func(s *namespace.Settings, tenant string, doc *api.Catalog) {
		doc.Limits["lease"] = s.LeaseMs
		doc.Pools[tenant] = api.Pool{InProcess: 3}
		doc.Budgets = s.BudgetsOf(tenant)
	}
	w := newWorld(t, func(o *namespace.Options) { o.Classes = []namespace.Class{describing} })
	w.patch(`{"lease_ms": 4321, "tenants": {"acme": {"budgets": {"runs": 2}}}}`)
	for _, tt := range []struct {
		caller namespace.Caller
		tenant string
		runs   int64
	}{
		{namespace.Caller{Principal: "joe", Tenant: "acme"}, "acme", 2},
		{namespace.Caller{Principal: "acme"}, "acme", 2}, // a principal without tenant is its own
		{namespace.Caller{Principal: "joe"}, "joe", namespace.DefaultSettings().Budgets.Runs},
	} {
		doc, err := w.Catalog(t.Context(), tt.caller)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{"items": 7, "lease": 4321}
		if diff := cmp.Diff(doc.Limits, want); diff != "" {
			t.Errorf("limits (-got +want):\n%s", diff)
		}
		if len(doc.Pools) != 1 || doc.Pools[tt.tenant].InProcess != 3 || doc.Budgets.Runs != tt.runs {
			t.Errorf("%+v: got pools %v, %d runs; want that of %s, %d", tt.caller, doc.Pools, doc.Budgets.Runs, tt.tenant, tt.runs)
		}
	}
}

// emptied deletes all that fill has written.
func emptied(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Exec(`DELETE FROM ns_event`)
	return namespace.Answer{}, err
}

func TestReclaimGivesFreedPagesBackInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(fill(500)))
	if n := w.count(`PRAGMA freelist_count`); n != 0 {
		t.Fatalf("%d pages are free in a file that was filled, want none", n)
	}
	w.must(call(act(emptied)))
	const step = 40
	reclaim := act(func(t *namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, t.Reclaim(step) })
	free, pages := w.count(`PRAGMA freelist_count`), w.count(`PRAGMA page_count`)
	if free < 3*step {
		t.Fatalf("%d pages are free, too few to see anything", free)
	}
	for range 2 { // a statement that was prepared may do otherwise than one that is new
		w.must(call(reclaim))
		nowFree, nowPages := w.count(`PRAGMA freelist_count`), w.count(`PRAGMA page_count`)
		if free-nowFree < step || pages-nowPages < step || free-nowFree > step+2 {
			t.Errorf("reclaimed %d free pages, and the file is %d smaller; want %d", free-nowFree, pages-nowPages, step)
		}
		free, pages = nowFree, nowPages
	}
	for range free/step + 1 {
		w.must(call(reclaim))
	}
	if n := w.count(`PRAGMA freelist_count`); n != 0 {
		t.Errorf("%d pages are still free, want none", n)
	}
	w.must(call(reclaim)) // of nothing
}

func TestReclaimIsRolledBackWithItsCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(fill(500)))
	w.must(call(act(emptied)))
	w.must(call(put("k", 1)))
	free := w.count(`PRAGMA freelist_count`)
	w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
		if err := t.Reclaim(50); err != nil {
			return namespace.Answer{}, err
		}
		return namespace.Answer{}, api.Errorf(api.Conflict, "no")
	})), api.Conflict)
	if got := w.count(`PRAGMA freelist_count`); got != free {
		t.Errorf("%d pages are free, want still %d", got, free)
	}
	if got := len(w.items()); got != 1 {
		t.Errorf("got %d items, want 1", got)
	}
}
