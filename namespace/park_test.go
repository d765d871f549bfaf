package namespace_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// park starts one waiting command after another for the principals.
func (w *world) park(kind string, wait time.Duration, principals ...string) []*pending {
	var calls []*pending
	for _, p := range principals {
		calls = append(calls, w.start(callAs(p, take(kind, wait))))
		synctest.Wait()
	}
	return calls
}

func TestParkedCommandsTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.park("k", 10*time.Second, "a", "a", "a", "b", "c", "b")
		if s := w.status(); s.Parked != 6 || s.InFlight != 0 || s.AverageMs != nil {
			t.Errorf("got %d parked, %d in flight, average %v; want 6, 0, none", s.Parked, s.InFlight, s.AverageMs)
		}
		for range 6 {
			w.must(call(put("k", 1)))
			synctest.Wait()
		}
		if diff := cmp.Diff(w.holders(), []string{"a", "b", "c", "a", "b", "a"}); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
	})
}

func TestAsManyAreWokenAsThereIsWorkFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.park("k", 10*time.Second, "a", "b", "c", "d")
		w.park("other", 10*time.Second, "e")
		w.must(call(put("k", 3)))
		synctest.Wait()
		s := w.status()
		if s.Parked != 2 || s.Admitted != 8 {
			t.Errorf("got %d parked, %d admitted; want 2, and 8: five that found nothing and three that were woken", s.Parked, s.Admitted)
		}
		if diff := cmp.Diff(w.holders(), []string{"a", "b", "c"}); diff != "" {
			t.Errorf("holders (-got +want):\n%s", diff)
		}
	})
}

func TestWokenCommandThatFindsNothingParksInItsOldPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.park("k", 10*time.Second, "a", "b")
		// A signal without work: a looks, finds nothing, and is first again.
		w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			t.Signal("k", 1)
			return namespace.Answer{}, nil
		})))
		synctest.Wait()
		if s := w.status(); s.Parked != 2 || s.Admitted != 3 {
			t.Fatalf("got %d parked, %d admitted; want 2, 3", s.Parked, s.Admitted)
		}
		w.must(call(put("k", 1)))
		synctest.Wait()
		if diff := cmp.Diff(w.holders(), []string{"a"}); diff != "" {
			t.Errorf("holders (-got +want):\n%s", diff)
		}
	})
}

func TestWaitEndsWithWhatWasFound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(call(take("k", 3*time.Second)))
		if got := p.body(); got != nothing || p.took != 3*time.Second {
			t.Errorf("got %d after %v, want nothing after 3s", got, p.took)
		}
		if s := w.status(); s.Parked != 0 || len(s.Principals) != 0 {
			t.Errorf("got %d parked, principals %v; want none", s.Parked, s.Principals)
		}
	})
}

func TestCommandWithoutWaitIsNotParked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(call(take("k", 0)))
		if got := p.body(); got != nothing || p.took != 0 {
			t.Errorf("got %d after %v, want nothing at once", got, p.took)
		}
	})
}

func TestCallerWhoGoesAwayLeavesItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		calls := w.park("k", 10*time.Second, "a", "b")
		calls[0].cancel()
		synctest.Wait()
		if got := w.status().Parked; got != 1 {
			t.Fatalf("got %d parked, want 1", got)
		}
		w.must(call(put("k", 1)))
		if got := calls[1].body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
	})
}

// oneSlot is a world whose admission has one slot.
func oneSlot(t *testing.T, edit func(*namespace.Settings)) *world {
	t.Helper()
	return newWorld(t, withSettings(func(s *namespace.Settings) {
		s.ClaimInitialConcurrency, s.ClaimMaxConcurrency = 1, 1
		edit(s)
	}))
}

// occupy has the one slot taken, at the writer, by a command that ends when free
// is called. Before that, in a commit of their own, come the other commands.
func (w *world) occupy(before ...func() *pending) (free func()) {
	w.t.Helper()
	b := w.hold()
	slot := make(chan struct{})
	free = sync.OnceFunc(func() { close(slot) })
	w.t.Cleanup(free)
	w.start(callAs("slot", admitted{0, func(*namespace.Turn) (namespace.Answer, error) {
		<-slot
		return namespace.Answer{}, nil
	}}))
	for _, start := range before {
		synctest.Wait()
		start()
	}
	synctest.Wait()
	w.crowd()
	synctest.Wait()
	b.lift()
	synctest.Wait()
	return free
}

// starting is start, put off.
func (w *world) starting(c namespace.Call) func() *pending {
	return func() *pending { return w.start(c) }
}

// patching changes settings without waiting for it.
func (w *world) patching(document string) func() *pending {
	return func() *pending {
		go w.patch(document)
		return nil
	}
}

func TestWorkThatAWokenCommandDoesNotTakeIsPassedOn(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *pending) (api.Code, bool){
		"gone while it waits in admission":     func(p *pending) (api.Code, bool) { p.cancel(); return "", false },
		"refused by its deadline in admission": func(*pending) (api.Code, bool) { time.Sleep(2 * time.Second); return api.RateLimited, true },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxWaitMs = 2000 })
				calls := w.park("k", 20*time.Second, "a", "b")
				free := w.occupy(w.starting(call(put("k", 1))))
				if got := w.status(); got.Pending != 1 || got.Parked != 1 {
					t.Fatalf("got %d pending, %d parked; want 1, 1", got.Pending, got.Parked)
				}
				code, refused := end(calls[0])
				synctest.Wait()
				free()
				if _, err := calls[0].outcome(); refused {
					wantCode(t, err, code)
				}
				if got := calls[1].body(); got != 1 || calls[1].took > 3*time.Second {
					t.Errorf("got item %d after %v, want 1 as soon as the first was out", got, calls[1].took)
				}
			})
		})
	}
}

