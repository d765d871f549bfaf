package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

func TestConcurrentPinsShareOneActivation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	begin := make(chan struct{})
	w.onActivate = func(context.Context, *room) error { <-begin; return nil }
	rooms := make(chan *room, 200)
	for range cap(rooms) {
		go func() {
			p, err := w.dir.Pin(t.Context(), "a")
			if err != nil {
				t.Errorf("pin: %v", err)
				rooms <- nil
				return
			}
			defer p.Release()
			m := newAsk(nil)
			p.Tell(m)
			if err := <-m.reply; err != nil {
				t.Errorf("ask: %v", err)
			}
			rooms <- p.Instance()
		}()
	}
	close(begin)
	first := <-rooms
	for range cap(rooms) - 1 {
		if r := <-rooms; r != first {
			t.Fatalf("got room %p beside %p", r, first)
		}
	}
	if got := w.activations.Load(); got != 1 {
		t.Errorf("got %d activations, want 1", got)
	}
	if got := w.received.Load(); got != 200 {
		t.Errorf("got %d messages, want 200", got)
	}
}

func TestActivationErrorReachesAllWaitersAndIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		broken := errors.New("file is broken")
		begin := make(chan struct{})
		w.onActivate = func(context.Context, *room) error { <-begin; return broken }
		errs := make(chan error, 50)
		for range cap(errs) {
			go func() {
				_, err := w.dir.Pin(t.Context(), "a")
				errs <- err
			}()
		}
		synctest.Wait()
		close(begin)
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, broken) {
				t.Fatalf("got error %v, want one that wraps %q", err, broken)
			}
		}
		if got := w.activations.Load(); got != 1 {
			t.Errorf("got %d activations, want 1", got)
		}
		w.onActivate = nil
		w.mustDo("a", nil)
		if got := w.dir.Len(); got != 1 {
			t.Errorf("got Len %d, want 1", got)
		}
	})
}

func TestPanicInActivateIsAnErrorWithoutItsValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.onActivate = func(context.Context, *room) error { panic("secret") }
	_, err := w.dir.Pin(t.Context(), "a")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got error %v, want one that does not show the panic's value", err)
	}
	w.onActivate = nil
	w.mustDo("a", nil)
}

func TestCancelledPinAbandonsOnlyItsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		begin := make(chan struct{})
		w.onActivate = func(ctx context.Context, _ *room) error { <-begin; return ctx.Err() }
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error)
		go func() { _, err := w.dir.Pin(ctx, "a"); errs <- err }()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want context.Canceled", err)
		}
		close(begin)
		w.mustDo("a", nil)
		if got := w.activations.Load(); got != 1 {
			t.Errorf("got %d activations, want the abandoned one to be used", got)
		}
		// The abandoned wait must not have left a pin behind.
		w.clock.Advance(time.Minute)
		if diff := cmp.Diff(w.events.await(t, 2), []string{"drain idle", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestActivationsAreBoundedAndBegunInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.ActivateConcurrency = 3 })
		begun, proceed := make(chan string, 10), make(chan struct{})
		w.onActivate = func(_ context.Context, r *room) error { begun <- r.name; <-proceed; return nil }
		for i := range 10 {
			go func() { _ = w.do(fmt.Sprint(i), nil) }()
			synctest.Wait()
		}
		if got := w.dir.Len(); got != 3 || len(begun) != 3 {
			t.Errorf("got %d begun and Len %d, want 3", len(begun), got)
		}
		for i := range 10 {
			if got, want := <-begun, fmt.Sprint(i); got != want {
				t.Errorf("got activation of %s, want that of %s", got, want)
			}
			proceed <- struct{}{}
			synctest.Wait()
		}
	})
}

func TestMessagesToldWhileActivatingAreReceivedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.onActivate = func(_ context.Context, r *room) error {
		r.self.Tell("one")
		r.self.Tell("two")
		return nil
	}
	p := w.pin("a")
	defer p.Release()
	p.Tell("three")
	if diff := cmp.Diff(w.events.await(t, 3), []string{"got one", "got two", "got three"}); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}

// batch is a message that protoactor-go would take apart.
type batch struct{ actor.MessageBatch }

func TestAnyMessageReachesReceiveAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.pin("a")
	defer p.Release()
	for _, msg := range []any{nil, &actor.PoisonPill{}, &actor.Stop{}, &actor.MessageEnvelope{Message: "inner"}, batch{}, 7} {
		p.Tell(msg)
	}
	m := newAsk(nil)
	p.Tell(m)
	if err := <-m.reply; err != nil {
		t.Fatal(err)
	}
	if got := w.received.Load(); got != 7 {
		t.Errorf("got %d messages, want 7", got)
	}
}

func TestLookupAndActiveSeeInstancesWithoutUsingThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.use("a", "b")
		if r, ok := w.dir.Lookup("a"); !ok || r.name != "a" {
			t.Errorf("got %v, %v, want room a", r, ok)
		}
		if r, ok := w.dir.Lookup("c"); ok {
			t.Errorf("got room %v for a name that is not active", r)
		}
		w.clock.Advance(30 * time.Second)
		var names []string
		for name, r := range w.dir.Active() {
			if r.name != name {
				t.Errorf("got room %q under the name %q", r.name, name)
			}
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(names, []string{"a", "b"}); diff != "" {
			t.Errorf("active (-got +want):\n%s", diff)
		}
		w.clock.Advance(30 * time.Second)
		w.events.await(t, 4)
		synctest.Wait()
		if got := w.dir.Len(); got != 0 {
			t.Errorf("got Len %d, want looking to be no use", got)
		}
	})
}

func TestStuckNamesTurnsThatLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		proceed := make(chan struct{})
		var asked sync.WaitGroup
		for _, name := range []string{"b", "a"} {
			asked.Go(func() { w.mustDo(name, func(*room) { <-proceed }) })
		}
		synctest.Wait()
		w.mustDo("c", nil)
		w.clock.Advance(10 * time.Second)
		if got := w.dir.Stuck(10 * time.Second); got != nil {
			t.Errorf("got %q, want nothing stuck for longer", got)
		}
		if diff := cmp.Diff(w.dir.Stuck(9*time.Second), []string{"a", "b"}); diff != "" {
			t.Errorf("stuck (-got +want):\n%s", diff)
		}
		close(proceed)
		asked.Wait()
		synctest.Wait()
		if got := w.dir.Stuck(0); got != nil {
			t.Errorf("got %q, want nothing stuck between turns", got)
		}
	})
}

func TestNewDirectoryRefusesBadConfig(t *testing.T) {
	t.Parallel()
	activate := func(context.Context, string, *actors.Self) (*room, error) { return nil, nil }
	for name, cfg := range map[string]actors.Config[*room]{
		"Activate":            {},
		"MaxActive":           {Activate: activate, MaxActive: -1},
		"WakeConcurrency":     {Activate: activate, WakeConcurrency: -1},
		"ActivateConcurrency": {Activate: activate, ActivateConcurrency: -1},
		"CloseTimeout":        {Activate: activate, CloseTimeout: -1},
	} {
		if _, err := actors.NewDirectory(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one that names %s", err, name)
		}
	}
}
