package actors_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

func TestIdleInstanceIsPassivatedAtItsTimeoutAndNotBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.IdleTimeout = 10 * time.Second })
		w.mustDo("a", nil)
		w.clock.Advance(6 * time.Second)
		w.mustDo("a", nil)
		w.clock.Advance(9 * time.Second)
		synctest.Wait()
		if got := w.events.all(); got != nil {
			t.Fatalf("got %q before the timeout", got)
		}
		w.clock.Advance(time.Second)
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain idle", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
		w.mustDo("a", nil)
		if got := w.activations.Load(); got != 2 {
			t.Errorf("got %d activations, want 2", got)
		}
	})
}

func TestPinnedInstanceIsNotPassivatedUntilTimeoutAfterRelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.IdleTimeout = 10 * time.Second })
		p := w.pin("a")
		for range 10 {
			w.clock.Advance(8 * time.Second)
			synctest.Wait()
		}
		w.clock.Advance(5 * time.Second) // not a multiple of the timeout
		p.Release()
		w.clock.Advance(9 * time.Second)
		synctest.Wait()
		if got := w.events.all(); got != nil {
			t.Fatalf("got %q, want a pin to count as use until its release", got)
		}
		w.clock.Advance(time.Second)
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain idle", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestBusyInstanceIsNotAskedToDrainWhenIdleTimeoutPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.mustDo("a", func(r *room) { r.busy = 1 })
		w.clock.Advance(time.Minute)
		w.clock.Advance(time.Minute)
		synctest.Wait()
		if got := w.events.all(); got != nil {
			t.Fatalf("got %q, want the busy instance left alone", got)
		}
		w.mustDo("a", func(r *room) { r.busy = 0 })
		w.clock.Advance(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain idle", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestPinTakenWhileIdleIsAskedKeepsTheInstance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		asked, answer := make(chan struct{}), make(chan struct{})
		w.mustDo("a", func(r *room) {
			r.onIdle = sync.OnceFunc(func() { close(asked); <-answer })
		})
		w.clock.Advance(time.Minute)
		<-asked
		p := w.pin("a")
		close(answer)
		synctest.Wait()
		p.Release()
		synctest.Wait()
		if got := w.events.all(); got != nil {
			t.Errorf("got %q, want the instance kept", got)
		}
	})
}

func TestInstanceOverridesIdleTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                string
		directory, instance time.Duration
		lives, dies         time.Duration // dies 0: never
	}{
		{"longer", 10 * time.Second, time.Hour, 59 * time.Minute, time.Minute},
		{"shorter", time.Hour, 5 * time.Second, 4 * time.Second, time.Second},
		{"never", 10 * time.Second, -1, 24 * time.Hour, 0},
		{"directory never", -1, 5 * time.Second, 4 * time.Second, time.Second},
		{"both never", -1, 0, 24 * time.Hour, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.IdleTimeout = tt.directory })
				w.idleTimeout.Store(int64(tt.instance))
				w.mustDo("a", nil)
				synctest.Wait()
				w.clock.Advance(tt.lives)
				synctest.Wait()
				if got := w.dir.Len(); got != 1 {
					t.Fatalf("got Len %d after %v, want 1", got, tt.lives)
				}
				if tt.dies == 0 {
					return
				}
				w.clock.Advance(tt.dies)
				synctest.Wait()
				if got := w.dir.Len(); got != 0 {
					t.Errorf("got Len %d after %v more, want 0", got, tt.dies)
				}
			})
		})
	}
}

func TestShortenedIdleTimeoutIsNoticedWithinTheDirectorys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.IdleTimeout = 10 * time.Second })
		w.idleTimeout.Store(int64(time.Hour))
		w.mustDo("a", nil)
		synctest.Wait()
		w.idleTimeout.Store(int64(time.Second))
		w.clock.Advance(10 * time.Second)
		synctest.Wait()
		if got := w.dir.Len(); got != 0 {
			t.Errorf("got Len %d, want 0", got)
		}
	})
}

