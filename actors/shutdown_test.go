package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

func TestShutdownDrainsRefusesAndForgetsEverything(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.ActivateConcurrency = 4 })
		var closing atomic.Int64
		for i := range 50 {
			w.mustDo(fmt.Sprint(i), func(r *room) {
				r.onClose = func() {
					if n := closing.Add(1); n > 4 {
						t.Errorf("got %d instances closing at once, want at most 4", n)
					}
					<-time.After(time.Millisecond)
					closing.Add(-1)
				}
			})
		}
		p := w.pin("0")
		w.mustDo("0", func(r *room) { r.busy = 1 })
		w.dir.Wake("asleep", epoch.Add(time.Second))
		results := make(chan error, 3)
		for range cap(results) {
			go func() { results <- w.dir.Shutdown(t.Context()) }()
		}
		<-time.After(time.Second)
		if got := w.dir.Len(); got != 1 {
			t.Errorf("got Len %d, want the busy instance left", got)
		}
		if _, err := w.dir.Pin(t.Context(), "0"); !errors.Is(err, actors.ErrShuttingDown) {
			t.Errorf("got error %v from Pin, want ErrShuttingDown", err)
		}
		if err := w.dir.Exclusive(t.Context(), "1", actors.ReasonRemoved, nil); !errors.Is(err, actors.ErrShuttingDown) {
			t.Errorf("got error %v from Exclusive, want ErrShuttingDown", err)
		}
		w.clock.Advance(time.Hour)
		m := newAsk(func(r *room) { r.busy = 0 })
		p.Tell(m)
		if err := <-m.reply; err != nil {
			t.Errorf("got error %v for work that was outstanding", err)
		}
		p.Release()
		for range cap(results) {
			if err := <-results; err != nil {
				t.Errorf("shutdown: %v", err)
			}
		}
		if err := w.dir.Shutdown(t.Context()); err != nil {
			t.Errorf("shutdown once more: %v", err)
		}
		if got := w.activations.Load(); got != 50 {
			t.Errorf("got %d activations, want no wake-up after the shutdown", got)
		}
		for _, e := range w.events.all() {
			if e != "drain shutdown" && e != "close" {
				t.Errorf("got event %q", e)
			}
		}
	})
}

func TestShutdownWhoseContextEndsClosesWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.mustDo("idle", nil)
		w.mustDo("busy", func(r *room) { r.busy = 1 })
		p := w.pin("busy")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.dir.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want context.DeadlineExceeded", err)
		}
		m := newAsk(nil)
		p.Tell(m)
		if err := <-m.reply; !errors.Is(err, actors.ErrShuttingDown) {
			t.Errorf("got error %v, want ErrShuttingDown", err)
		}
		p.Release()
		got := w.events.all()
		slices.Sort(got) // the two drain side by side
		want := []string{"close", "close directory shutting down", "drain shutdown", "drain shutdown"}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestCloseRefusesTheMailboxAndDoesNotDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.pin("a")
		begin := make(chan struct{})
		p.Tell(newAsk(func(*room) { <-begin }))
		queued := newAsk(nil)
		p.Tell(queued)
		results := make(chan error, 2)
		for range cap(results) {
			go func() { results <- w.dir.Close() }()
		}
		synctest.Wait()
		close(begin)
		for range cap(results) {
			if err := <-results; err != nil {
				t.Errorf("close: %v", err)
			}
		}
		if err := <-queued.reply; !errors.Is(err, actors.ErrShuttingDown) {
			t.Errorf("got error %v, want ErrShuttingDown", err)
		}
		if diff := cmp.Diff(w.events.all(), []string{"close directory shutting down"}); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestCloseGivesUpOnAWedgedTurnAndNamesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.CloseTimeout = 3 * time.Second })
		proceed := make(chan struct{})
		p := w.pin("wedged")
		p.Tell(newAsk(func(*room) { <-proceed }))
		w.mustDo("fine", nil)
		result := make(chan error)
		go func() { result <- w.dir.Close() }()
		synctest.Wait()
		w.clock.Advance(3 * time.Second)
		err := <-result
		if err == nil || !strings.Contains(err.Error(), `["wedged"]`) {
			t.Errorf("got error %v, want one that names the wedged instance alone", err)
		}
		close(proceed)
		synctest.Wait()
		want := []string{"close directory shutting down", "close directory shutting down"}
		if diff := cmp.Diff(w.events.all(), want); diff != "" {
			t.Errorf("events, the wedged one's last (-got +want):\n%s", diff)
		}
	})
}

