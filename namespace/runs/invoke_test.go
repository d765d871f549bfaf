package runs_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// bubble runs a test that may wait until nothing moves any more.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// invocation is what a singular call came to.
type invocation struct {
	w    *world
	done chan struct{}
	doc  api.Invoked
	err  error
}

// invoke makes a singular call, and comes back when it waits or has its answer.
func (w *world) invoke(ctx context.Context, tenant, scorer string) *invocation {
	i := &invocation{w: w, done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.doc, i.err = w.as(tenant).Invoke(ctx, api.InvokeSpec{Kind: "call", Scorer: scorer, Input: json.RawMessage(`{ "of": "` + tenant + `" }`)})
	}()
	synctest.Wait()
	return i
}

// over reports whether the call has its answer.
func (i *invocation) over() bool {
	synctest.Wait()
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

// wantCode asserts that the call failed.
func (i *invocation) wantCode(want api.Code) *api.Error {
	i.w.t.Helper()
	if !i.over() {
		i.w.t.Fatalf("the call has no answer, want %s", want)
	}
	return code(i.w.t, i.err, want)
}

// slot asks for a quantum of a pool for a slot that is free now; nil if there is none.
func (w *world) slot(worker, pool string) *api.Quantum {
	w.t.Helper()
	q, err := w.as(worker).ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: pool})
	if err != nil {
		w.t.Fatalf("claim: %v", err)
	}
	return q.Quantum
}

// lapse lets time go by in a bubble.
func (w *world) lapse(d time.Duration) {
	w.clock.Advance(d)
	synctest.Wait()
}

func TestCallGoesToAWorkerOfItsPool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for _, c := range []struct{ scorer, pool, other string }{{"", "default", "slow"}, {"light", "default", "slow"}, {"heavy", "slow", "default"}} {
			call := w.invoke(t.Context(), "acme", c.scorer)
			if q := w.slot("w1", c.other); q != nil {
				t.Errorf("scorer %q: the pool %s got %+v", c.scorer, c.other, q)
			}
			q := w.slot("w1", c.pool)
			want := &api.Quantum{
				ID: q.ID, Fence: q.Fence, Kind: "call", Scorer: c.scorer, Shared: json.RawMessage(`{}`), TimeoutMs: 10_000,
				Items:     []api.QuantumItem{{ID: "item-0", AttemptCount: 1, Payload: json.RawMessage(`{"of":"acme"}`)}},
				ExpiresAt: w.clock.Now().Add(15 * time.Second), TTLMs: 15_000, // its limit and five seconds
			}
			if diff := cmp.Diff(want, q); diff != "" {
				t.Errorf("quantum (-want +got):\n%s", diff)
			}
			if call.over() {
				t.Fatal("the call was answered before its worker reported")
			}
			got := w.commit("w1", q)
			if !slices.Equal(got.Committed, []string{"item-0"}) || got.Run != nil {
				t.Errorf("commit: got %+v", got)
			}
			if !call.over() || call.err != nil || call.doc.Status != api.ItemSucceeded || string(call.doc.Result) != `{"of":"item-0"}` {
				t.Errorf("got %+v and %v", call.doc, call.err)
			}
			_, err := w.tryCommit("w1", q)
			code(t, err, api.StaleFence)
		}
	})
}

func TestCallWithoutAFreeSlotIsRefusedAfterItsWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		call := w.invoke(t.Context(), "acme", "")
		w.lapse(999 * time.Millisecond)
		if call.over() {
			t.Fatalf("got %v before the wait was over", call.err)
		}
		w.lapse(time.Millisecond)
		if e := call.wantCode(api.RateLimited); e.Reason != "no free slot" || e.RetryAfter < time.Second {
			t.Errorf("got reason %q and retry after %v", e.Reason, e.RetryAfter)
		}
		if q := w.slot("w1", "default"); q != nil {
			t.Errorf("the call was granted to a worker: %+v", q)
		}
	})
}

func TestCallOverItsTimeLimitIsAnsweredAndItsResultIgnored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		call := w.invoke(t.Context(), "acme", "")
		q := w.slot("w1", "default")
		w.lapse(9_999 * time.Millisecond)
		if beat, err := w.as("w1").HeartbeatQuantum(w.ctx(), q.ID, api.HeartbeatSpec{Fence: q.Fence}); err != nil || beat.CancelRequested || call.over() {
			t.Fatalf("within the limit: got %+v and %v", beat, err)
		}
		w.lapse(time.Millisecond)
		if got := call.wantCode(api.ItemTimeout).Code.Status(); got != 504 {
			t.Errorf("got status %d", got)
		}
		w.ignored(q)
	})
}

func TestCallerThatGoesAwayIsWorkedForNoMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for _, granted := range []bool{false, true} {
			ctx, leave := context.WithCancel(t.Context())
			call := w.invoke(ctx, "acme", "")
			var q *api.Quantum
			if granted {
				q = w.slot("w1", "default")
			}
			leave()
			if !call.over() || call.err == nil {
				t.Fatalf("got %+v", call.doc)
			}
			if granted {
				w.ignored(q)
			}
			if q := w.slot("w1", "default"); q != nil {
				t.Errorf("granted before: %t; a worker still got %+v", granted, q)
			}
		}
	})
}

