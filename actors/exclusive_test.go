package actors_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

func TestExclusiveClosesTheInstanceAndHoldsTheName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.mustDo("a", nil)
		failed := errors.New("could not remove")
		pinned := make(chan error, 1)
		err := w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error {
			if diff := cmp.Diff(w.events.all(), []string{"drain removed", "close"}); diff != "" {
				t.Errorf("events before f (-got +want):\n%s", diff)
			}
			go func() { pinned <- w.do("a", nil) }()
			synctest.Wait()
			select {
			case err := <-pinned:
				t.Errorf("pinned during f: %v", err)
			default:
			}
			if _, ok := w.dir.Lookup("a"); ok {
				t.Error("got an instance during f")
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("got error %v, want that of f", err)
		}
		if err := <-pinned; err != nil {
			t.Errorf("got error %v from the pin that waited", err)
		}
	})
}

func TestExclusiveBeatsAStreamOfPins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var callers sync.WaitGroup
	var inside atomic.Bool
	w.onActivate = func(context.Context, *room) error {
		if inside.Load() {
			t.Error("activated while the name was reserved")
		}
		return nil
	}
	stop := make(chan struct{})
	for range 8 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := w.do("a", nil); err != nil {
					t.Errorf("ask: %v", err)
				}
			}
		})
	}
	var removers sync.WaitGroup
	for range 4 {
		removers.Go(func() {
			for range 50 {
				err := w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error {
					if inside.Swap(true) {
						t.Error("two functions at once")
					}
					if got := w.counter("a").Load(); got != 0 {
						t.Errorf("got %d open instances during f", got)
					}
					inside.Store(false)
					return nil
				})
				if err != nil {
					t.Errorf("exclusive: %v", err)
				}
			}
		})
	}
	removers.Wait()
	close(stop)
	callers.Wait()
}

func TestExclusiveWhoseCallerGoesAwayFreesTheName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		p := w.pin("a")
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		never := func(context.Context) error { t.Error("f was called"); return nil }
		go func() { errs <- w.dir.Exclusive(ctx, "a", actors.ReasonRemoved, never) }()
		synctest.Wait()
		ran := make(chan struct{})
		go func() {
			errs <- w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error {
				close(ran)
				return nil
			})
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want context.Canceled", err)
		}
		p.Release()
		<-ran // the second in line
		if err := <-errs; err != nil {
			t.Errorf("got error %v", err)
		}
		w.mustDo("a", nil)
	})
}

func TestExclusiveWaitsForAnActivationInCourse(t *testing.T) {
	t.Parallel()
	for name, activationErr := range map[string]error{"that succeeds": nil, "that fails": errors.New("broken")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				proceed := make(chan struct{})
				w.onActivate = func(context.Context, *room) error { <-proceed; return activationErr }
				asked := make(chan error, 1)
				go func() { // not with do, which takes an error of Pin for a failure
					p, err := w.dir.Pin(t.Context(), "a")
					if err == nil {
						m := newAsk(nil)
						p.Tell(m)
						err = <-m.reply
						p.Release()
					}
					asked <- err
				}()
				synctest.Wait()
				done := make(chan error, 1)
				go func() {
					done <- w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error { return nil })
				}()
				synctest.Wait()
				close(proceed)
				if err := <-asked; !errors.Is(err, activationErr) {
					t.Errorf("got error %v, want %v for who asked first", err, activationErr)
				}
				if err := <-done; err != nil {
					t.Errorf("got error %v", err)
				}
			})
		})
	}
}

func TestPanicInExclusiveFreesTheName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not reach the caller")
			}
		}()
		_ = w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error { panic("x") })
	}()
	w.mustDo("a", nil)
}

func TestExclusiveMayRemoveTheWakeThatTheInstanceLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.mustDo("a", func(r *room) { r.self.WakeAt(epoch.Add(time.Hour)) })
		err := w.dir.Exclusive(t.Context(), "a", actors.ReasonRemoved, func(context.Context) error {
			w.dir.Wake("a", time.Time{})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(2 * time.Hour)
		w.wantActivations(1)
	})
}
