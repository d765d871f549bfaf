package claims_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

// BenchmarkCycle claims a verb and submits 200 bytes for it, with as many workers
// as its name says, on a synced file. Verbs are made beforehand.
func BenchmarkCycle(b *testing.B) {
	for _, workers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchmarkCycle(b, workers) })
	}
}

func benchmarkCycle(b *testing.B, workers int) {
	settings := namespace.DefaultSettings()
	settings.ClaimInitialConcurrency = max(workers, settings.ClaimInitialConcurrency)
	ctx := b.Context()
	rt, err := namespace.Open(ctx, b.TempDir(), namespace.Options{Classes: []namespace.Class{claims.Class()}, Defaults: &settings})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	if _, err := rt.Create(ctx, "bench"); err != nil {
		b.Fatal(err)
	}
	ns := rt.Namespace("bench")
	work := make(chan struct{}, b.N)
	fillQueue(b, claims.Of(ns, namespace.Caller{Principal: "producer"}), b.N)
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	body := string(make([]byte, 200))

	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range workers {
		worker := claims.Of(ns, namespace.Caller{Principal: fmt.Sprintf("worker%d", i)})
		wg.Go(func() {
			for range work {
				got, err := worker.Claim(ctx, api.ClaimSpec{})
				if err != nil || len(got.Claims) != 1 {
					b.Errorf("claim: %d, %v", len(got.Claims), err)
					return
				}
				c := got.Claims[0]
				spec := api.SubmitSpec{Fence: c.Fence, Output: api.Content{Body: &body}}
				if _, err := worker.Submit(ctx, c.ID, spec, ""); err != nil {
					b.Errorf("submit: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

// fillQueue makes n verbs.
func fillQueue(b *testing.B, s claims.Service, n int) {
	for made := 0; made < n; {
		specs := make([]api.VerbSpec, min(1000, n-made))
		for i := range specs {
			specs[i] = api.VerbSpec{Kind: "k", Artifact: fmt.Sprintf("out/%d", made+i)}
		}
		if _, err := s.CreateVerbs(b.Context(), specs); err != nil {
			b.Fatal(err)
		}
		made += len(specs)
	}
}
