package runs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// scatter grants so many quanta of one item, each to a worker of its own.
func (w *world) scatter(n int) {
	w.t.Helper()
	one := 1
	for i := range n {
		got, err := w.as(fmt.Sprint("worker", i)).ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable, MaxItems: &one})
		if err != nil || got.Quantum == nil {
			w.t.Fatalf("claim %d: got %+v and %v", i, got.Quantum, err)
		}
	}
}

// commits counts the transactions of the namespace since its activation.
func (w *world) commits() (n int64) {
	for s := range w.rt.Stats() {
		n += s.Storage.Commits
	}
	return n
}

// A crowd of workers that is lost at once does not hold up the namespace: its leases
// end in several transactions.
func TestManyLeasesThatAreDueAtOnceEndInSteps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const quanta, step = 500, 64
		w := newWorld(t, func(s *namespace.Settings) { s.Durability, s.QuantumLeaseMs = "relaxed", 5_000 })
		r := w.submit("acme", batch(quanta))
		w.scatter(quanta)
		before := w.commits()
		w.lapse(5 * time.Second)
		if got := w.commits() - before; got < quanta/step+1 {
			t.Errorf("the leases ended in %d transactions, want %d or more", got, quanta/step+1)
		}
		if got := w.run("acme", r.ID).Progress; got.Pending != quanta {
			t.Errorf("got %+v, want all back", got)
		}
		if n := w.number(`SELECT count(*) FROM runs_quantum`); n != 0 {
			t.Errorf("%d quanta are left", n)
		}
		w.scatter(1)
		w.lapse(5 * time.Second) // and whoever comes later is looked at too
		if got := w.items("acme", r.ID)[0]; got.Status != api.ItemFailed || got.Error.Code != "worker_lost" {
			t.Errorf("got %+v, want worker_lost after two attempts", got)
		}
	})
}

// A worker that comes while many leases are due gets what they held, each item once.
func TestLeasesDueAtOnceAreTakenBackOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const quanta = 200
		w := newWorld(t, func(s *namespace.Settings) { s.Durability, s.QuantumLeaseMs = "relaxed", 5_000 })
		r := w.submit("acme", batch(quanta))
		w.scatter(quanta)
		w.reopen(time.Hour) // they are due when the namespace starts
		w.scatter(quanta)
		if got := w.run("acme", r.ID).Progress; got.Running != quanta {
			t.Errorf("got %+v, want all at work again", got)
		}
		for _, i := range w.items("acme", r.ID) {
			if i.AttemptCount != 2 {
				t.Fatalf("%s was granted %d times, want twice", i.ID, i.AttemptCount)
			}
		}
	})
}

func TestLeasesEndInAPassiveNamespace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *namespace.Settings) { s.IdleTimeoutMs, s.QuantumLeaseMs = 1_000, 60_000 })
		r := w.submit("acme", batch(100))
		w.scatter(100)
		w.lapse(2 * time.Second)
		if got := w.rt.NodeStats(); got.Active != 0 || got.Activations != 1 {
			t.Fatalf("got %+v, want a passive namespace", got)
		}
		w.lapse(12*time.Second + 999*time.Millisecond) // a millisecond before the items are out of time
		if got := w.rt.NodeStats(); got.Activations != 1 {
			t.Fatalf("got %+v before any lease was over", got)
		}
		w.lapse(time.Second)
		if got := w.rt.NodeStats(); got.Activations != 2 {
			t.Fatalf("got %+v, want it to have woken by itself", got)
		}
		w.lapse(2 * time.Second)
		if got := w.rt.NodeStats(); got.Active != 0 {
			t.Fatalf("got %+v, want it passive again with nothing held", got)
		}
		events := w.events("acme", r.ID)
		if got := len(events); got != 1+1+100 {
			t.Errorf("%d events, want those of admission, start and a hundred returned", got)
		}
		if got := w.run("acme", r.ID); got.Progress.Pending != 100 || got.WaitingFor == nil {
			t.Errorf("got %+v, want all back", got)
		}
	})
}
