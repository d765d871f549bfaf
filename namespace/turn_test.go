package namespace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestTurnTellsWhoAsksAndWhenItCame(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.patch(`{"lease_ms": 4321}`)
		b := w.hold()
		began := time.Now()
		var waited, late time.Duration
		var caller namespace.Caller
		var lease int64
		c := keyed("key", "body", act(func(t *namespace.Turn) (namespace.Answer, error) {
			waited, late = t.Now().Sub(t.Received()), t.Received().Sub(began)
			caller, lease = t.Caller(), t.Settings().LeaseMs
			if t.Idempotency().Key != "key" || t.Namespace() != "a" || t.Now().Location() != time.UTC {
				return namespace.Answer{}, api.Errorf(api.Conflict, "key %q in %s", t.Idempotency().Key, t.Namespace())
			}
			return put("k", 1)(t)
		}))
		p := w.start(c)
		time.Sleep(3 * time.Second)
		b.lift()
		p.body()
		if waited != 3*time.Second || late >= time.Millisecond || late <= -time.Millisecond {
			t.Errorf("received %v after it was sent and %v before it ran, want at once and 3s", late, waited)
		}
		if caller.Principal != "me" || caller.Tenant != "me" || lease != 4321 {
			t.Errorf("got caller %+v, lease %d; want me of tenant me, 4321", caller, lease)
		}
	})
}

// spiteful is a command that panics where the runtime asks for its lane, which
// is in the actor's turn.
type spiteful struct{ act }

func (spiteful) Lane() namespace.Lane { panic("boom") }

func TestPanicInTheActorsTurnFailsItsRequestAndTellsTheOthersToComeBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		parked := w.park("none", 20*time.Second, "a")[0]
		busy := make(chan struct{})
		first := w.start(call(finishing{act: put("k", 1), next: func() namespace.Admitted { <-busy; return nil }}))
		synctest.Wait() // the turn does not come to its end
		bad := w.start(call(spiteful{put("k", 1)}))
		synctest.Wait()
		behind := w.start(call(put("k", 1)))
		looking := make(chan error, 1)
		go func() {
			_, err := w.Admission(t.Context(), me)
			looking <- err
		}()
		synctest.Wait()
		close(busy)
		if got := first.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		_, err := bad.outcome()
		wantCode(t, err, api.Internal)
		for name, p := range map[string]*pending{"behind": behind, "parked": parked} {
			_, err := p.outcome()
			if e := wantCode(t, err, api.NamespaceUnavailable); e.RetryAfter != time.Second {
				t.Errorf("%s: got retry after %v, want 1s", name, e.RetryAfter)
			}
		}
		wantCode(t, <-looking, api.NamespaceUnavailable)
		synctest.Wait()
		w.must(call(put("k", 1)))
		if got := len(w.items()); got != 2 {
			t.Errorf("got %d items, want 2", got)
		}
	})
}

func TestCallerWhoGoesAwayDuringTheLookUpIsNotAdmitted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(call(put("k", 1)))
		b := w.hold()
		p := w.start(keyed("key", "body", take("k", 0)))
		synctest.Wait()
		p.cancel()
		synctest.Wait()
		b.lift()
		synctest.Wait()
		if got := w.status().Admitted; got != 0 {
			t.Errorf("got %d admitted, want 0", got)
		}
		if out := w.must(keyed("key", "another body", take("k", 0))); out.Replayed || out.Answer.Body != int64(1) {
			t.Errorf("its key is not free: replayed %v, %v", out.Replayed, out.Answer.Body)
		}
	})
}

func TestWorkOfOneWhoWouldHaveTakenAnythingIsPassedOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(*namespace.Settings) {})
		anything := w.start(callAs("a", admitted{20 * time.Second, func(t *namespace.Turn) (namespace.Answer, error) {
			t.Park()
			return namespace.Answer{Body: nothing, NoEffect: true}, nil
		}}))
		synctest.Wait()
		choosy := w.park("k", 20*time.Second, "b")[0]
		free := w.occupy(w.starting(call(put("k", 1))))
		if got := w.status(); got.Pending != 1 || got.Parked != 1 {
			t.Fatalf("got %d pending, %d parked; want 1, 1", got.Pending, got.Parked)
		}
		anything.cancel()
		synctest.Wait()
		free()
		if got := choosy.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
	})
}

func TestCommandOfAClassThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// It must not free the key of another either.
	c := keyed("key", "body", put("k", 1))
	c.Class = "nobody"
	w.fails(c, api.NotFound)
	names := []string{}
	for _, c := range w.runtime.Classes() {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff(names, []string{"depot"}); diff != "" {
		t.Errorf("classes (-got +want):\n%s", diff)
	}
}

func TestSignatureIsBoundToItsParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("b")
	sign := func(n namespace.Namespace, parts ...string) [10]byte {
		t.Helper()
		out, err := n.Do(t.Context(), call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			return namespace.Answer{Body: t.Sign(parts...)}, nil
		})))
		if err != nil {
			t.Fatal(err)
		}
		return out.Answer.Body.([10]byte)
	}
	first := sign(w.Namespace, "ab", "c")
	for name, other := range map[string][10]byte{
		"other parts":           sign(w.Namespace, "ab", "d"),
		"the same parts, moved": sign(w.Namespace, "a", "bc"),
		"one part":              sign(w.Namespace, "abc"),
		"another namespace":     sign(w.runtime.Namespace("b"), "ab", "c"),
	} {
		if other == first {
			t.Errorf("%s: the signature is the same", name)
		}
	}
	w.restart(true)
	if sign(w.Namespace, "ab", "c") != first {
		t.Error("it is another one after a restart")
	}
}