func TestShutdownEndsActivationsInCourse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.ActivateConcurrency = 1 })
		w.onActivate = func(ctx context.Context, _ *room) error { <-ctx.Done(); return ctx.Err() }
		errs := make(chan error, 3)
		for i := range cap(errs) { // two of them wait for a slot
			go func() { _, err := w.dir.Pin(t.Context(), fmt.Sprint(i)); errs <- err }()
		}
		synctest.Wait()
		if err := w.dir.Shutdown(t.Context()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, actors.ErrShuttingDown) {
				t.Errorf("got error %v, want ErrShuttingDown", err)
			}
		}
	})
}

func TestShutdownRefusesThoseWhoWaitForADrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.pin("a")
		errs := make(chan error, 2)
		go func() {
			errs <- w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error {
				t.Error("f was called")
				return nil
			})
		}()
		synctest.Wait()
		go func() { _, err := w.dir.Pin(t.Context(), "a"); errs <- err }()
		synctest.Wait()
		result := make(chan error)
		go func() { result <- w.dir.Shutdown(t.Context()) }()
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, actors.ErrShuttingDown) {
				t.Errorf("got error %v, want ErrShuttingDown", err)
			}
		}
		p.Release()
		if err := <-result; err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
}

func TestActivationThatOutlastsTheShutdownsDrainIsClosed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		stop func(*world) error
		busy int
	}{
		{"Shutdown", func(w *world) error { return w.dir.Shutdown(w.t.Context()) }, 0},
		{"Close", func(w *world) error { return w.dir.Close() }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				proceed := make(chan struct{})
				w.onActivate = func(_ context.Context, r *room) error { <-proceed; r.busy = tt.busy; return nil }
				go func() { _, _ = w.dir.Pin(t.Context(), "a") }() // fails or not, but must not hang
				synctest.Wait()
				result := make(chan error)
				go func() { result <- tt.stop(w) }()
				synctest.Wait()
				close(proceed)
				if err := <-result; err != nil {
					t.Errorf("got error %v", err)
				}
				if got := w.counter("a").Load(); got != 0 {
					t.Errorf("got %d open instances, want 0", got)
				}
			})
		})
	}
}

func TestCloseDoesNotWaitForOtherInstancesToBeClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.ActivateConcurrency = 1 })
		var closing atomic.Int64
		proceed := make(chan struct{})
		for i := range 5 {
			w.mustDo(fmt.Sprint(i), func(r *room) { r.onClose = func() { closing.Add(1); <-proceed } })
		}
		results := make(chan error, 2)
		go func() { results <- w.dir.Shutdown(t.Context()) }()
		synctest.Wait()
		if got := closing.Load(); got != 1 {
			t.Errorf("got %d closing during Shutdown, want 1", got)
		}
		go func() { results <- w.dir.Close() }()
		synctest.Wait()
		if got := closing.Load(); got != 5 {
			t.Errorf("got %d closing during Close, want all 5", got)
		}
		close(proceed)
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestShutdownAmongCallersLosesNoMessage(t *testing.T) {
	t.Parallel()
	for range 20 {
		w := newWorld(t, nil)
		var told atomic.Int64
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				for {
					p, err := w.dir.Pin(t.Context(), fmt.Sprint(i%3))
					if err != nil {
						if !errors.Is(err, actors.ErrShuttingDown) {
							t.Errorf("pin: %v", err)
						}
						return
					}
					m := newAsk(nil)
					told.Add(1)
					p.Tell(m)
					if err := <-m.reply; err != nil {
						t.Errorf("got error %v for a message told through a pin", err)
					}
					p.Release()
				}
			})
		}
		w.mustDo("0", nil)
		if err := w.dir.Shutdown(t.Context()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		callers.Wait()
		if got, want := w.received.Load(), told.Load()+1; got != want {
			t.Errorf("got %d messages, want %d", got, want)
		}
	}
}
