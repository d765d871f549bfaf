package runs_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace/runs"
)

// toil is a worker with one slot of a pool, which takes so long for an item, until ctx
// ends.
func (w *world) toil(ctx context.Context, worker, pool string, each time.Duration) {
	wait := int64(10_000)
	for ctx.Err() == nil {
		got, err := w.as(worker).ClaimQuanta(ctx, api.QuantumSpec{Pool: pool, WaitMs: &wait})
		if err != nil || got.Quantum == nil {
			continue
		}
		spec := api.CommitSpec{Fence: got.Quantum.Fence}
		for _, i := range got.Quantum.Items {
			select {
			case <-time.After(each):
			case <-ctx.Done():
			}
			spec.Results = append(spec.Results, done(i.ID))
		}
		if _, err := w.as(worker).CommitQuantum(context.WithoutCancel(ctx), got.Quantum.ID, spec); err != nil && !api.IsCode(err, api.StaleFence) {
			w.t.Errorf("commit: %v", err)
			return
		}
	}
}

// quickCalls makes calls through the default pool one after another, and says how long
// each took, in order.
func (w *world) quickCalls(n int) []time.Duration {
	w.t.Helper()
	var took []time.Duration
	for range n {
		begin := time.Now()
		if _, err := w.as("quick").Invoke(w.ctx(), api.InvokeSpec{Kind: "call"}); err != nil {
			w.t.Fatalf("quick call: %v", err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took
}

// Slow calls and runs have slots of their own, so that quick calls take as long beside
// a flood of them as alone. Time in the bubble passes only while everybody waits, so the
// figures are exact.
func TestQuickCallsTakeAsLongBesideAFloodAsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := crew(t, runs.Options{})
		ctx, stop := context.WithCancel(t.Context())
		var workers, flood sync.WaitGroup
		const quick, slow = 20 * time.Millisecond, 2 * time.Second
		workers.Go(func() { w.toil(ctx, "w1", "default", quick) })
		workers.Go(func() { w.toil(ctx, "w2", "slow", slow) })
		workers.Go(func() { w.toil(ctx, "w3", api.PoolDurable, 50*time.Millisecond) })
		alone := w.quickCalls(100)

		run := w.submit("batch", batch(1_000))
		refused := 0
		var mu sync.Mutex
		for n := range 500 {
			flood.Go(func() {
				_, err := w.as(fmt.Sprint("flood", n)).Invoke(ctx, api.InvokeSpec{Kind: "call", Scorer: "heavy"})
				mu.Lock()
				defer mu.Unlock()
				if api.IsCode(err, api.RateLimited) {
					refused++
				}
			})
		}
		synctest.Wait()
		beside := w.quickCalls(100)
		if progress := w.run("batch", run.ID).Progress; progress.Succeeded == 0 || progress.Succeeded == progress.Total {
			t.Errorf("the run stands at %+v, want it under way", progress)
		}
		flood.Wait()
		stop()
		workers.Wait()
		t.Logf("alone: p50 %v, p99 %v; beside the flood: p50 %v, p99 %v; %d slow calls found no slot", alone[50], alone[98], beside[50], beside[98], refused)
		if alone[99] != quick || beside[99] != quick {
			t.Errorf("the slowest quick call took %v alone and %v beside the flood, want %v", alone[99], beside[99], quick)
		}
		if refused != 499 {
			t.Errorf("%d of 500 slow calls found no slot, want all but the first: the others waited a second at most", refused)
		}
	})
}
