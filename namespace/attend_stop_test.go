package namespace_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

func TestShutdownStopsTheClassOnceAndThenDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{}
		var w *world
		d.stop = func(ctx context.Context) {
			time.Sleep(3 * time.Second)
			// Its means are still there, but it is not called any more.
			before := d.called("a")
			if _, err := w.Do(ctx, call(put("k", 1))); err != nil {
				t.Errorf("a command in Stop: %v", err)
			}
			if got := d.called("a"); got != before {
				t.Errorf("called %d times since it was stopped, want never", got-before)
			}
		}
		w = newWorld(t, attended(d))
		w.items()
		begin := time.Now()
		if err := w.runtime.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 3*time.Second || d.stops != 1 {
			t.Errorf("shut down after %v with %d stops, want 3s and one", took, d.stops)
		}
		if err := w.runtime.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.runtime.Close(); err != nil || d.stops != 1 {
			t.Errorf("stopped %d times in the end, %v; want once", d.stops, err)
		}
		d.stop = nil
		w.open()
		if got := len(w.items()); got != 1 {
			t.Errorf("got %d items, want what Stop put there", got)
		}
	})
}

func TestShutdownWaitsForAnAttendantUnderWay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(w *world) error
		took time.Duration
	}{
		// Stop ends at once, and with it the attendant's time.
		"shutdown": {func(w *world) error { return w.runtime.Shutdown(context.Background()) }, time.Second},
		"close":    {func(w *world) error { return w.runtime.Close() }, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ended := false
				d := &warden{work: func(ctx context.Context, _ namespace.Namespace) {
					<-ctx.Done()
					time.Sleep(time.Second)
					ended = true
				}}
				w := newWorld(t, attended(d))
				w.items()
				synctest.Wait()
				begin := time.Now()
				if err := tt.end(w); err != nil {
					t.Error(err)
				}
				if took := time.Since(begin); !ended || took != tt.took || d.stops != 1 {
					t.Errorf("ended %v after %v with %d stops, want true after %v with one", ended, took, d.stops, tt.took)
				}
			})
		})
	}
}

func TestStopHasTheTimeOfTheShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{stop: func(ctx context.Context) { <-ctx.Done() }}
		var attending, stopping time.Time
		d.work = func(ctx context.Context, _ namespace.Namespace) { <-ctx.Done(); attending = time.Now() }
		w := newWorld(t, attended(d))
		w.items()
		synctest.Wait()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		_ = w.runtime.Shutdown(ctx) // there was no time for a drain
		stopping = time.Now()
		if attending.Sub(begin) != 4*time.Second || stopping.Sub(begin) != 4*time.Second {
			t.Errorf("the attendant ended after %v and the shutdown after %v, want 4s", attending.Sub(begin), stopping.Sub(begin))
		}
	})
}

// A second call of Shutdown must not take from the first the time it was given.
func TestSecondShutdownDoesNotHurryAttendants(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var stopped, ended time.Duration
		begin := time.Now()
		d := &warden{}
		d.work = func(ctx context.Context, _ namespace.Namespace) { <-ctx.Done(); ended = time.Since(begin) }
		d.stop = func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
			stopped = time.Since(begin)
		}
		w := newWorld(t, attended(d))
		w.items()
		synctest.Wait()
		many(2, func() {
			if err := w.runtime.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			if stopped == 0 || ended == 0 {
				t.Error("a shutdown ended before the attendants")
			}
		})
		if stopped != 5*time.Second || ended != 5*time.Second || d.stops != 1 {
			t.Errorf("stopped after %v, %d times, the attendant ended after %v; want 5s, once, 5s", stopped, d.stops, ended)
		}
	})
}

func TestCloseHurriesAStopUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{stop: func(ctx context.Context) { <-ctx.Done() }}
		w := newWorld(t, attended(d))
		w.items()
		begin := time.Now()
		down := make(chan error, 1)
		go func() { down <- w.runtime.Shutdown(context.Background()) }()
		time.Sleep(time.Second)
		if err := w.runtime.Close(); err != nil {
			t.Error(err)
		}
		if err := <-down; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != time.Second || d.stops != 1 {
			t.Errorf("it took %v and %d stops, want 1s and one", took, d.stops)
		}
	})
}

// cutOff is a context that ends when it is looked at the second time, a second
// later.
type cutOff struct {
	context.Context
	looks int
}

func (c *cutOff) Err() error {
	if c.looks++; c.looks < 2 {
		return nil
	}
	time.Sleep(time.Second)
	return context.Canceled
}

// A namespace that a crash left open is activated before the others are listed.
func TestOpenThatFailsLeavesNoAttendantBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{work: func(ctx context.Context, _ namespace.Namespace) { <-ctx.Done() }}
		w := newWorld(t, attended(d))
		w.create("b")
		w.items()
		if _, err := w.runtime.Namespace("b").Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.runtime.Close(); err != nil {
			t.Fatal(err)
		}
		called := func() int { return d.called("a") + d.called("b") }
		calls, stops := called(), d.stops
		_, err := namespace.Open(&cutOff{Context: t.Context()}, w.dir, w.options)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want the context's", err)
		}
		if got := called() - calls; got != 1 || d.stops != stops+1 {
			t.Errorf("called %d times and stopped %d times, want once each", got, d.stops-stops)
		}
	})
}
