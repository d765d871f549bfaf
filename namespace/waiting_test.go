package namespace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// patient is a command that may be parked and does not pass admission.
type patient struct {
	wait time.Duration
	act
}

func (p patient) Wait() time.Duration { return p.wait }

// fetch is take without admission.
func fetch(kind string, wait time.Duration) patient {
	return patient{wait, take(kind, wait).act}
}

// wait starts one command without admission after another for the principals.
func (w *world) wait(kind string, wait time.Duration, principals ...string) []*pending {
	var calls []*pending
	for _, p := range principals {
		calls = append(calls, w.start(callAs(p, fetch(kind, wait))))
		synctest.Wait()
	}
	return calls
}

// signal says that n things happened on a topic, and does nothing else.
func signal(topic string, n int) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		t.Signal(topic, n)
		return namespace.Answer{}, nil
	}
}

// unadmitted checks that admission knows nothing of what was done.
func (w *world) unadmitted() {
	w.t.Helper()
	if s := w.status(); s.Admitted != 0 || s.InFlight != 0 || s.Pending != 0 || len(s.Refused) != 0 {
		w.t.Errorf("admission saw %d admitted, %d in flight, %d pending, refused %v; want nothing", s.Admitted, s.InFlight, s.Pending, s.Refused)
	}
}

// thenHold carries out a command in a commit of its own, and holds the writer
// before anything that follows from it.
func (w *world) thenHold(work act) *barrier {
	gate := make(chan struct{})
	w.start(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
		<-gate
		return work(t)
	})))
	synctest.Wait()
	held := make(chan *barrier, 1)
	go func() { held <- w.hold() }()
	synctest.Wait()
	close(gate)
	b := <-held
	synctest.Wait()
	return b
}

func TestCommandsOutsideAdmissionAreParkedAndTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.wait("k", 10*time.Second, "a", "a", "b", "c")
		if got := w.status().Parked; got != 4 {
			t.Fatalf("got %d parked, want 4", got)
		}
		for range 4 {
			w.must(call(put("k", 1)))
			synctest.Wait()
		}
		if diff := cmp.Diff(w.holders(), []string{"a", "b", "c", "a"}); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
		w.unadmitted()
	})
}

func TestWaitOutsideAdmissionEndsWithWhatWasFound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.wait("k", 3*time.Second, "a")[0]
		if got := p.body(); got != nothing || p.took != 3*time.Second {
			t.Errorf("got %d after %v, want nothing after 3s", got, p.took)
		}
		if p.out.Admission != nil {
			t.Errorf("got admission %+v, want none", p.out.Admission)
		}
		if got := w.status().Parked; got != 0 {
			t.Errorf("got %d parked, want 0", got)
		}
	})
}

func TestPausedNamespaceParksWhatIsOutsideAdmission(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.wait("k", 10*time.Second, "a")[0]
		claim := w.park("k", 10*time.Second, "claimant")[0]
		w.patch(`{"mode": "paused"}`)
		_, err := claim.outcome()
		wantCode(t, err, api.RateLimited)
		after := w.wait("k", 10*time.Second, "b")[0]
		if before.over() || after.over() {
			t.Fatalf("answered: before the pause %v, after it %v; want neither", before.over(), after.over())
		}
		w.must(call(put("k", 2)))
		if first, second := before.body(), after.body(); first != 1 || second != 2 {
			t.Errorf("got items %d, %d; want 1, 2: the pause costs no turn", first, second)
		}
	})
}

func TestFullAdmissionDoesNotTurnAwayWhatIsOutsideIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(s *namespace.Settings) { s.ClaimMaxPending = 0 })
		parked := w.wait("k", 10*time.Second, "a")[0]
		b := w.hold()
		w.start(callAs("slot", admitted{0, put("other", 1)}))
		synctest.Wait()
		w.fails(callAs("x", take("k", 0)), api.RateLimited)
		w.start(call(put("k", 2)))
		synctest.Wait()
		late := w.start(callAs("y", fetch("k", 0)))
		synctest.Wait()
		b.lift()
		if first, second := late.body(), parked.body(); first != 1 || second != 2 || parked.took != 0 {
			t.Errorf("got items %d, %d after %v; want 1, 2 at once", first, second, parked.took)
		}
	})
}

// What a woken command does not take, for whatever reason, somebody else may.
func TestWorkThatAWokenCommandOutsideAdmissionLeavesIsPassedOn(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]bool{"its caller has gone": false, "it fails": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				looked := 0
				first := w.start(callAs("a", patient{20 * time.Second, func(t *namespace.Turn) (namespace.Answer, error) {
					if looked++; fail && looked > 1 {
						return namespace.Answer{}, api.Errorf(api.Conflict, "no")
					}
					return take("k", 0).act(t)
				}}))
				synctest.Wait()
				second := w.wait("k", 20*time.Second, "b")[0]
				b := w.thenHold(put("k", 1))
				if got := w.status().Parked; got != 1 {
					t.Fatalf("got %d parked, want 1: the other was woken", got)
				}
				if !fail {
					first.cancel()
					synctest.Wait()
				}
				b.lift()
				if got := second.body(); got != 1 || second.took != 0 {
					t.Errorf("got item %d after %v, want 1 at once", got, second.took)
				}
				if _, err := first.outcome(); err == nil {
					t.Error("the first was served")
				}
				if diff := cmp.Diff(w.holders(), []string{"b"}); diff != "" {
					t.Errorf("holders (-got +want):\n%s", diff)
				}
			})
		})
	}
}

func TestParkedCallerOutsideAdmissionWhoGoesAwayLeavesItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		calls := w.wait("k", 10*time.Second, "a", "b")
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

func TestRevokedKeyEndsAWaitOutsideAdmission(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		key := w.key("worker")
		caller, err := w.Authenticate(t.Context(), key.Secret)
		if err != nil {
			t.Fatal(err)
		}
		p := w.start(namespace.Call{Class: "depot", Caller: caller, Command: fetch("k", 10*time.Second)})
		synctest.Wait()
		if err := w.RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		_, err = p.outcome()
		wantCode(t, err, api.Unauthorized)
		if p.took != 0 {
			t.Errorf("answered after %v, want at once", p.took)
		}
	})
}

func TestDrainAnswersWhoWaitsOutsideAdmission(t *testing.T) {
	t.Parallel()
	for name, drain := range map[string]func(t *testing.T, w *world){
		"shutdown": func(t *testing.T, w *world) {
			if err := w.runtime.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			w.fails(call(fetch("k", 0)), api.ShuttingDown)
		},
		"eviction": func(t *testing.T, w *world) {
			if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
				t.Error(err)
			}
		},
		"deletion": func(t *testing.T, w *world) {
			if err := w.runtime.Delete(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
				w.create("b")
				calls := w.wait("k", 30*time.Second, "a", "b")
				time.Sleep(time.Second)
				drain(t, w)
				for _, p := range calls {
					if got := p.body(); got != nothing || p.took != time.Second {
						t.Errorf("got %d after %v, want nothing after 1s", got, p.took)
					}
				}
			})
		})
	}
}