// Several woken commands meet their deadline in one event of admission. What
// they were woken for goes to one who arrives there because of it, and displaces
// somebody: that event must not cover up the first one.
func TestManyRefusedAtOnceAreAllAnsweredAndTheirWorkIsPassedOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxWaitMs = 5000 })
		calls := w.park("k", 20*time.Second, "a", "b", "c", "d")
		var other *pending
		free := w.occupy(
			w.starting(callAs("z", take("none", 0))),
			func() *pending { other = w.start(callAs("z", take("none", 0))); return other },
			w.patching(`{"claim_max_wait_ms": 2000}`),
			w.starting(call(put("k", 3))),
			w.patching(`{"claim_max_pending": 2}`),
		)
		if got := w.status(); got.Pending != 5 || got.Parked != 1 {
			t.Fatalf("got %d pending, %d parked; want 5, 1", got.Pending, got.Parked)
		}
		time.Sleep(2 * time.Second) // a, b and c, but not z, meet their deadline
		synctest.Wait()
		for n, p := range calls[:3] {
			if !p.over() {
				t.Fatalf("command %d was refused and not answered", n)
			}
			_, err := p.outcome()
			wantCode(t, err, api.RateLimited)
		}
		if s := w.status(); s.Pending != 2 || s.Parked != 1 {
			t.Errorf("got %d pending, %d parked; want 2, 1: nobody is woken into a full queue, or displaced for it", s.Pending, s.Parked)
		}
		free()
		if got := calls[3].body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
	})
}

// Without room to wait in admission, the refusals of those who are woken together
// must not run through everybody who is parked and leave the work lying.
func TestWorkIsPassedOnOnlyWhereThereIsRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) {
			s.ClaimInitialConcurrency, s.ClaimMaxConcurrency, s.ClaimMaxPending = 1, 1, 0
		}))
		calls := w.park("k", 10*time.Second, "a", "b", "c", "d", "e", "f", "g", "h")
		w.must(call(put("k", 3)))
		synctest.Wait()
		refused := 0
		for _, c := range calls {
			if c.over() {
				if _, err := c.outcome(); err != nil {
					refused++
				}
			}
		}
		if refused != 2 {
			t.Errorf("%d were refused, want 2: of the three that were woken together one could start", refused)
		}
		if diff := cmp.Diff(w.holders(), []string{"a", "d", "e"}); diff != "" {
			t.Errorf("holders (-got +want):\n%s", diff)
		}
		if s := w.status(); s.Parked != 3 {
			t.Errorf("%d are still parked, want 3", s.Parked)
		}
	})
}

func TestWholeAnswerTakesTheLongerOfTheTwoWaits(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{10 * time.Second, 9500 * time.Millisecond} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxWaitMs = 5000 })
				p := w.park("k", wait, "a")[0]
				time.Sleep(9 * time.Second)
				// Woken now, it may not wait in admission until 14 s.
				free := w.occupy(w.starting(call(put("k", 1))))
				if got := p.body(); got != nothing || p.took != wait {
					t.Errorf("got %d after %v, want nothing after %v", got, p.took, wait)
				}
				free()
				synctest.Wait()
				if s := w.status(); s.Pending != 0 || s.InFlight != 0 {
					t.Errorf("got %d pending, %d in flight; want none", s.Pending, s.InFlight)
				}
			})
		})
	}
}

func TestWokenCommandMayWaitInAdmissionUntilTheMaximumWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxWaitMs = 5000 })
		p := w.park("k", 2*time.Second, "a")[0]
		time.Sleep(time.Second)
		free := w.occupy(w.starting(call(put("k", 1))))
		time.Sleep(3 * time.Second) // past its own wait
		free()
		if got := p.body(); got != 1 || p.took != 4*time.Second {
			t.Errorf("got %d after %v, want item 1 after 4s", got, p.took)
		}
		p = w.park("k", 2*time.Second, "a")[0]
		time.Sleep(time.Second)
		free = w.occupy(w.starting(call(put("k", 1))))
		if got := p.body(); got != nothing || p.took != 5*time.Second {
			t.Errorf("got %d after %v, want nothing after 5s", got, p.took)
		}
		free()
	})
}

func TestWaitShorterThanTheQueueStillLooksOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxWaitMs = 5000 })
		free := w.occupy()
		p := w.start(call(take("k", time.Second)))
		time.Sleep(4 * time.Second)
		free()
		if got := p.body(); got != nothing || p.took != 4*time.Second || p.out.Admission.Wait != 4*time.Second {
			t.Errorf("got %d after %v, of which %v in admission; want nothing after 4s and 4s", got, p.took, p.out.Admission.Wait)
		}
		free = w.occupy()
		p = w.start(call(take("k", time.Minute)))
		_, err := p.outcome()
		if e := wantCode(t, err, api.RateLimited); e.Reason != "wait deadline" || p.took != 5*time.Second || p.out.Admission == nil {
			t.Errorf("got reason %q after %v, admission %v; want wait deadline after 5s", e.Reason, p.took, p.out.Admission)
		}
		free()
	})
}

func TestCommandWithoutTopicsIsWokenByAny(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var looked int
		p := w.start(call(admitted{10 * time.Second, func(t *namespace.Turn) (namespace.Answer, error) {
			if looked++; looked < 3 {
				t.Park()
			}
			return namespace.Answer{Body: int64(looked)}, nil
		}}))
		synctest.Wait()
		w.must(call(put("this", 1)))
		synctest.Wait()
		w.must(call(put("that", 1)))
		if got := p.body(); got != 3 {
			t.Errorf("it looked %d times, want 3", got)
		}
	})
}
