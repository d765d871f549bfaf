package actors_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors"
)

// TestNoMessageIsLostAcrossPassivations tells messages to names that are
// passivated all the time, for being idle and for being too many, and counts
// where each message arrives.
func TestNoMessageIsLostAcrossPassivations(t *testing.T) {
	t.Parallel()
	passivations := int64(10_000)
	if testing.Short() {
		passivations = 1000
	}
	w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) {
		cfg.MaxActive, cfg.ActivateConcurrency, cfg.IdleTimeout = 4, 2, time.Millisecond
	})
	parcels := make([][]*parcel, 8)
	var callers sync.WaitGroup
	for i := range parcels {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for w.activations.Load() < passivations {
				p := w.pin(fmt.Sprint(random.IntN(8)))
				for range random.IntN(3) {
					m := &parcel{}
					parcels[i] = append(parcels[i], m)
					p.Tell(m)
				}
				p.Release()
				w.clock.Advance(100 * time.Microsecond)
			}
		})
	}
	callers.Wait()
	if err := w.dir.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, list := range parcels {
		for _, m := range list {
			told++
			if n := m.arrivals.Load(); n != 1 || m.refusal != nil {
				t.Fatalf("a message arrived %d times, refused with %v; want it received once", n, m.refusal)
			}
		}
	}
	t.Logf("%d messages, %d activations", told, w.activations.Load())
	if want := (actors.Footprint{Processes: 2}); actors.FootprintOf(w.dir) != want {
		t.Errorf("left behind (-got +want):\n%s", cmp.Diff(actors.FootprintOf(w.dir), want))
	}
}

// TestEveryMessageArrivesOnceAcrossFailures has instances fail, panic and tell
// themselves things at random: a message may be refused, but never lost or
// handled twice.
func TestEveryMessageArrivesOnceAcrossFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) {
		cfg.MaxActive, cfg.ActivateConcurrency = 2, 2
	})
	var mu sync.Mutex
	var parcels []*parcel
	newParcel := func(do func(*room)) *parcel {
		m := &parcel{do: do}
		mu.Lock()
		defer mu.Unlock()
		parcels = append(parcels, m)
		return m
	}
	mischief := func(n int) func(*room) {
		switch n {
		case 0:
			return func(r *room) { r.self.Fail(errors.New("disk failed")) }
		case 1:
			return func(*room) { panic("x") }
		case 2:
			return func(r *room) { r.self.Tell(newParcel(nil)) }
		case 3:
			return func(r *room) {
				m := newParcel(nil)
				m.optional = true
				r.self.After(0, m)
			}
		}
		return nil
	}
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 2))
			for range 3000 {
				p := w.pin(fmt.Sprint(random.IntN(4)))
				p.Tell(newParcel(mischief(random.IntN(12))))
				w.clock.Advance(0)
				switch random.IntN(40) {
				case 0:
					self := p.Instance().self // perhaps after the end
					callers.Go(func() { self.Tell(newParcel(nil)) })
				case 1:
					p.Instance().self.Fail(errors.New("writer failed"))
				}
				p.Release()
				if random.IntN(100) == 0 {
					name := fmt.Sprint(random.IntN(4))
					if err := w.dir.Exclusive(t.Context(), name, actors.ReasonRemoved, func(context.Context) error { return nil }); err != nil {
						t.Errorf("exclusive: %v", err)
					}
				}
			}
		})
	}
	callers.Wait()
	if err := w.dir.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	refused := 0
	for _, m := range parcels {
		switch n := m.arrivals.Load(); {
		case n > 1 || n == 0 && !m.optional:
			t.Fatalf("a message arrived %d times", n)
		case n == 1 && m.refusal != nil:
			refused++
			if !errors.Is(m.refusal, actors.ErrRestarted) && !errors.Is(m.refusal, actors.ErrClosed) {
				t.Fatalf("a message was refused with %v", m.refusal)
			}
		}
	}
	t.Logf("%d messages, %d refused, %d activations", len(parcels), refused, w.activations.Load())
}

func TestNamesThatComeAndGoLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *world, cfg *actors.Config[*room]) { cfg.MaxActive = 10 })
	broken := errors.New("no such room")
	w.onActivate = func(_ context.Context, r *room) error {
		if len(r.name)%2 == 0 {
			return broken
		}
		return nil
	}
	for i := range 10_000 {
		p, err := w.dir.Pin(t.Context(), fmt.Sprint(i))
		if err == nil {
			p.Instance().self.WakeAt(time.Time{})
			p.Release()
		} else if !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	if got := actors.FootprintOf(w.dir); got.Names > 26 || got.IdleDeadlines > 26 || got.Wakes > 0 || got.Processes > 28 {
		t.Errorf("got %+v remembered with 10 active", got)
	}
	if err := w.dir.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := (actors.Footprint{Processes: 2}); actors.FootprintOf(w.dir) != want {
		t.Errorf("left behind (-got +want):\n%s", cmp.Diff(actors.FootprintOf(w.dir), want))
	}
}