func TestLeastRecentlyUsedIsEvictedExactly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 3 })
		w.use("a", "b", "c", "a", "d")
		synctest.Wait()
		gone := func() (names []string) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				if _, ok := w.dir.Lookup(name); !ok {
					names = append(names, name)
				}
			}
			return names
		}
		if diff := cmp.Diff(gone(), []string{"b", "e"}); diff != "" {
			t.Errorf("not active after d (-got +want):\n%s", diff)
		}
		w.use("c", "e")
		synctest.Wait()
		if diff := cmp.Diff(gone(), []string{"a", "b"}); diff != "" {
			t.Errorf("not active after e (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "close", "drain evicted", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestFailedActivationEvictsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 2 })
		w.use("a", "b")
		w.onActivate = func(context.Context, *room) error { return errors.New("no such room") }
		for i := range 100 {
			if _, err := w.dir.Pin(t.Context(), fmt.Sprint("unknown", i)); err == nil {
				t.Fatal("got no error")
			}
		}
		synctest.Wait()
		if got := w.events.all(); got != nil {
			t.Errorf("got %q, want nobody evicted", got)
		}
	})
}

func TestActivationInCourseEvictsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 1 })
		w.use("a")
		proceed := make(chan struct{})
		w.onActivate = func(context.Context, *room) error { <-proceed; return nil }
		done := make(chan error)
		go func() { done <- w.do("b", nil) }()
		synctest.Wait()
		w.dir.Wake("c", epoch.Add(time.Hour)) // makes the keeper look
		synctest.Wait()
		if got := w.events.all(); got != nil {
			t.Errorf("got %q while b was activating", got)
		}
		close(proceed)
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestEvictedInstanceIsNotClosedWhilePinned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 1 })
		p := w.pin("a")
		w.use("b")
		synctest.Wait()
		select {
		case <-p.Instance().self.Draining():
		default:
			t.Error("Draining is open, want the holder of the pin told")
		}
		p.Tell("late")
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "got late"}); diff != "" {
			t.Fatalf("events while pinned (-got +want):\n%s", diff)
		}
		p.Release()
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "got late", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestThrashingServesEveryCallerWithinBounds(t *testing.T) {
	t.Parallel()
	const maxActive, activateMax = 2, 3
	w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) {
		cfg.MaxActive, cfg.ActivateConcurrency = maxActive, activateMax
	})
	var activating sync.Map
	w.onActivate = func(_ context.Context, r *room) error {
		activating.Store(r.name, true)
		defer activating.Delete(r.name)
		n := 0
		activating.Range(func(any, any) bool { n++; return true })
		if n > activateMax {
			t.Errorf("got %d activations at once, want at most %d", n, activateMax)
		}
		if got := w.dir.Len(); got > maxActive+activateMax {
			t.Errorf("got Len %d, want at most %d", got, maxActive+activateMax)
		}
		return nil
	}
	var callers sync.WaitGroup
	for i := range 20 {
		callers.Go(func() {
			for j := range 20 {
				if err := w.do(fmt.Sprint((i+j)%12), nil); err != nil {
					t.Errorf("ask: %v", err)
				}
			}
		})
	}
	callers.Wait()
}

func TestLargeDirectoryEvictsWithSlack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maxActive = 256
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive, cfg.IdleTimeout = maxActive, -1 })
		for i := range maxActive + 1 {
			w.use(fmt.Sprint(i))
		}
		synctest.Wait()
		if got, want := w.dir.Len(), maxActive-2; got != want {
			t.Errorf("got Len %d, want the surplus and a slack of 2 evicted: %d", got, want)
		}
		for i := range 3 {
			if _, ok := w.dir.Lookup(fmt.Sprint(i)); ok {
				t.Errorf("room %d is active, want the least recently used gone", i)
			}
		}
	})
}
