package namespace_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// load keeps more claims under way than the limit lets in, until it is ended.
func (w *world) load(workers int) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for n := range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, err := w.Do(ctx, callAs(fmt.Sprint(n), admitted{0, put("k", 1)}))
				if err != nil && ctx.Err() == nil && !api.IsCode(err, api.RateLimited) {
					w.t.Errorf("claim: %v", err)
					return
				}
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}

// limitUntil looks at the limit until it is as wanted, and reports how long that
// took; a limit that never is fails the test.
func (w *world) limitUntil(what string, within time.Duration, wanted func(api.AdmissionStatus) bool) time.Duration {
	w.t.Helper()
	begin := time.Now()
	for {
		s := w.status()
		if wanted(s) {
			return time.Since(begin)
		}
		if time.Since(begin) > within {
			average := "unknown"
			if s.AverageMs != nil {
				average = fmt.Sprintf("%.1f ms", *s.AverageMs)
			}
			w.t.Fatalf("%s: the limit is %.1f after %v, the average %s", what, s.Limit, within, average)
		}
	}
}

// A store of 50 ms a sync against a target of 25 ms stands for one of 600 ms
// against the 500 ms of the default settings. A wait in C takes real time. The
// bounds are far off, because a machine that is busy with something else is a slow
// store too; an idle one takes half a second for each way.
func TestLimitFallsWithASlowStoreAndRecovers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	w, vfs := onFaultyDisk(t, withSettings(func(s *namespace.Settings) {
		s.ClaimTargetMs, s.ClaimInitialConcurrency = 25, 16
	}))
	vfs.SyncDelay(50 * time.Millisecond)
	end := w.load(24)
	defer end()
	fell := w.limitUntil("slow", 10*time.Second, func(s api.AdmissionStatus) bool { return s.Limit < 4 })
	vfs.SyncDelay(0)
	rose := w.limitUntil("fast again", 30*time.Second, func(s api.AdmissionStatus) bool { return s.Limit >= 8 })
	t.Logf("the limit fell to a quarter in %v and rose to half in %v", fell, rose)
}
