package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// objects is a batch that went well.
func objects(_ context.Context, jobs []*RunJob) []ItemOutcome {
	outcomes := make([]ItemOutcome, len(jobs))
	for i := range outcomes {
		outcomes[i].Result = json.RawMessage(`{"ok":1}`)
	}
	return outcomes
}

// pair is a bench of one grant of two quanta of different runs.
func pair() *runBench {
	b := newRunBench(quantum("q1", "ab"))
	b.queue[0].Also = []api.Quantum{quantum("q2", "cde")}
	return b
}

func TestFurtherQuantaAreCommittedUnderTheirOwnFences(t *testing.T) {
	// The bench refuses a commit under any fence but that of its quantum.
	t.Run("one by one", func(t *testing.T) {
		working(t, pair(), RunWorkerOptions{Handler: object}, "commit q1 +a +b", "commit q2 +c +d +e")
	})
	t.Run("in one go", func(t *testing.T) {
		var got []string
		batch := func(ctx context.Context, jobs []*RunJob) []ItemOutcome {
			for _, job := range jobs {
				got = append(got, job.Run+"/"+job.ID)
			}
			return objects(ctx, jobs)
		}
		working(t, pair(), RunWorkerOptions{Batch: batch}, "commit q1 +a +b", "commit q2 +c +d +e")
		if diff := cmp.Diff(got, []string{"r-q1/a", "r-q1/b", "r-q2/c", "r-q2/d", "r-q2/e"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestFurtherQuantaAreKeptWhileTheFirstIsWorkedOn(t *testing.T) {
	slow := map[string]time.Duration{"a": 50 * time.Second, "b": 50 * time.Second}
	working(t, pair(), RunWorkerOptions{Handler: takes(slow)}, "commit q1 +a +b", "commit q2 +c +d +e")
}

func TestBatchEndsWhenTheLastOfItsQuantaIsLost(t *testing.T) {
	for _, tt := range []struct {
		name string
		lost string
		took time.Duration
		want []string
	}{
		{"one lost", "/q1:heartbeat", 50 * time.Second, []string{"commit q2 +c +d +e", "refused heartbeat q1"}},
		{"both lost", ":heartbeat", 20 * time.Second, []string{"refused heartbeat q1", "refused heartbeat q2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := pair()
				b.refuse = func(r *http.Request, _ string) *api.Error {
					if isPost(tt.lost)(r) {
						return api.Errorf(api.StaleFence, "m")
					}
					return nil
				}
				var cause error
				var took time.Duration
				err := b.client(t).WorkRuns(t.Context(), RunWorkerOptions{
					MaxQuanta: 1,
					Batch: func(ctx context.Context, jobs []*RunJob) []ItemOutcome {
						began := time.Now()
						_ = sleep(ctx, 50*time.Second)
						cause, took = context.Cause(ctx), time.Since(began)
						return objects(ctx, jobs)
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(slices.Sorted(slices.Values(b.logged())), tt.want); diff != "" {
					t.Error("-got +want", diff)
				}
				if lost := errors.Is(cause, ErrLeaseLost); took != tt.took || lost != (took == 20*time.Second) {
					t.Errorf("the handler was told %v after %v, want to go on for %v", cause, took, tt.took)
				}
			})
		})
	}
}

func TestBatchHasTheTimeOfItsSmallestQuantum(t *testing.T) {
	b := pair()
	b.queue[0].Quantum.TimeoutMs, b.queue[0].Also[0].TimeoutMs = 10_000, 10_000
	began := time.Time{}
	var took time.Duration
	batch := func(ctx context.Context, jobs []*RunJob) []ItemOutcome {
		began = time.Now()
		<-ctx.Done()
		took = time.Since(began)
		outcomes := objects(ctx, jobs)
		outcomes[1] = ItemOutcome{Err: ctx.Err()}
		outcomes[2] = ItemOutcome{Err: &JobError{Code: "own", Message: "m"}}
		return outcomes
	}
	working(t, b, RunWorkerOptions{Batch: batch}, "commit q1 +a -b:item_timeout", "commit q2 -c:own +d +e")
	if want := 20 * time.Second; took != want {
		t.Errorf("the batch had %v, want %v", took, want)
	}
}

func TestBatchHandlerThatBreaksItsContractFailsItsItems(t *testing.T) {
	for name, tt := range map[string]struct {
		batch func(context.Context, []*RunJob) []ItemOutcome
		code  string
	}{
		"too few": {func(context.Context, []*RunJob) []ItemOutcome { return make([]ItemOutcome, 1) }, "bad_result"},
		"panic":   {func(context.Context, []*RunJob) []ItemOutcome { panic("payload") }, "handler_panic"},
	} {
		t.Run(name, func(t *testing.T) {
			working(t, newRunBench(quantum("q", "ab")), RunWorkerOptions{Batch: tt.batch}, "commit q -a:"+tt.code+" -b:"+tt.code)
		})
	}
}
