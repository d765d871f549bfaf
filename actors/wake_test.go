package actors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

func (w *world) wantActivations(want int64) {
	w.t.Helper()
	synctest.Wait()
	if got := w.activations.Load(); got != want {
		w.t.Fatalf("got %d activations, want %d", got, want)
	}
}

func TestWakeActivatesAtTheEarliestTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.dir.Wake("a", epoch.Add(10*time.Second))
		w.dir.Wake("a", epoch.Add(5*time.Second))
		w.dir.Wake("a", epoch.Add(20*time.Second))
		w.clock.Advance(5*time.Second - 1)
		w.wantActivations(0)
		w.clock.Advance(1)
		w.wantActivations(1)
		w.clock.Advance(10 * time.Minute)
		w.wantActivations(1)
		if got := actors.FootprintOf(w.dir).Wakes; got != 0 {
			t.Errorf("got %d wake-ups remembered, want 0", got)
		}
	})
}

func TestZeroTimeRemovesAWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.dir.Wake("a", epoch.Add(time.Second))
		w.dir.Wake("a", time.Time{})
		w.clock.Advance(time.Hour)
		w.wantActivations(0)
	})
}

func TestWakeOfAnActiveNameIsNoUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.mustDo("a", nil)
		w.dir.Wake("a", epoch.Add(30*time.Second))
		w.clock.Advance(30 * time.Second)
		synctest.Wait()
		w.clock.Advance(30 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain idle", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestInstanceLeavesAWakeBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.dir.Wake("a", epoch.Add(2*time.Minute)) // the instance knows better
		w.mustDo("a", func(r *room) {
			r.self.WakeAt(epoch.Add(3 * time.Minute))
			r.self.WakeAt(epoch.Add(5 * time.Minute))
		})
		w.clock.Advance(time.Minute)
		synctest.Wait()
		w.clock.Advance(4*time.Minute - 1)
		w.wantActivations(1)
		w.clock.Advance(1)
		w.wantActivations(2)
	})
}

func TestInstanceTakesItsWakeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.dir.Wake("a", epoch.Add(2*time.Minute))
		w.mustDo("a", func(r *room) { r.self.WakeAt(time.Time{}) })
		w.clock.Advance(time.Minute)
		synctest.Wait()
		w.clock.Advance(time.Hour)
		w.wantActivations(1)
	})
}

func TestManyWakesArePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.WakeConcurrency = 3 })
		proceed := make(chan struct{})
		w.onActivate = func(context.Context, *room) error { <-proceed; return nil }
		for i := range 10 {
			w.dir.Wake(fmt.Sprint(i), epoch.Add(time.Second))
		}
		w.clock.Advance(time.Second)
		for done := range int64(7) {
			w.wantActivations(done + 3)
			proceed <- struct{}{}
		}
		close(proceed)
		w.wantActivations(10)
	})
}

func TestFailedWakeIsRetriedWithBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.onActivate = func(context.Context, *room) error { return errors.New("disk is full") }
		w.dir.Wake("a", epoch)
		w.wantActivations(1)
		tries := int64(1)
		for _, wait := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			w.clock.Advance(time.Duration(wait)*time.Second - 1)
			w.wantActivations(tries)
			w.clock.Advance(1)
			tries++
			w.wantActivations(tries)
		}
		w.onActivate = nil
		w.clock.Advance(time.Minute)
		w.wantActivations(tries + 1)
		w.clock.Advance(time.Hour)
		w.wantActivations(tries + 1)
	})
}

func TestRemovedWakeIsNotRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		proceed := make(chan struct{})
		w.onActivate = func(context.Context, *room) error { <-proceed; return errors.New("no such room") }
		w.dir.Wake("a", epoch)
		synctest.Wait()
		w.dir.Wake("a", time.Time{})
		close(proceed)
		w.clock.Advance(time.Hour)
		w.wantActivations(1)
	})
}

func TestWakeThatCrashesItsInstanceIsBackedOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.onActivate = func(_ context.Context, r *room) error {
			r.self.WakeAt(epoch) // an alarm that is due
			r.self.Tell(newAsk(func(*room) { panic("alarm") }))
			return nil
		}
		w.dir.Wake("a", epoch)
		tries := int64(1)
		for _, wait := range []int{1, 2, 4, 8} {
			w.wantActivations(tries)
			w.clock.Advance(time.Duration(wait)*time.Second - 1)
			w.wantActivations(tries)
			w.clock.Advance(1)
			tries++
		}
		w.wantActivations(tries)
	})
}

func TestWokenInstanceIsTheFirstToBeEvicted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 2 })
		w.use("a")
		w.dir.Wake("woken", epoch.Add(2*time.Second))
		w.clock.Advance(time.Second)
		synctest.Wait()
		if _, ok := w.dir.Lookup("woken"); !ok {
			t.Fatal("the woken instance is not active")
		}
		w.use("b")
		synctest.Wait()
		if _, ok := w.dir.Lookup("woken"); ok {
			t.Error("the woken instance is active, want it evicted although it is the younger")
		}
		if got := w.dir.Len(); got != 2 {
			t.Errorf("got Len %d, want 2", got)
		}
	})
}

func TestWokenInstanceLivesForItsIdleTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.idleTimeout.Store(int64(90 * time.Second))
		w.dir.Wake("a", epoch.Add(time.Hour))
		w.clock.Advance(time.Hour)
		synctest.Wait()
		w.clock.Advance(89 * time.Second)
		synctest.Wait()
		if got := w.dir.Len(); got != 1 {
			t.Fatalf("got Len %d before the timeout, want 1", got)
		}
		w.clock.Advance(time.Second)
		synctest.Wait()
		if got := w.dir.Len(); got != 0 {
			t.Errorf("got Len %d after the timeout, want 0", got)
		}
	})
}

func TestWakeOfADrainingNameDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive, cfg.WakeConcurrency = 1, 1 })
		p := w.pin("a")
		w.use("b")
		synctest.Wait() // a drains, and is pinned
		w.dir.Wake("a", epoch)
		synctest.Wait()
		w.dir.Wake("c", epoch)
		w.wantActivations(3)
		p.Release()
		synctest.Wait()
		w.clock.Advance(time.Second)
		w.wantActivations(4) // a again
	})
}
