package namespace_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestShutdownAnswersEverybodyAndKeepsTheRows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(*namespace.Settings) {})
		w.must(call(put("held", 1)))
		w.must(callAs("holder", take("held", 0)))
		parked := w.park("k", 20*time.Second, "a")[0]
		b := w.hold()
		w.start(callAs("slot", admitted{0, put("other", 1)}))
		synctest.Wait()
		var calls []*pending
		for _, c := range []namespace.Call{
			callAs("c", take("k", 20*time.Second)), keyed("key", "body", take("k", 20*time.Second)),
			call(put("other", 1)), callAs("d", then(put("other", 1), take("k", 20*time.Second))),
		} {
			calls = append(calls, w.start(c))
			synctest.Wait()
		}
		queued, looking, committing, chained := calls[0], calls[1], calls[2], calls[3]
		down := make(chan error, 1)
		go func() { down <- w.runtime.Shutdown(context.Background()) }()
		synctest.Wait()
		if !w.runtime.Draining() {
			t.Error("Draining is false")
		}
		late := w.start(call(take("k", 0)))
		for name, p := range map[string]*pending{"queued": queued, "late": late} {
			_, err := p.outcome()
			if e := wantCode(t, err, api.ShuttingDown); e.RetryAfter == 0 {
				t.Errorf("%s: no advice when to try again", name)
			}
		}
		wantCode(t, w.runtime.Ready(t.Context()), api.ShuttingDown)
		b.lift()
		if got := parked.body(); got != nothing {
			t.Errorf("the parked command got %d, want nothing", got)
		}
		_, err := looking.outcome() // its key was being looked up
		wantCode(t, err, api.ShuttingDown)
		if got := committing.body(); got == 0 {
			t.Error("what was committing got no answer")
		}
		if out, err := chained.outcome(); err != nil || out.Answer.Body != "3 then <nil> shutting_down" {
			t.Errorf("the command that carries another got %v, %v", out.Answer.Body, err)
		}
		if err := <-down; err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := errors.Join(w.runtime.Shutdown(t.Context()), w.runtime.Close()); err != nil {
			t.Errorf("again: %v", err)
		}
		w.open()
		if diff := cmp.Diff(w.holders(), []string{"holder", "", "", ""}); diff != "" {
			t.Errorf("holders (-got +want):\n%s", diff)
		}
	})
}

func TestShutdownThatIsHurriedClosesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(call(put("k", 1)))
		slow := w.start(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			time.Sleep(4 * time.Second)
			return put("k", 1)(t)
		})))
		behind := w.start(call(put("k", 1)))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.runtime.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want the context's", err)
		}
		// Whoever was answered with success is in the file, and nobody else is told so.
		acknowledged := 1
		for _, p := range []*pending{slow, behind} {
			if _, err := p.outcome(); err == nil {
				acknowledged++
			} else if !api.IsCode(err, api.ShuttingDown) {
				t.Errorf("got error %v, want %s", err, api.ShuttingDown)
			}
		}
		w.open()
		if got := len(w.items()); got < acknowledged {
			t.Errorf("got %d items, %d were acknowledged", got, acknowledged)
		}
	})
}

func TestCloseAnswersEverybodyAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		parked := w.park("k", 20*time.Second, "a")[0]
		chained := w.start(callAs("d", then(put("other", 1), take("k", 20*time.Second))))
		synctest.Wait()
		if err := w.runtime.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		_, err := parked.outcome()
		wantCode(t, err, api.ShuttingDown)
		if out, err := chained.outcome(); err != nil || out.Answer.Body != "1 then <nil> shutting_down" {
			t.Errorf("the command that carries another got %v, %v", out.Answer.Body, err)
		}
		w.fails(call(put("k", 1)), api.ShuttingDown)
		_, err = w.runtime.Create(t.Context(), "b")
		wantCode(t, err, api.ShuttingDown)
		wantCode(t, w.runtime.Delete(t.Context(), "a"), api.ShuttingDown)
		_, err = w.Authenticate(t.Context(), "x")
		wantCode(t, err, api.ShuttingDown)
	})
}
