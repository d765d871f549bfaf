package runs_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// A cancel that races with the commit of the last item has one outcome, and both
// answers tell it.
func TestCancelAndTheLastCommitAgreeOnOneEnd(t *testing.T) {
	t.Parallel()
	const lanes, rounds = 40, 50
	w := newWorld(t, func(s *namespace.Settings) {
		s.Durability = "relaxed"
		for lane := range lanes {
			s.Kinds[fmt.Sprint("kind", lane)] = s.Kinds["work"]
		}
	})
	ends := make([]map[api.RunStatus]int, lanes)
	var wg sync.WaitGroup
	for lane := range lanes {
		ends[lane] = map[api.RunStatus]int{}
		wg.Go(func() {
			for range rounds {
				end, err := w.raceOnce(fmt.Sprint("tenant", lane), fmt.Sprint("worker", lane), fmt.Sprint("kind", lane))
				if err != nil {
					t.Errorf("lane %d: %v", lane, err)
					return
				}
				ends[lane][end]++
			}
		})
	}
	wg.Wait()
	all := map[api.RunStatus]int{}
	for _, lane := range ends {
		for end, n := range lane {
			all[end] += n
		}
	}
	if all[api.RunCompleted] == 0 || all[api.RunCancelled] == 0 || all[api.RunCompleted]+all[api.RunCancelled] != lanes*rounds {
		t.Errorf("the rounds ended %v, want some either way and none otherwise", all)
	}
	for sql, want := range map[string]int{
		`SELECT sum(runs + items + bytes) FROM runs_tenant`:                                                0,
		`SELECT count(*) FROM runs_quantum`:                                                                0,
		`SELECT count(*) FROM runs_state WHERE status = 'completed' AND succeeded = 1`:                     all[api.RunCompleted],
		`SELECT count(*) FROM runs_state WHERE status = 'cancelled' AND cancelled = 1`:                     all[api.RunCancelled],
		`SELECT count(*) FROM runs_outcome o JOIN runs_work w ON w.id = o.id WHERE w.status = 'succeeded'`: all[api.RunCompleted],
		`SELECT count(*) FROM runs_outcome`:                                                                all[api.RunCompleted],
		`SELECT count(*) FROM ns_event WHERE type IN ('run.completed', 'run.cancelled', 'run.failed')`:     lanes * rounds,
		`SELECT count(*) FROM ns_event WHERE type IN ('item.succeeded', 'item.cancelled', 'item.failed')`:  lanes * rounds,
	} {
		if n := w.number(sql); n != int64(want) {
			t.Errorf("%s: got %d, want %d", sql, n, want)
		}
	}
}

// raceOnce is one round. Every lane has a kind of its own, so that its worker gets its
// tenant's run.
func (w *world) raceOnce(tenant, worker, kind string) (api.RunStatus, error) {
	spec := batch(1)
	spec.Kind = kind
	r, err := w.as(tenant).Submit(w.ctx(), spec, "")
	if err != nil {
		return "", err
	}
	quanta, err := w.as(worker).ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable, Kinds: []string{kind}})
	if err != nil || quanta.Quantum == nil || *quanta.Quantum.Run != r.ID {
		return "", fmt.Errorf("claim: %v, %w", quanta.Quantum, err)
	}
	var (
		wg        sync.WaitGroup
		cancelled api.Run
		cancelErr error
	)
	wg.Go(func() { cancelled, cancelErr = w.as(tenant).Cancel(w.ctx(), r.ID) })
	committed, err := w.tryCommit(worker, quanta.Quantum)
	wg.Wait()
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	end, agreed := committed.Run.Status, false
	switch end {
	case api.RunCompleted:
		agreed = api.IsCode(cancelErr, api.RunTerminal) && len(committed.Committed) == 1 && len(committed.Ignored) == 0
	case api.RunCancelled:
		agreed = cancelErr == nil && cancelled.CancelRequested && len(committed.Committed) == 0 && committed.Ignored[0].Reason == "cancelled"
	}
	if !agreed {
		return "", fmt.Errorf("the run is %s; cancel said %+v, %v and the commit %+v", end, cancelled, cancelErr, committed)
	}
	return end, nil
}
