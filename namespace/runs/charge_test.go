package runs_test

import (
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// A grant charges the estimate, a result what it says that it cost, and what comes back
// is not charged.
func TestAttainedCostFollowsGrantsAndResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 1_000 })
	w.submit("acme", batch(8)) // of cost 10 each
	wantAttained := func(when string, want int64) {
		t.Helper()
		for _, table := range []string{"runs_tenant", "runs_state"} {
			if got := w.number(`SELECT attained FROM ` + table); got != want {
				t.Errorf("%s: %s has attained %d, want %d", when, table, got, want)
			}
		}
	}
	costing := func(r api.ItemResult, cost int64) api.ItemResult {
		r.Cost = &cost
		return r
	}
	q := w.claim("w1")
	wantAttained("after the grant of four", 40)
	if _, err := w.report("w1", q, costing(done("item-0"), 5), costing(broken("item-1"), 100)); err != nil {
		t.Fatal(err)
	}
	wantAttained("after two results", 20+105)
	if _, err := w.report("w1", q, done("item-2")); err != nil {
		t.Fatal(err)
	}
	wantAttained("after a result that says nothing", 20+105)
	w.pass(time.Second)
	wantAttained("after one was lost", 10+105)
	q = w.claim("w1") // items 3 to 6
	wantAttained("after another grant", 50+105)
	if _, err := w.as("w1").ReleaseQuantum(w.ctx(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence}); err != nil {
		t.Fatal(err)
	}
	wantAttained("after it was given back", 10+105)
	w.claim("w1")
	w.pass(time.Second)
	// They had been granted before, and have failed: they stay charged.
	if got := w.number(`SELECT count(*) FROM runs_work WHERE status = 'failed' AND attempts >= 2`); got != 4 {
		t.Fatalf("%d items have failed, want 4", got)
	}
	wantAttained("after four were lost for good", 50+105)
	w.reopen(0)
	wantAttained("after a restart", 50+105)
}
