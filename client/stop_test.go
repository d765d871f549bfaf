package client

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stopped runs a worker whose two handlers take as long as given, cancels it
// after 5 s and returns what was reported and after how long Work returned.
func stopped(t *testing.T, grace time.Duration, takes ...time.Duration) (log []string, after time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(len(takes))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		force := make(chan struct{})
		if grace < 0 {
			force, grace = closeAfter(ctx), time.Hour
		}
		began := time.Now()
		err := b.client(t).Work(ctx, WorkerOptions{
			Concurrency: len(takes), Grace: grace, Force: force,
			Handler: func(ctx context.Context, job *Job) (Result, error) {
				if err := sleep(ctx, takes[job.Fence-1]); err != nil {
					return Result{}, err
				}
				return echo(ctx, job)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.last++ // It must claim no more.
		log, after = b.logged(), time.Since(began)
	})
	return log, after
}

// closeAfter closes a channel a second after ctx has ended.
func closeAfter(ctx context.Context) chan struct{} {
	c := make(chan struct{})
	context.AfterFunc(ctx, func() {
		_ = sleep(context.WithoutCancel(ctx), time.Second)
		close(c)
	})
	return c
}

func TestStoppingFinishesWithinTheGraceAndReleasesTheRest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		grace time.Duration
		takes []time.Duration
		log   []string
		after time.Duration
	}{
		{"idle", 10 * time.Second, []time.Duration{time.Second}, []string{"submit c1 v1"}, 5 * time.Second},
		{"finishes", 10 * time.Second, []time.Duration{9 * time.Second}, []string{"submit c1 v1"}, 9 * time.Second},
		{"one is late", 10 * time.Second, []time.Duration{9 * time.Second, time.Hour}, []string{"release c2", "submit c1 v1"}, 15 * time.Second},
		{"forced", -1, []time.Duration{time.Hour}, []string{"release c1"}, 6 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, after := stopped(t, tt.grace, tt.takes...)
			if diff := cmp.Diff(log, tt.log); diff != "" {
				t.Error("-got +want", diff)
			}
			if after != tt.after {
				t.Errorf("returned after %v, want %v", after, tt.after)
			}
		})
	}
}

func TestClaimThatComesWithAReceiptWhileStoppingIsReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(2)
		ctx, cancel := context.WithCancel(t.Context())
		b.drop = func(r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ":submit") {
				cancel()
			}
			return false
		}
		if err := b.client(t).Work(ctx, WorkerOptions{Handler: echo}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.logged(), []string{"release c2", "submit c1 v1"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}
