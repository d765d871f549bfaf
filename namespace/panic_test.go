package namespace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func panicking(*namespace.Turn) (namespace.Answer, error) { panic("secret") }

func TestPanicFailsItsRequestAndRestartsItsNamespaceAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var logged lines
		w := newWorld(t, func(o *namespace.Options) { o.Logger = logged.logger() })
		w.create("b")
		w.must(call(put("k", 1)))
		parked := w.park("none", 20*time.Second, "a")[0]
		elsewhere := w.runtime.Namespace("b")
		bystander := make(chan error, 1)
		go func() {
			_, err := elsewhere.Do(context.Background(), call(take("k", 5*time.Second)))
			bystander <- err
		}()
		b := w.hold()
		var calls []*pending
		for _, c := range []namespace.Command{put("k", 1), act(panicking), put("k", 1)} {
			calls = append(calls, w.start(call(c)))
			synctest.Wait()
		}
		looking := w.start(keyed("key", "body", take("k", 0)))
		synctest.Wait()
		b.lift()
		_, err := calls[1].outcome()
		wantCode(t, err, api.Internal)
		for name, p := range map[string]*pending{"before": calls[0], "behind": calls[2], "parked": parked, "looking": looking} {
			_, err := p.outcome()
			if e := wantCode(t, err, api.NamespaceUnavailable); e.RetryAfter != time.Second {
				t.Errorf("%s: got retry after %v, want 1s", name, e.RetryAfter)
			}
		}
		synctest.Wait()
		if got := w.start(call(take("k", 0))).body(); got != 1 {
			t.Errorf("the next request got item %d, want 1", got)
		}
		if got := w.describe().Epoch; got != 2 {
			t.Errorf("got epoch %d, want 2", got)
		}
		if err := <-bystander; err != nil {
			t.Errorf("the other namespace: %v", err)
		}
		if got, err := elsewhere.Describe(t.Context()); err != nil || got.Epoch != 1 {
			t.Errorf("the other namespace: got epoch %d, %v; want 1", got.Epoch, err)
		}
		if !logged.have("panicked", "namespace=a", "panic_test.go") || logged.have("secret") {
			t.Errorf("want a log with the stack and without the value:\n%s", logged.String())
		}
	})
}

// A look-up that is settled when the namespace fails has not carried out its
// command, and must not be answered as if it had.
func TestLookUpThatSettlesAsTheNamespaceFailsIsNoSuccess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for range 8 { // whether the actor still hears of the look-up is a race
			b := w.hold()
			// The look-up and the command that panics are in two commits, of which
			// the first is settled when the second fails the file.
			looking := w.start(keyed("key", "body", take("k", 0)))
			synctest.Wait()
			w.crowd()
			synctest.Wait()
			w.start(call(laned{namespace.LaneAdmitted, panicking}))
			synctest.Wait()
			b.lift()
			if _, err := looking.outcome(); err != nil {
				wantCode(t, err, api.NamespaceUnavailable)
			} else if got := looking.body(); got != nothing {
				t.Errorf("got %d as a success", got)
			}
			synctest.Wait()
		}
	})
}

func TestPanicInAQueryIsItsCallersAndLeavesTheNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(put("k", 1)))
	for range 5 { // more often than there are read connections
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic did not reach the caller")
				}
			}()
			w.Read(t.Context(), "depot", me, ask(func(context.Context, *namespace.View) (namespace.Answer, error) { panic("boom") }))
		}()
	}
	if got := len(w.items()); got != 1 {
		t.Errorf("got %d items, want 1", got)
	}
	if got := w.describe().Epoch; got != 1 {
		t.Errorf("got epoch %d, want 1", got)
	}
}

func TestActivationThatFailsIsTriedAgainByTheNextRequest(t *testing.T) {
	t.Parallel()
	fail := true
	w := newWorld(t, withPowers(&powers{activate: func(t *namespace.Turn) error {
		if _, err := put("k", 1)(t); err != nil {
			return err
		}
		if fail {
			panic("boom")
		}
		return nil
	}}))
	w.fails(call(put("k", 1)), api.NamespaceUnavailable)
	fail = false
	w.must(call(put("k", 1)))
	if diff := cmp.Diff(w.holders(), []string{"", ""}); diff != "" {
		t.Errorf("items (-got +want):\n%s", diff)
	}
}
