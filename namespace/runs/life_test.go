package runs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

func TestRunGoesFromQueuedToCompleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(5))
	if r.Status != api.RunQueued || r.Progress != (api.Progress{Total: 5, Pending: 5}) || r.LastEventSequence != 1 {
		t.Fatalf("got %+v, want a queued run", r)
	}
	first := w.claim("w1")
	if got := len(first.Items); got != 4 || *first.Run != r.ID {
		t.Fatalf("got %d items of run %s, want 4 of %s", got, *first.Run, r.ID)
	}
	if got := string(first.Items[3].Payload); got != `{"n":3}` || first.Items[3].ID != "item-3" || first.Items[3].AttemptCount != 1 {
		t.Errorf("got item %+v with payload %s", first.Items[3], got)
	}
	if got := w.run("acme", r.ID); got.Status != api.RunRunning || got.Progress.Running != 4 || got.StartedAt == nil {
		t.Errorf("got %+v, want a running run", got)
	}
	second := w.claim("w2")
	w.idle()
	if c := w.commit("w1", first, "item-0", "item-1"); len(c.Committed) != 2 || c.Run.Progress.Succeeded != 2 {
		t.Errorf("got %+v, want two committed", c)
	}
	w.commit("w1", first, "item-2", "item-3")
	c := w.commit("w2", second)
	if c.Run.Status != api.RunCompleted || c.Run.EndedAt == nil {
		t.Errorf("got %+v, want a completed run", c.Run)
	}
	want := []string{
		"run.queued", "run.started", "item.succeeded", "item.succeeded", "item.succeeded", "item.succeeded",
		"item.succeeded", "run.completed",
	}
	if diff := cmp.Diff(want, w.events("acme", r.ID)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := w.number(`SELECT count(*) FROM runs_quantum`) + w.number(`SELECT sum(runs + items + bytes) FROM runs_tenant`); n != 0 {
		t.Errorf("%d quanta and reservations are left", n)
	}
}

func TestStatusSaysHowManyItemsSucceeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failed int
		want   api.RunStatus
	}{{0, api.RunCompleted}, {1, api.RunCompletedWithErrors}, {2, api.RunFailed}} {
		w := newWorld(t)
		r := w.submit("acme", batch(2))
		q := w.claim("w1")
		spec := api.CommitSpec{Fence: q.Fence}
		for i, item := range q.Items {
			result := done(item.ID)
			if i < c.failed {
				result = api.ItemResult{ID: item.ID, Status: api.ItemFailed, Error: &api.Failure{Code: "odd", Message: "no"}}
			}
			spec.Results = append(spec.Results, result)
		}
		if _, err := w.as("w1").CommitQuantum(w.ctx(), q.ID, spec); err != nil {
			t.Fatal(err)
		}
		if got := w.run("acme", r.ID).Status; got != c.want {
			t.Errorf("with %d failed: got %s, want %s", c.failed, got, c.want)
		}
		items := w.items("acme", r.ID)
		if c.failed > 0 && (items[0].Error == nil || items[0].Error.Code != "odd" || items[0].Result != nil) {
			t.Errorf("got %+v, want the worker's error", items[0])
		}
	}
}

func TestCommitSentAgainCountsAsCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(2))
	q := w.claim("w1")
	for range 2 {
		if c := w.commit("w1", q); !slices.Equal(c.Committed, []string{"item-0", "item-1"}) || len(c.Ignored) != 0 || c.Run.ID != r.ID {
			t.Fatalf("got %+v, want both committed", c)
		}
	}
	if got := len(w.events("acme", r.ID)); got != 5 {
		t.Errorf("there are %d events, want 5", got)
	}
}

