package namespace_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// deferral is a command whose caller waits: after wait it gets the number given,
// unless a later command decides otherwise.
type deferral struct {
	wait   time.Duration
	answer int64
	err    error
	d      namespace.Deferred
}

func (d *deferral) Apply(t *namespace.Turn) (namespace.Answer, error) {
	d.d = t.Defer(t.Now().Add(d.wait), namespace.Answer{Body: d.answer}, d.err)
	return namespace.Answer{Body: int64(-5)}, nil // is not sent
}

// deferring starts a command that is deferred.
func (w *world) deferring(d *deferral) *pending {
	p := w.start(call(d))
	synctest.Wait()
	return p
}

// ruling is a command that rules on a deferred one.
func ruling(rule func(t *namespace.Turn)) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		rule(t)
		return namespace.Answer{}, nil
	}
}

func resolve(d *deferral, answer int64) act {
	return ruling(func(t *namespace.Turn) { t.Resolve(d.d, namespace.Answer{Body: answer}, nil) })
}

func postpone(d *deferral, wait time.Duration, answer int64) act {
	return ruling(func(t *namespace.Turn) {
		t.Postpone(d.d, t.Now().Add(wait), namespace.Answer{Body: answer}, nil)
	})
}

// gets checks what a deferred caller got, and when.
func (p *pending) gets(want int64, after time.Duration) {
	p.t.Helper()
	if got := p.body(); got != want || p.took != after {
		p.t.Errorf("got %d after %v, want %d after %v", got, p.took, want, after)
	}
}

// The clock of an answer that is stored in whole milliseconds may be a fraction
// ahead, so waits here are whole seconds of the virtual clock.
func TestDeferredCallerGetsTheDefaultWhenItsTimeHasCome(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		answered := w.deferring(&deferral{wait: 3 * time.Second, answer: 7})
		failed := w.deferring(&deferral{wait: 2 * time.Second, err: api.Errorf(api.Conflict, "too late")})
		time.Sleep(time.Second)
		synctest.Wait()
		if answered.over() || failed.over() {
			t.Fatal("answered before its time")
		}
		_, err := failed.outcome()
		wantCode(t, err, api.Conflict)
		if failed.took != 2*time.Second {
			t.Errorf("failed after %v, want 2s", failed.took)
		}
		answered.gets(7, 3*time.Second)
	})
}

func TestTimeInThePastIsNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.deferring(&deferral{wait: 0, answer: 7}).gets(7, 0)
		d := &deferral{wait: time.Minute}
		p := w.deferring(d)
		w.must(call(postpone(d, -time.Second, 8)))
		p.gets(8, 0)
	})
}

func TestLaterCommandResolvesADeferredOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		good, bad := &deferral{wait: time.Minute}, &deferral{wait: time.Minute}
		first, second := w.deferring(good), w.deferring(bad)
		time.Sleep(time.Second)
		w.must(call(ruling(func(t *namespace.Turn) {
			t.Resolve(good.d, namespace.Answer{Status: 201, Body: int64(9)}, nil)
			t.Resolve(bad.d, namespace.Answer{}, api.Errorf(api.NotFound, "gone"))
		})))
		first.gets(9, time.Second)
		if first.out.Answer.Status != 201 {
			t.Errorf("got status %d, want 201", first.out.Answer.Status)
		}
		_, err := second.outcome()
		wantCode(t, err, api.NotFound)
	})
}

func TestPostponedCommandGetsTheNewDefaultAtTheNewTime(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"later": 20 * time.Second, "earlier": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				d := &deferral{wait: 10 * time.Second, answer: 1}
				p := w.deferring(d)
				// Others stand around it in the timeline, and keep their times.
				before := w.deferring(&deferral{wait: 4 * time.Second, answer: 2})
				after := w.deferring(&deferral{wait: 15 * time.Second, answer: 3})
				time.Sleep(time.Second)
				w.must(call(postpone(d, wait, 4)))
				before.gets(2, 4*time.Second)
				after.gets(3, 15*time.Second)
				p.gets(4, time.Second+wait)
			})
		})
	}
}

func TestLastOfSeveralRulingsCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := &deferral{wait: 10 * time.Second, answer: 1}
		p := w.deferring(d)
		w.must(call(ruling(func(t *namespace.Turn) {
			t.Postpone(d.d, t.Now().Add(time.Second), namespace.Answer{Body: int64(2)}, nil)
			t.Postpone(d.d, t.Now().Add(5*time.Second), namespace.Answer{Body: int64(3)}, nil)
		})))
		p.gets(3, 5*time.Second)
	})
}

