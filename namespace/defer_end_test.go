package namespace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// A deferred command is in memory alone: whatever ends the activation ends it.
func TestEndOfAnActivationAnswersDeferredCallersWithAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(t *testing.T, w *world)
		code api.Code
	}{
		"shutdown": {func(t *testing.T, w *world) {
			if err := w.runtime.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}, api.ShuttingDown},
		"close": {func(t *testing.T, w *world) {
			if err := w.runtime.Close(); err != nil {
				t.Error(err)
			}
		}, api.ShuttingDown},
		"deletion": {func(t *testing.T, w *world) {
			if err := w.runtime.Delete(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}, api.Unauthorized},
		"eviction": {func(t *testing.T, w *world) {
			if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
				t.Error(err)
			}
		}, api.NamespaceUnavailable},
		"a panic in a command": {func(_ *testing.T, w *world) {
			w.fails(call(act(func(*namespace.Turn) (namespace.Answer, error) { panic("boom") })), api.Internal)
		}, api.NamespaceUnavailable},
		"a panic in the actor's turn": {func(_ *testing.T, w *world) {
			w.fails(call(spiteful{put("k", 1)}), api.Internal)
		}, api.NamespaceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
				w.create("b")
				d := &deferral{wait: time.Minute, answer: 1}
				p := w.deferring(d)
				time.Sleep(time.Second)
				tt.end(t, w)
				_, err := p.outcome()
				if e := wantCode(t, err, tt.code); tt.code == api.NamespaceUnavailable && e.RetryAfter == 0 {
					t.Error("no advice when to try again")
				}
				if p.took != time.Second {
					t.Errorf("answered after %v, want 1s", p.took)
				}
				synctest.Wait()
				if !d.d.Gone() {
					t.Error("the caller is not said to be gone")
				}
			})
		})
	}
}

// A command that is at the writer when the activation begins to end comes too late
// to wait for others.
func TestNobodyIsDeferredInANamespaceThatDrains(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		drain func(w *world) error
		code  api.Code
	}{
		"shutdown": {func(w *world) error { return w.runtime.Shutdown(context.Background()) }, api.ShuttingDown},
		"eviction": {func(w *world) error {
			_, err := w.runtime.Namespace("b").Do(context.Background(), call(put("k", 1)))
			return err
		}, api.NamespaceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
				w.create("b")
				b := w.hold()
				p := w.deferring(&deferral{wait: time.Minute, answer: 1})
				done := make(chan error, 1)
				go func() { done <- tt.drain(w) }()
				synctest.Wait()
				b.lift()
				_, err := p.outcome()
				wantCode(t, err, tt.code)
				if p.took != 0 {
					t.Errorf("answered after %v, want at once", p.took)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What the last commit of an activation decides counts, also if its actor is gone
// before it is told of it.
func TestLastCommitOfAnActivationStillResolves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d, later := &deferral{wait: time.Minute, answer: 1}, &deferral{wait: time.Minute, answer: 1}
		p, q := w.deferring(d), w.deferring(later)
		b := w.hold()
		busy, slow := make(chan struct{}), make(chan struct{})
		w.start(call(finishing{act: put("k", 1), next: func() namespace.Admitted { <-busy; return nil }}))
		synctest.Wait()
		w.crowd() // the next two go into a second commit
		w.start(call(laned{namespace.LaneAdmitted, func(*namespace.Turn) (namespace.Answer, error) {
			<-slow
			return namespace.Answer{}, nil
		}}))
		synctest.Wait()
		last := w.start(call(laned{namespace.LaneAdmitted, func(t *namespace.Turn) (namespace.Answer, error) {
			t.Resolve(d.d, namespace.Answer{Body: int64(2)}, nil)
			t.Postpone(later.d, t.Now().Add(time.Second), namespace.Answer{Body: int64(2)}, nil)
			return namespace.Answer{Body: int64(3)}, nil
		}}))
		synctest.Wait()
		b.lift()
		synctest.Wait() // the actor is busy, and the second commit under way
		bad := w.start(call(spiteful{put("k", 1)}))
		synctest.Wait()
		close(slow)
		synctest.Wait()
		close(busy)
		_, err := bad.outcome()
		wantCode(t, err, api.Internal)
		if got := last.body(); got != 3 {
			t.Errorf("got %d, want 3", got)
		}
		p.gets(2, 0)
		_, err = q.outcome()
		wantCode(t, err, api.NamespaceUnavailable)
	})
}

func TestRevokedKeyEndsADeferral(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		key := w.key("worker")
		caller, err := w.Authenticate(t.Context(), key.Secret)
		if err != nil {
			t.Fatal(err)
		}
		d := &deferral{wait: time.Minute}
		p := w.start(namespace.Call{Class: "depot", Caller: caller, Command: d})
		synctest.Wait()
		if err := w.RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		_, err = p.outcome()
		wantCode(t, err, api.Unauthorized)
		if !d.d.Gone() {
			t.Error("the caller is not said to be gone")
		}
	})
}

// An answer that came from another command is stored for no key: the next request
// with it runs anew.
func TestDeferredAnswerIsNotKeptForItsKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := &deferral{wait: time.Minute}
		first := w.start(keyed("key", "body", d))
		synctest.Wait()
		e := w.fails(keyed("key", "body", &deferral{}), api.IdempotencyInProgress)
		if e.RetryAfter == 0 {
			t.Error("no advice when to try again")
		}
		w.fails(keyed("key", "other body", &deferral{}), api.IdempotencyConflict)
		w.must(call(resolve(d, 1)))
		first.gets(1, 0)
		if n := w.count(`SELECT count(*) FROM ns_idempotency`); n != 0 {
			t.Errorf("%d answers are stored, want none", n)
		}
		again := &deferral{wait: 2 * time.Second, answer: 5}
		out := w.must(keyed("key", "other body", again))
		if out.Replayed || out.Answer.Body != int64(5) {
			t.Errorf("got %v, replayed %v; want 5, anew", out.Answer.Body, out.Replayed)
		}
	})
}

func TestKeyOfADeferredCallerWhoHasGoneIsFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(keyed("key", "body", &deferral{wait: time.Hour}))
		synctest.Wait()
		p.cancel()
		synctest.Wait()
		if out := w.must(keyed("key", "other body", &deferral{answer: 5})); out.Answer.Body != int64(5) {
			t.Errorf("got %v, want 5", out.Answer.Body)
		}
	})
}
