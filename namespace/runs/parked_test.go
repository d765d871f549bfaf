package runs_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// waiter is a worker's request that waits for work.
type waiter struct {
	worker string
	done   chan struct{}
	got    api.Quanta
	err    error
}

// wait lets a worker wait for work, and comes back when it waits or has got some.
func (w *world) wait(ctx context.Context, worker string, spec api.QuantumSpec) *waiter {
	ms := int64(30_000)
	spec.WaitMs = &ms
	if spec.Pool == "" {
		spec.Pool = api.PoolDurable
	}
	p := &waiter{worker: worker, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.got, p.err = w.as(worker).ClaimQuanta(ctx, spec)
	}()
	synctest.Wait()
	return p
}

// served are the waiters that have got work.
func served(t *testing.T, waiters []*waiter) (got []*waiter) {
	t.Helper()
	synctest.Wait()
	for _, p := range waiters {
		select {
		case <-p.done:
			if p.err == nil && p.got.Quantum != nil {
				got = append(got, p)
			}
		default:
		}
	}
	return got
}

// waiters are n workers that wait for work.
func (w *world) waiters(n int, spec api.QuantumSpec) (all []*waiter) {
	for i := range n {
		all = append(all, w.wait(w.ctx(), fmt.Sprint("w", i), spec))
	}
	return all
}

func TestWorkersAreWokenForEveryQuantumThatCanBeCut(t *testing.T) {
	one := 1
	for _, c := range []struct {
		name string
		edit func(*namespace.Settings)
		spec api.QuantumSpec
		want int // of the workers, for 9 items of cost 10
	}{
		{"items", func(*namespace.Settings) {}, api.QuantumSpec{}, 3},
		{"cost", func(s *namespace.Settings) { s.QuantumCost = 15 }, api.QuantumSpec{}, 5},
		{"what a worker takes", func(*namespace.Settings) {}, api.QuantumSpec{MaxItems: &one}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, c.edit)
				all := w.waiters(12, c.spec)
				r := w.submit("acme", batch(9))
				if got := len(served(t, all)); got != c.want {
					t.Errorf("%d workers have got work, want %d", got, c.want)
				}
				if got := w.run("acme", r.ID).Progress; got.Running != 9 {
					t.Errorf("got %+v, want all items at work", got)
				}
				w.lapse(30 * time.Second)
			})
		})
	}
}

func TestWorkersAreWokenForTheirKindsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *namespace.Settings) { s.Kinds["twin"] = s.Kinds["work"] })
		own := w.wait(t.Context(), "own", api.QuantumSpec{Kinds: []string{"other", "twin"}})
		others := []*waiter{
			w.wait(t.Context(), "w1", api.QuantumSpec{Kinds: []string{"work"}}),
			w.wait(t.Context(), "w2", api.QuantumSpec{Kinds: []string{"other"}}),
			w.wait(t.Context(), "w3", api.QuantumSpec{Pool: "default"}),
			w.wait(t.Context(), "w4", api.QuantumSpec{Pool: "slow"}),
		}
		spec := batch(1)
		spec.Kind = "twin"
		w.submit("acme", spec)
		if len(served(t, []*waiter{own})) != 1 || len(served(t, others)) != 0 {
			t.Errorf("the worker of the kind got %+v, others %d quanta", own.got.Quantum, len(served(t, others)))
		}
		call := w.invoke(t.Context(), "acme", "heavy")
		if got := served(t, others); len(got) != 1 || got[0].worker != "w4" {
			t.Errorf("a slow call went to %d others, want the slow worker", len(got))
		}
		w.commit("w4", others[3].got.Quantum)
		if !call.over() || call.err != nil {
			t.Errorf("got %v", call.err)
		}
		w.lapse(30 * time.Second)
	})
}

func TestOneItemGoesToOneOfAThousandWhoWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		all := w.waiters(1_000, api.QuantumSpec{})
		w.submit("acme", batch(1))
		if got := len(served(t, all)); got != 1 {
			t.Fatalf("%d workers have got the item", got)
		}
		if got, err := w.ns.Admission(w.ctx(), namespace.Caller{Principal: "test"}); err != nil || got.Parked != 999 {
			t.Errorf("%d still wait, %v; want 999", got.Parked, err)
		}
		w.lapse(30 * time.Second)
		for _, p := range all {
			<-p.done
			if p.err != nil || (p.got.Quantum == nil) == (p.got.Idle == nil) {
				t.Fatalf("%s got %+v and %v", p.worker, p.got, p.err)
			}
		}
	})
}

func TestWhatComesBackWakesAWorker(t *testing.T) {
	for name, back := range map[string]func(*world, *api.Quantum) error{
		"released": func(w *world, q *api.Quantum) error {
			_, err := w.as("first").ReleaseQuantum(w.ctx(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence})
			return err
		},
		"done with": func(w *world, q *api.Quantum) error {
			_, err := w.as("first").CommitQuantum(w.ctx(), q.ID, api.CommitSpec{Fence: q.Fence, Done: true})
			return err
		},
		"lost": func(w *world, _ *api.Quantum) error { w.lapse(2 * time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 2_000 })
				w.submit("acme", batch(4))
				q := w.claim("first")
				all := w.waiters(3, api.QuantumSpec{})
				if err := back(w, q); err != nil {
					t.Fatal(err)
				}
				if got := served(t, all); len(got) != 1 || len(got[0].got.Quantum.Items) != 4 {
					t.Errorf("%d workers have got work, want one", len(got))
				}
				w.lapse(30 * time.Second)
			})
		})
	}
}

// Work that wakes a worker whose caller goes away at that moment goes to the next.
func TestAWorkerThatGoesAwayLeavesTheWorkToTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 1_000 })
		for round := range 50 {
			ctx, leave := context.WithCancel(t.Context())
			leaving := w.wait(ctx, "leaving", api.QuantumSpec{})
			staying := w.wait(t.Context(), "staying", api.QuantumSpec{})
			go leave()
			w.submit("acme", batch(1))
			q := served(t, []*waiter{leaving, staying})
			switch {
			case len(q) == 1 && q[0] == staying:
			case len(q) == 1: // it had its quantum before it could leave
				w.submit("acme", batch(1))
				synctest.Wait()
			case leaving.err != nil && w.number(`SELECT count(*) FROM runs_quantum`) == 1:
				// The grant was committed when it left: the lease will run out.
				w.lapse(time.Second)
			}
			<-leaving.done
			<-staying.done
			if staying.err != nil || staying.got.Quantum == nil {
				t.Fatalf("round %d: the one that stayed got %+v and %v", round, staying.got, staying.err)
			}
			for _, p := range served(t, []*waiter{leaving, staying}) {
				w.commit(p.worker, p.got.Quantum)
			}
		}
	})
}

func TestAdviceToAskAgainGrowsUntilThereIsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(worker string) int64 {
		got, err := w.as(worker).ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable})
		if err != nil {
			t.Fatal(err)
		}
		if got.Quantum != nil {
			w.commit(worker, got.Quantum)
			return 0
		}
		return got.Idle.PollAfterMs
	}
	for n, want := range []int64{250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000} {
		if got := ask("w1"); got != want {
			t.Errorf("after %d empty answers: got %d ms, want %d", n, got, want)
		}
	}
	if got := ask("w2"); got != 250 {
		t.Errorf("another worker: got %d ms", got)
	}
	w.submit("acme", batch(1))
	if ask("w2") != 0 || ask("w1") != 250 || ask("w1") != 500 {
		t.Error("work that was offered does not bring the advice back to its start")
	}
}