// ignored asserts that nobody wants what comes of a call.
func (w *world) ignored(q *api.Quantum) {
	w.t.Helper()
	beat, err := w.as("w1").HeartbeatQuantum(w.ctx(), q.ID, api.HeartbeatSpec{Fence: q.Fence})
	if err != nil || !beat.CancelRequested {
		w.t.Errorf("heartbeat: got %+v and %v, want the worker told", beat, err)
	}
	got := w.commit("w1", q)
	if diff := cmp.Diff([]api.IgnoredItem{{ID: "item-0", Reason: "cancelled"}}, got.Ignored); diff != "" || len(got.Committed) != 0 {
		w.t.Errorf("commit: got %+v", got)
	}
	if n := w.slot("w2", "default"); n != nil {
		w.t.Errorf("another worker got %+v", n)
	}
}

func TestWhatAWorkerReportsIsTheCallsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		call := w.invoke(t.Context(), "acme", "")
		if _, err := w.report("w1", w.slot("w1", "default"), broken("item-0")); err != nil {
			t.Fatal(err)
		}
		if !call.over() || call.err != nil || call.doc.Status != api.ItemFailed || call.doc.Error.Code != "odd" || call.doc.Result != nil {
			t.Errorf("failed: got %+v and %v", call.doc, call.err)
		}
		call = w.invoke(t.Context(), "acme", "")
		late := api.ItemResult{ID: "item-0", Status: api.ItemFailed, Error: &api.Failure{Code: "item_timeout", Message: "too slow"}}
		if _, err := w.report("w1", w.slot("w1", "default"), late); err != nil {
			t.Fatal(err)
		}
		call.wantCode(api.ItemTimeout)

		call = w.invoke(t.Context(), "acme", "")
		q := w.slot("w1", "default")
		if got := w.commit("w1", q, "elsewhere"); len(got.Committed) != 0 || got.Ignored[0].Reason != "unknown" || call.over() {
			t.Errorf("of another item: got %+v", got)
		}
		w.commit("w1", q, "item-0")
		if !call.over() || call.err != nil {
			t.Errorf("got %v", call.err)
		}
	})
}

func TestCallOfALostWorkerGoesBackAsOftenAsItsKindAllows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 2_000 })
		call := w.invoke(t.Context(), "acme", "")
		old := w.slot("w1", "default")
		w.lapse(2 * time.Second)
		fresh := w.slot("w2", "default")
		if fresh == nil || fresh.Items[0].AttemptCount != 2 || fresh.Fence <= old.Fence {
			t.Fatalf("got %+v, want the second attempt", fresh)
		}
		_, err := w.tryCommit("w1", old)
		code(t, err, api.StaleFence)
		w.lapse(2 * time.Second)
		if !call.over() || call.err != nil || call.doc.Status != api.ItemFailed || call.doc.Error.Code != "worker_lost" {
			t.Errorf("got %+v and %v, want worker_lost", call.doc, call.err)
		}

		call = w.invoke(t.Context(), "acme", "")
		w.slot("w1", "default")
		w.lapse(2 * time.Second) // it waits again, as long as a new one
		w.lapse(999 * time.Millisecond)
		if call.over() {
			t.Fatalf("got %v before the second wait was over", call.err)
		}
		w.lapse(time.Millisecond)
		call.wantCode(api.RateLimited)
	})
}

func TestCallThatIsGivenBackLosesNoAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		call := w.invoke(t.Context(), "acme", "")
		for range 3 {
			q := w.slot("w1", "default")
			got, err := w.as("w1").ReleaseQuantum(w.ctx(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence})
			if err != nil || !slices.Equal(got.Returned, []string{"item-0"}) || got.Run != nil {
				t.Fatalf("release: got %+v and %v", got, err)
			}
			q = w.slot("w1", "default")
			if _, err := w.as("w1").CommitQuantum(w.ctx(), q.ID, api.CommitSpec{Fence: q.Fence, Done: true}); err != nil {
				t.Fatalf("commit of nothing: %v", err)
			}
		}
		w.commit("w1", w.slot("w1", "default"))
		if !call.over() || call.err != nil {
			t.Errorf("got %v", call.err)
		}
	})
}

func TestEveryPoolHasItsOwnRoomForCallsThatWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var calls []*invocation
		for range 1_000 {
			calls = append(calls, w.invoke(t.Context(), "flood", "heavy"))
		}
		if calls[999].over() {
			t.Fatalf("the last one: %v", calls[999].err)
		}
		w.invoke(t.Context(), "acme", "heavy").wantCode(api.RateLimited)
		quick := w.invoke(t.Context(), "acme", "")
		w.commit("w1", w.slot("w1", "default"))
		if !quick.over() || quick.err != nil {
			t.Errorf("a quick call beside the flood: %v", quick.err)
		}
		w.lapse(time.Second)
		for _, call := range calls {
			call.wantCode(api.RateLimited)
		}
		again := w.invoke(t.Context(), "acme", "heavy")
		w.commit("w1", w.slot("w1", "slow"))
		if !again.over() || again.err != nil {
			t.Errorf("after the flood: %v", again.err)
		}
	})
}