func TestWhoHasItsAnswerIsRuledOnNoMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := &deferral{wait: time.Minute}
		p := w.deferring(d)
		if d.d.Gone() {
			t.Error("the caller is said to be gone while it waits")
		}
		w.must(call(ruling(func(t *namespace.Turn) {
			t.Resolve(d.d, namespace.Answer{Body: int64(1)}, nil)
			t.Resolve(d.d, namespace.Answer{Body: int64(2)}, nil)
		})))
		p.gets(1, 0)
		if !d.d.Gone() {
			t.Error("the caller is not said to be gone when it has its answer")
		}
		w.must(call(resolve(d, 3)))
		w.must(call(postpone(d, time.Second, 4)))
		time.Sleep(2 * time.Second)
		w.must(call(put("k", 1))) // nothing was spoilt
	})
}

func TestZeroDeferredIsNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		if d := (namespace.Deferred{}); !d.Gone() || d != (namespace.Deferred{}) {
			t.Error("the zero value is somebody")
		}
		w.must(call(resolve(&deferral{}, 1)))
		w.must(call(postpone(&deferral{}, time.Second, 1)))
	})
}

func TestCommandMayResolveWhatItHasItselfDeferred(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			d := t.Defer(t.Now().Add(time.Minute), namespace.Answer{}, nil)
			t.Resolve(d, namespace.Answer{Body: int64(6)}, nil)
			return namespace.Answer{}, nil
		})))
		p.gets(6, 0)
	})
}

// Deferred in one commit and resolved in the same one, by a command behind it.
func TestCommandsOfOneCommitSeeEachOthersDeferrals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.hold()
		d := &deferral{wait: time.Minute}
		p := w.deferring(d)
		w.start(call(act(func(t *namespace.Turn) (namespace.Answer, error) { return resolve(d, 6)(t) })))
		synctest.Wait()
		b.lift()
		p.gets(6, 0)
	})
}

func TestDeferredCallerWhoGoesAwayIsGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = 1000 }))
		d := &deferral{wait: time.Hour}
		p := w.deferring(d)
		p.cancel()
		if _, err := p.outcome(); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want the context's", err)
		}
		synctest.Wait()
		if !d.d.Gone() {
			t.Error("the caller is not said to be gone")
		}
		w.must(call(resolve(d, 1)))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, active := w.active("a"); active {
			t.Error("it keeps the namespace active")
		}
	})
}

func TestCallerWhoGoesAwayBeforeItIsDeferredIsNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = 1000 }))
		b := w.hold()
		p := w.deferring(&deferral{wait: time.Hour})
		p.cancel()
		synctest.Wait()
		b.lift()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, active := w.active("a"); active {
			t.Error("it keeps the namespace active")
		}
	})
}

func TestRulingOfACommandThatFailsHasNoEffect(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]bool{"refused before it wrote": false, "rolled back": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				d := &deferral{wait: 5 * time.Second, answer: 1}
				p := w.deferring(d)
				w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
					if write {
						if _, err := put("k", 1)(t); err != nil {
							return namespace.Answer{}, err
						}
					}
					t.Resolve(d.d, namespace.Answer{Body: int64(2)}, nil)
					t.Postpone(d.d, t.Now().Add(time.Second), namespace.Answer{Body: int64(3)}, nil)
					return namespace.Answer{}, api.Errorf(api.Conflict, "no")
				})), api.Conflict)
				p.gets(1, 5*time.Second)
			})
		})
	}
}

func TestCommandThatFailsIsNotDeferred(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			t.Defer(t.Now().Add(time.Minute), namespace.Answer{}, nil)
			return namespace.Answer{}, api.Errorf(api.Conflict, "no")
		})))
		_, err := p.outcome()
		wantCode(t, err, api.Conflict)
		if p.took != 0 {
			t.Errorf("failed after %v, want at once", p.took)
		}
	})
}

func TestDeferredCommandKeepsTheNamespaceActive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = 1000 }))
		w.deferring(&deferral{wait: 10 * time.Second, answer: 1}).gets(1, 10*time.Second)
		if got := w.runtime.NodeStats().Activations; got != 1 {
			t.Errorf("got %d activations, want 1", got)
		}
	})
}
