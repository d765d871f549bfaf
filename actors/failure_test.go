package actors_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

func TestPanicIsAnsweredContainedAndFollowedByAFreshInstance(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) {
		cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	})
	w.mustDo("other", nil)
	// More often than protoactor-go's supervisor would bear.
	for range 20 {
		if err := w.do("a", func(*room) { panic("secret") }); !errors.Is(err, errCrashed) {
			t.Fatalf("got error %v, want the panic answered", err)
		}
		w.mustDo("a", nil)
	}
	if got := w.activations.Load(); got != 22 {
		t.Errorf("got %d activations, want 21 of a and one of the other", got)
	}
	if err := w.dir.Close(); err != nil { // the log is complete
		t.Fatal(err)
	}
	if s := logged.String(); strings.Contains(s, "secret") || !strings.Contains(s, "*actors_test.ask") || !strings.Contains(s, "failure_test.go") {
		t.Errorf("got log %.400s, want the message's type and the stack, but no payload", s)
	}
}

func TestGoexitInATurnFailsTheInstanceAndLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.pin("a")
		begin := make(chan struct{})
		exits, queued := newAsk(func(*room) { <-begin; runtime.Goexit() }), newAsk(nil)
		p.Tell(exits)
		p.Tell(queued)
		close(begin)
		if err := <-exits.reply; !errors.Is(err, errCrashed) {
			t.Errorf("got error %v, want the exit answered", err)
		}
		if err := <-queued.reply; !errors.Is(err, actors.ErrRestarted) {
			t.Errorf("got error %v, want ErrRestarted", err)
		}
		p.Release()
		w.mustDo("a", nil)
	})
}

func TestFailRefusesTheMailboxAndWhatFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.pin("a")
		begin := make(chan struct{})
		cause := errors.New("disk failed")
		running := newAsk(func(r *room) { <-begin; r.self.Fail(cause); r.self.Fail(errors.New("second")) })
		p.Tell(running)
		var queued []*ask
		for range 10 {
			m := newAsk(nil)
			queued = append(queued, m)
			p.Tell(m)
		}
		// The first refusal lasts, so that an end decided too early would lose
		// what is behind it.
		queued[0].reply = make(chan error)
		synctest.Wait()
		close(begin)
		synctest.Wait()
		after := newAsk(nil)
		p.Tell(after)
		for i, m := range append(queued, after) {
			if err := <-m.reply; !errors.Is(err, actors.ErrRestarted) {
				t.Errorf("message %d: got error %v, want ErrRestarted", i, err)
			}
		}
		if err := <-running.reply; err != nil {
			t.Errorf("got error %v for the message whose turn it was", err)
		}
		synctest.Wait()
		// Those who wait for an answer that only Close gives hold their pins, so
		// that a failed instance is closed although it is pinned.
		if diff := cmp.Diff(w.events.all(), []string{"close disk failed"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
		select {
		case <-p.Instance().self.Draining():
		default:
			t.Error("Draining is open after a failure")
		}
		w.mustDo("a", nil)
		p.Release()
		if got := w.activations.Load(); got != 2 {
			t.Errorf("got %d activations, want 2", got)
		}
	})
}

func TestFailDuringADrainEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 1 })
		var self *actors.Self
		w.mustDo("a", func(r *room) { r.busy, self = 1, r.self })
		w.use("b")
		synctest.Wait()
		self.Fail(errors.New("disk failed"))
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "close disk failed"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestFailBeforeActivateReturnsFailsTheActivation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	cause := errors.New("writer died")
	var self *actors.Self
	w.onActivate = func(_ context.Context, r *room) error {
		self = r.self
		r.self.Tell("early")
		r.self.Fail(cause)
		return nil
	}
	if _, err := w.dir.Pin(t.Context(), "a"); !errors.Is(err, cause) {
		t.Fatalf("got error %v, want one that wraps %q", err, cause)
	}
	self.Tell("late")
	if diff := cmp.Diff(w.events.all(), []string{"refused early", "close writer died", "refused late"}); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
	w.onActivate = nil
	w.mustDo("a", nil)
}

func TestPanicsOutsideReceiveAreContained(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method string
		arm    func(*room)
		want   []string
	}{
		{"Drain", func(r *room) { r.onDrain = func() { panic("x") } }, []string{"drain idle", "close panic during Drain: string"}},
		{"Idle", func(r *room) { r.onIdle = func() { panic("x") } }, []string{"close panic during Idle: string"}},
		{"Close", func(r *room) { r.onClose = sync.OnceFunc(func() { r.world.counter(r.name).Add(-1); panic("x") }) }, []string{"drain idle"}},
		{"Goexit in Close", func(r *room) {
			r.onClose = sync.OnceFunc(func() { r.world.counter(r.name).Add(-1); runtime.Goexit() })
		}, []string{"drain idle"}},
	} {
		t.Run(tt.method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.mustDo("a", tt.arm)
				w.clock.Advance(time.Minute)
				synctest.Wait()
				if diff := cmp.Diff(w.events.all(), tt.want); diff != "" {
					t.Errorf("events (-got +want):\n%s", diff)
				}
				w.mustDo("a", nil)
			})
		})
	}
}

func TestPanicsInPanickedAndRefuseAreContained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.pin("a")
		begin := make(chan struct{})
		unanswerable := &ask{do: func(*room) { <-begin; panic("x") }, reply: make(chan error)}
		close(unanswerable.reply) // so that Panicked and Refuse panic in their turn
		p.Tell(unanswerable)
		p.Tell(unanswerable)
		close(begin)
		synctest.Wait()
		p.Tell(unanswerable)
		p.Release()
		w.mustDo("a", nil)
	})
}
