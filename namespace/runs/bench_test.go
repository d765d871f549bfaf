package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// bench is a runtime on a synced file and the system's clock, with budgets that do not
// bind.
type bench struct {
	*testing.B
	ns namespace.Namespace
}

func newBench(b *testing.B) *bench {
	settings := namespace.DefaultSettings()
	settings.Kinds = map[string]api.Kind{
		"work": {Pool: api.KindPool{Durable: true}, Cost: api.Measure{Value: 10}},
		"call": {Pool: api.KindPool{PerScorer: map[string]string{"*": "default", "heavy": "slow"}}},
	}
	settings.Budgets = api.Budgets{Runs: 1 << 30, Items: 1 << 30, ResultCells: 1 << 30, InputBytes: 1 << 40}
	rt, err := namespace.Open(b.Context(), b.TempDir(), namespace.Options{Classes: []namespace.Class{runs.Class(runs.Options{})}, Defaults: &settings})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Close() })
	if _, err := rt.Create(b.Context(), "bench"); err != nil {
		b.Fatal(err)
	}
	return &bench{b, rt.Namespace("bench")}
}

func (b *bench) as(name string) runs.Service {
	return runs.Of(b.ns, namespace.Caller{Principal: name})
}

// fill admits runs with so many items in all, of so many tenants.
func (b *bench) fill(items, tenants int) {
	for n := 0; items > 0; n++ {
		size := min(items, 1_000)
		if _, err := b.as(fmt.Sprint("tenant", n%tenants)).Submit(b.Context(), batch(size), ""); err != nil {
			b.Fatal(err)
		}
		items -= size
	}
}

// quantum claims a quantum and gives it, or nil.
func (b *bench) quantum(worker, pool string, wait int64) *api.Quantum {
	got, err := b.as(worker).ClaimQuanta(b.Context(), api.QuantumSpec{Pool: pool, WaitMs: &wait})
	if err != nil {
		return nil
	}
	return got.Quantum
}

// settle commits all of a quantum.
func (b *bench) settle(worker string, q *api.Quantum, result json.RawMessage) {
	spec := api.CommitSpec{Fence: q.Fence}
	for _, i := range q.Items {
		spec.Results = append(spec.Results, api.ItemResult{ID: i.ID, Status: api.ItemSucceeded, Result: result})
	}
	if _, err := b.as(worker).CommitQuantum(b.Context(), q.ID, spec); err != nil {
		b.Errorf("commit: %v", err)
	}
}

// BenchmarkQuantum claims four items and commits 200 bytes for each, with as many
// workers as its name says.
func BenchmarkQuantum(b *testing.B) {
	for _, workers := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			w := newBench(b)
			w.fill(4*b.N, 4)
			result := sized(200)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for n := range workers {
				wg.Go(func() {
					for worker := fmt.Sprint("worker", n); left.Add(-1) >= 0; {
						q := w.quantum(worker, api.PoolDurable, 0)
						if q == nil {
							b.Error("there was no quantum")
							return
						}
						w.settle(worker, q, result)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(4*float64(b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// BenchmarkAdmit1000 admits runs of a thousand items.
func BenchmarkAdmit1000(b *testing.B) {
	w := newBench(b)
	spec := batch(1_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.as("acme").Submit(b.Context(), spec, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1_000*float64(b.N)/b.Elapsed().Seconds(), "items/s")
}

// BenchmarkPick claims and gives back a quantum of four items, beside as many active
// runs of eight items as its name says.
func BenchmarkPick(b *testing.B) {
	for _, active := range []int{1, 1_000} {
		b.Run(fmt.Sprintf("runs=%d", active), func(b *testing.B) {
			w := newBench(b)
			var wg sync.WaitGroup
			for lane := range 20 {
				wg.Go(func() {
					for n := lane; n < active; n += 20 {
						if _, err := w.as(fmt.Sprint("tenant", n%50)).Submit(b.Context(), batch(8), ""); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				begin := time.Now()
				q := w.quantum("worker", api.PoolDurable, 0)
				took = append(took, time.Since(begin))
				if _, err := w.as("worker").ReleaseQuantum(b.Context(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence}); err != nil {
					b.Fatal(err)
				}
			}
			reportTimes(b, "claim", took)
		})
	}
}

// reportTimes adds percentiles to a benchmark's figures.
func reportTimes(b *testing.B, what string, took []time.Duration) {
	slices.Sort(took)
	at := func(p int) float64 { return float64(took[(len(took)-1)*p/100].Microseconds()) }
	b.ReportMetric(at(50), what+"-p50-µs")
	b.ReportMetric(at(99), what+"-p99-µs")
}

// BenchmarkDefaultSlotBesideFlood makes quick calls through the default pool, alone and
// beside a flood of slow calls and a run of a thousand items after another.
func BenchmarkDefaultSlotBesideFlood(b *testing.B) {
	for _, flooded := range []bool{false, true} {
		b.Run(fmt.Sprintf("flood=%t", flooded), func(b *testing.B) {
			w := newBench(b)
			ctx, stop := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			serve := func(worker, pool string, each time.Duration) {
				for ctx.Err() == nil {
					if q := w.quantum(worker, pool, 100); q != nil {
						time.Sleep(each)
						w.settle(worker, q, json.RawMessage(`{}`))
					}
				}
			}
			wg.Go(func() { serve("w1", api.PoolDefault, 0) })
			if flooded {
				wg.Go(func() { serve("w2", api.PoolSlow, 500*time.Millisecond) })
				wg.Go(func() { serve("w3", api.PoolDurable, time.Millisecond) })
				for n := range 500 {
					wg.Go(func() {
						for ctx.Err() == nil {
							_, _ = w.as(fmt.Sprint("flood", n)).Invoke(ctx, api.InvokeSpec{Kind: "call", Scorer: "heavy"})
						}
					})
				}
				w.fill(20_000, 1)
			}
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				if _, err := w.as("quick").Invoke(b.Context(), api.InvokeSpec{Kind: "call"}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			stop()
			wg.Wait()
			reportTimes(b, "call", took)
		})
	}
}