func TestLostItemsGoBackAndTheOldFenceIsStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 1_000 })
	r := w.submit("acme", batch(2))
	old := w.claim("w1")
	w.commit("w1", old, "item-0")
	w.pass(time.Second)
	if got := w.run("acme", r.ID).Progress; got != (api.Progress{Total: 2, Pending: 1, Succeeded: 1}) {
		t.Fatalf("got %+v, want the open item pending again", got)
	}
	_, err := w.tryCommit("w1", old, "item-1")
	code(t, err, api.StaleFence)
	fresh := w.claim("w2")
	if fresh.Fence <= old.Fence || len(fresh.Items) != 1 || fresh.Items[0].AttemptCount != 2 {
		t.Errorf("got %+v, want item-1 for the second time", fresh)
	}
	c := w.commit("w1", old) // also what it committed before
	if diff := cmp.Diff([]api.IgnoredItem{{ID: "item-1", Reason: "stale_fence"}}, c.Ignored); diff != "" || !slices.Equal(c.Committed, []string{"item-0"}) {
		t.Errorf("got %+v", c)
	}
	w.commit("w2", fresh)
	want := []string{"run.queued", "run.started", "item.succeeded", "item.returned", "item.succeeded", "run.completed"}
	if diff := cmp.Diff(want, w.events("acme", r.ID)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestItemOfLostWorkersFailsAfterItsAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 1_000 })
	r := w.submit("acme", batch(1))
	for range 2 {
		w.claim("w1")
		w.pass(time.Second)
	}
	if got := w.run("acme", r.ID); got.Status != api.RunFailed {
		t.Fatalf("got %+v, want a failed run", got)
	}
	if got := w.items("acme", r.ID)[0]; got.Error == nil || got.Error.Code != "worker_lost" || got.AttemptCount != 2 {
		t.Errorf("got %+v, want worker_lost after two attempts", got)
	}
}

func TestHeartbeatsProlongALeaseUpToTheItemsTimeLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 5_000 })
	r := w.submit("acme", batch(1))
	for attempt := range 2 {
		q := w.claim("w1")
		for range 4 {
			w.pass(3_500 * time.Millisecond)
			if _, err := w.as("w1").HeartbeatQuantum(w.ctx(), q.ID, api.HeartbeatSpec{Fence: q.Fence}); err != nil {
				t.Fatalf("attempt %d: %v", attempt, err)
			}
		}
		w.pass(time.Second) // 15 s: the item's limit and five seconds
		_, err := w.as("w1").HeartbeatQuantum(w.ctx(), q.ID, api.HeartbeatSpec{Fence: q.Fence})
		code(t, err, api.StaleFence)
	}
	if got := w.items("acme", r.ID)[0]; got.Error == nil || got.Error.Code != "item_timeout" {
		t.Errorf("got %+v, want item_timeout", got)
	}
}

func TestDoneAndReleaseGiveTheRestBackWithoutAnAttemptLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(3))
	for range 5 {
		q := w.claim("w1")
		released, err := w.as("w1").ReleaseQuantum(w.ctx(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence})
		if err != nil || len(released.Returned) != 3 {
			t.Fatalf("got %+v and %v, want three back", released, err)
		}
	}
	q := w.claim("w1")
	spec := api.CommitSpec{Fence: q.Fence, Results: []api.ItemResult{done("item-1")}, Done: true}
	if _, err := w.as("w1").CommitQuantum(w.ctx(), q.ID, spec); err != nil {
		t.Fatal(err)
	}
	if got := w.run("acme", r.ID).Progress; got != (api.Progress{Total: 3, Pending: 2, Succeeded: 1}) {
		t.Errorf("got %+v, want two pending", got)
	}
	_, err := w.as("w1").ReleaseQuantum(w.ctx(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence})
	code(t, err, api.StaleFence)
}

func TestCancelEndsPendingItemsAtOnceAndRunningOnesWhenTheyReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(6))
	q := w.claim("w1")
	w.commit("w1", q, "item-0")
	got, err := w.as("acme").Cancel(w.ctx(), r.ID)
	if err != nil || got.Status != api.RunRunning || !got.CancelRequested || got.Progress.Cancelled != 2 {
		t.Fatalf("got %+v and %v, want a run that is being cancelled", got, err)
	}
	beat, err := w.as("w1").HeartbeatQuantum(w.ctx(), q.ID, api.HeartbeatSpec{Fence: q.Fence})
	if err != nil || !beat.CancelRequested {
		t.Errorf("got %+v and %v, want the worker told", beat, err)
	}
	c := w.commit("w1", q)
	if !slices.Equal(c.Committed, []string{"item-0"}) || len(c.Ignored) != 3 || c.Ignored[0].Reason != "cancelled" {
		t.Errorf("got %+v, want three ignored as cancelled", c)
	}
	if c.Run.Status != api.RunCancelled || c.Run.CancelRequested {
		t.Errorf("got %+v, want a cancelled run", c.Run)
	}
	if got := w.items("acme", r.ID)[1]; got.Status != api.ItemCancelled || got.Result != nil {
		t.Errorf("got %+v, want no result kept", got)
	}
	if n := w.number(`SELECT sum(runs + items + bytes) FROM runs_tenant`); n != 0 {
		t.Errorf("%d is reserved after the end", n)
	}
	if again, err := w.as("acme").Cancel(w.ctx(), r.ID); err != nil || again.Status != api.RunCancelled {
		t.Errorf("got %+v and %v, want the second cancel to be fine", again, err)
	}
	w.idle()
}

func TestCancelOfAnEndedRunIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(1))
	w.commit("w1", w.claim("w1"))
	_, err := w.as("acme").Cancel(w.ctx(), r.ID)
	code(t, err, api.RunTerminal)
}

func TestRestartKeepsLeasesAndWhatWasAttained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.submit("a", batch(8)), w.submit("b", batch(8))
	first := w.claim("w1")
	w.reopen(time.Second)
	// b has attained less, then both are level and a was picked longest ago.
	for n, want := range []string{b.ID, a.ID, b.ID} {
		if q := w.claim("w2"); *q.Run != want {
			t.Fatalf("pick %d: got run %s, want %s", n, *q.Run, want)
		}
	}
	w.idle() // the first quantum is still held
	w.commit("w1", first)
	if got := w.run("a", a.ID).Progress; got != (api.Progress{Total: 8, Running: 4, Succeeded: 4}) {
		t.Errorf("got %+v", got)
	}
}

func TestClockThatSteppedBackProlongsNoLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 5_000 })
	w.submit("acme", batch(1))
	w.claim("w1")
	w.reopen(-time.Hour)
	w.idle()
	w.pass(5 * time.Second)
	w.claim("w2")
}

func TestRunThatWaitsSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.submit("a", batch(4))
	w.pass(2 * time.Second)
	if got := w.run("a", a.ID).WaitingFor; got == nil || got.Reason != "worker" || got.ForMs != 2000 {
		t.Fatalf("got %+v, want two seconds for a worker", got)
	}
	w.claim("w1")
	if got := w.run("a", a.ID).WaitingFor; got != nil {
		t.Errorf("got %+v of a run that is worked on", got)
	}
	w.pass(time.Millisecond)
	b, c := w.submit("b", batch(4)), w.submit("c", batch(4))
	if got := w.run("b", b.ID).WaitingFor; got == nil || got.Reason != "slot" {
		t.Errorf("got %+v, want slot", got)
	}
	w.pass(time.Millisecond)
	w.claim("w2")
	if got := w.run("c", c.ID).WaitingFor; got == nil || got.Reason != "turn" {
		t.Errorf("got %+v, want turn", got)
	}
}

func TestWaitingRequestIsServedWhenARunComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := make(chan api.Quanta)
	wait := int64(20_000)
	go func() {
		q, err := w.as("w1").ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable, Kinds: []string{"other", "work"}, WaitMs: &wait})
		if err != nil {
			t.Error(err)
		}
		got <- q
	}()
	w.parked(1)
	r := w.submit("acme", batch(1))
	if q := <-got; q.Quantum == nil || *q.Quantum.Run != r.ID {
		t.Errorf("got %+v, want the run's quantum", q)
	}
}

// parked waits until so many requests are parked.
func (w *world) parked(n int) {
	w.t.Helper()
	for {
		s, err := w.ns.Admission(w.ctx(), namespace.Caller{Principal: "test"})
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Parked == n {
			return
		}
	}
}

func TestNobodyElseCanUseAQuantum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit("acme", batch(1))
	q := w.claim("w1")
	_, err := w.tryCommit("w2", q)
	code(t, err, api.NotFound)
	q.Fence++
	_, err = w.tryCommit("w1", q)
	code(t, err, api.StaleFence)
}

func TestPagesOfResultsComeInEitherOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(4))
	q := w.claim("w1")
	for _, id := range []string{"item-2", "item-0", "item-3"} {
		w.commit("w1", q, id)
	}
	for _, c := range []struct {
		input bool
		want  []int
	}{{false, []int{2, 0, 3}}, {true, []int{0, 2, 3}}} {
		var got []int
		for page := (runs.Page{Limit: 2}); ; {
			p, err := w.as("acme").Results(w.ctx(), r.ID, c.input, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range p.Data {
				got = append(got, item.InputIndex)
			}
			if p.NextCursor == nil {
				break
			}
			page.Cursor = *p.NextCursor
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("input order %t: got %v, want %v", c.input, got, c.want)
		}
	}
}
