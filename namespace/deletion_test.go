package namespace_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestDeletedNamespaceIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.key("worker")
	w.must(call(put("k", 1)))
	if err := w.runtime.Delete(t.Context(), "a"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	w.fails(call(put("k", 1)), api.NotFound)
	_, err := w.Authenticate(t.Context(), key.Secret)
	wantCode(t, err, api.Unauthorized)
	wantCode(t, w.runtime.Delete(t.Context(), "a"), api.NotFound)
	if listed, _ := w.active("a"); listed {
		t.Error("it is still listed")
	}
	w.restart(true)
	w.fails(call(put("k", 1)), api.NotFound)
}

func TestNamespaceOfADeletedNameIsANewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.key("worker")
	caller, err := w.Authenticate(t.Context(), key.Secret)
	if err != nil {
		t.Fatal(err)
	}
	w.must(keyed("key", "body", put("k", 1)))
	w.patch(`{"lease_ms": 5000}`)
	sign := act(func(t *namespace.Turn) (namespace.Answer, error) { return namespace.Answer{Body: t.Sign("x")}, nil })
	signed := w.must(call(sign)).Answer.Body
	if err := w.runtime.Delete(t.Context(), "a"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	w.create("a")

	_, err = w.Authenticate(t.Context(), key.Secret)
	wantCode(t, err, api.Unauthorized)
	// A caller whose key was looked at before the deletion is worth nothing after.
	w.fails(namespace.Call{Class: "depot", Caller: caller, Command: put("k", 1)}, api.Unauthorized)
	_, err = w.Read(t.Context(), "depot", caller, following{"s", 0, 0})
	wantCode(t, err, api.Unauthorized)
	if got := len(w.items()); got != 0 {
		t.Errorf("got %d items of the old one", got)
	}
	if out := w.must(keyed("key", "another body", put("k", 1))); out.Replayed {
		t.Error("an answer of the old one was replayed")
	}
	if got := w.describe(); string(got.Settings["lease_ms"]) != "60000" || got.Epoch != 1 {
		t.Errorf("got lease_ms %s, epoch %d; want 60000, 1", got.Settings["lease_ms"], got.Epoch)
	}
	if got := w.must(call(sign)).Answer.Body; got == signed {
		t.Error("it signs as the old one did")
	}
}

func TestDeletionFinishesWhatIsCommittingAndEndsTheRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(*namespace.Settings) {})
		parked := w.park("k", 20*time.Second, "a")[0]
		var queued, committing *pending
		b := w.hold()
		w.start(callAs("slot", admitted{0, put("other", 1)}))
		synctest.Wait()
		queued = w.start(callAs("c", take("k", 20*time.Second)))
		committing = w.start(call(put("other", 1)))
		read := make(chan int, 1)
		go func() { read <- len(w.watch("s", 20*time.Second, 0)) }()
		synctest.Wait()
		deleted := make(chan error, 1)
		go func() { deleted <- w.runtime.Delete(context.Background(), "a") }()
		synctest.Wait()
		late := w.start(call(put("k", 1)))
		synctest.Wait()
		if parked.over(); !parked.over() || !queued.over() || late.over() || committing.over() {
			t.Errorf("over: parked %v, queued %v, late %v, committing %v; want true, true, false, false",
				parked.over(), queued.over(), late.over(), committing.over())
		}
		b.lift()
		if err := <-deleted; err != nil {
			t.Errorf("delete: %v", err)
		}
		if got := parked.body(); got != nothing {
			t.Errorf("the parked command got %d, want nothing", got)
		}
		_, err := queued.outcome()
		wantCode(t, err, api.Unauthorized)
		if got := committing.body(); got != 2 && got != 1 {
			t.Errorf("what was committing got %d", got)
		}
		if got := <-read; got != 0 {
			t.Errorf("the watching read got %d events, want 0", got)
		}
		_, err = late.outcome()
		wantCode(t, err, api.NotFound)
	})
}

func TestDeletionWhileInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(func(s *namespace.Settings) { s.Durability = "relaxed" }))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 40 {
				_, err := w.Do(t.Context(), call(put("k", 1)))
				if err != nil && !api.IsCode(err, api.NotFound) && !api.IsCode(err, api.Unauthorized) {
					t.Errorf("got error %v", err)
				}
			}
		})
	}
	for range 10 {
		if err := w.runtime.Delete(t.Context(), "a"); err != nil {
			t.Errorf("delete: %v", err)
		}
		if _, err := w.runtime.Create(t.Context(), "a"); err != nil {
			t.Errorf("create: %v", err)
		}
	}
	wg.Wait()
	w.must(call(put("k", 1)))
}

func TestNamesOutsideTheRuleAreRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"", "..", "../a", "a/b", "A", "a b", "x.", ".x", "a\x00b", "é", ":memory:", "con/", string(make([]byte, 64))} {
		n := w.runtime.Namespace(name)
		_, err := w.runtime.Create(t.Context(), name)
		wantCode(t, err, api.InvalidNamespace)
		wantCode(t, w.runtime.Delete(t.Context(), name), api.InvalidNamespace)
		_, err = n.Do(t.Context(), call(put("k", 1)))
		wantCode(t, err, api.InvalidNamespace)
		_, err = n.Authenticate(t.Context(), "x")
		wantCode(t, err, api.InvalidNamespace)
	}
}

func TestRequestForNobodyMakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.runtime.Namespace("nobody")
	_, err := n.Do(t.Context(), call(put("k", 1)))
	wantCode(t, err, api.NotFound)
	_, err = n.Authenticate(t.Context(), "x")
	wantCode(t, err, api.Unauthorized)
	if listed, _ := w.active("nobody"); listed {
		t.Error("it is listed")
	}
	if created, err := w.runtime.Create(t.Context(), "nobody"); err != nil || !created {
		t.Errorf("got created %v, %v; want true", created, err)
	}
}
