package actors_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/actors/actorstest"
)

func TestDrainWaitsForOutstandingWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 1 })
		var self *actors.Self
		w.mustDo("a", func(r *room) { r.busy, self = 1, r.self })
		w.use("b")
		synctest.Wait()
		self.Tell("committed")
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "got committed"}); diff != "" {
			t.Fatalf("events while busy (-got +want):\n%s", diff)
		}
		self.Tell(newAsk(func(r *room) { r.busy = 0 }))
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"drain evicted", "got committed", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestPinWaitsForADrainAndThenActivatesAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 1 })
		old := w.pin("a")
		w.use("b")
		synctest.Wait()
		waiting := make(chan *room)
		go func() {
			p, err := w.dir.Pin(t.Context(), "a")
			if err != nil {
				t.Errorf("pin: %v", err)
			}
			defer p.Release()
			waiting <- p.Instance()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.dir.Pin(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want context.DeadlineExceeded", err)
		}
		select {
		case <-waiting:
			t.Fatal("a pin was given while the former instance drained")
		default:
		}
		first := old.Instance()
		old.Release()
		if second := <-waiting; second == first {
			t.Error("got the drained instance again")
		}
	})
}

func TestMessageToldWhileTheLastIdleIsAskedIsReceived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.mustDo("a", func(r *room) {
			r.onIdle = func() {
				if r.drained {
					r.onIdle = nil
					r.self.Tell("just in time")
				}
			}
		})
		w.clock.Advance(time.Minute)
		synctest.Wait()
		want := []string{"drain idle", "got just in time", "close"}
		if diff := cmp.Diff(w.events.all(), want); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestSelfTellAfterTheEndIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var self *actors.Self
		w.mustDo("a", func(r *room) { self = r.self })
		w.clock.Advance(time.Minute)
		synctest.Wait()
		m := newAsk(nil)
		self.Tell(m)
		if err := <-m.reply; !errors.Is(err, actors.ErrClosed) {
			t.Errorf("got error %v, want ErrClosed", err)
		}
	})
}

func TestTimersTellOnceUnlessStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var self *actors.Self
		w.mustDo("a", func(r *room) { self = r.self; r.busy = 1 })
		first := self.After(time.Second, "first")
		stopped := self.After(2*time.Second, "stopped")
		later := self.After(3*time.Second, "later")
		if !stopped.Stop() || stopped.Stop() {
			t.Error("Stop does not say whether it stopped the timer")
		}
		if !later.Reset(5 * time.Second) {
			t.Error("Reset of a pending timer returned false")
		}
		w.clock.Advance(4 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"got first"}); diff != "" {
			t.Fatalf("events after 4 s (-got +want):\n%s", diff)
		}
		if first.Reset(time.Second) {
			t.Error("Reset of a fired timer returned true")
		}
		w.clock.Advance(time.Second)
		synctest.Wait()
		if diff := cmp.Diff(w.events.all(), []string{"got first", "got later", "got first"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

// countingClock counts the functions that fell due.
type countingClock struct {
	*actorstest.Clock
	fired atomic.Int64
}

func (c *countingClock) AfterFunc(d time.Duration, f func()) actors.Timer {
	return c.Clock.AfterFunc(d, func() { c.fired.Add(1); f() })
}

func TestTimersAreStoppedForGoodAtClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &countingClock{}
		w := newWorld(t, func(w *world, cfg *actors.Config[*room]) {
			clock.Clock = w.clock
			cfg.Clock = clock
		})
		var self *actors.Self
		var pending, fired actors.Timer
		w.mustDo("a", func(r *room) {
			self = r.self
			pending, fired = self.After(time.Hour, "pending"), self.After(0, "fired")
		})
		w.clock.Advance(time.Minute)
		synctest.Wait()
		if pending.Stop() || pending.Reset(time.Second) || fired.Reset(time.Second) {
			t.Error("a timer of a closed instance claims to be pending")
		}
		if late := self.After(time.Second, "late"); late.Stop() || late.Reset(0) {
			t.Error("a timer set after the close claims to be pending")
		}
		before := clock.fired.Load()
		w.clock.Advance(2 * time.Hour)
		synctest.Wait()
		if got := clock.fired.Load() - before; got > 1 { // the directory has one of its own
			t.Errorf("%d timers fired after the close", got)
		}
		if diff := cmp.Diff(w.events.all(), []string{"got fired", "drain idle", "close"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestReasonsHaveWords(t *testing.T) {
	t.Parallel()
	var got []string
	for r := range actors.ReasonRemoved + 1 {
		got = append(got, r.String())
	}
	if diff := cmp.Diff(got, []string{"Reason(0)", "idle", "evicted", "shutdown", "removed"}); diff != "" {
		t.Errorf("reasons (-got +want):\n%s", diff)
	}
}
