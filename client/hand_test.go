package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestResultsAreCommittedInBatches(t *testing.T) {
	for name, tt := range map[string]struct {
		batch int
		want  []string
	}{
		"of the catalog":        {3, []string{"commit q +a +b +c", "commit q +d +e +f"}},
		"of four by default":    {0, []string{"commit q +a +b +c +d", "commit q +e +f"}},
		"of the whole quantum":  {6, []string{"commit q +a +b +c +d +e +f"}},
		"larger than a quantum": {100, []string{"commit q +a +b +c +d +e +f"}},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, o := range map[string]RunWorkerOptions{"one by one": {Handler: object}, "in one go": {Batch: objects}} {
				t.Run(mode, func(t *testing.T) {
					b := newRunBench(quantum("q", "abcdef"))
					b.batch = tt.batch
					working(t, b, o, tt.want...)
				})
			}
		})
	}
}

func TestResultsAreCommittedAsTheyCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRunBench(quantum("q", "abc"))
		b.batch = 1
		began := time.Now()
		var at []time.Duration
		b.refuse = func(r *http.Request, _ string) *api.Error {
			if isPost(":commit")(r) {
				at = append(at, time.Since(began))
			}
			return nil
		}
		each := map[string]time.Duration{"a": time.Second, "b": time.Second, "c": time.Second}
		if err := b.client(t).WorkRuns(t.Context(), RunWorkerOptions{MaxQuanta: 1, Handler: takes(each)}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(at, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestBatchSizeIsReadAgainWhenItIsOld(t *testing.T) {
	b := newRunBench(quantum("q1", "ab"), quantum("q2", "ab"), quantum("q3", "ab"))
	b.batch = 1
	handler := func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
		b.mu.Lock()
		b.batch = 2
		b.mu.Unlock()
		_ = sleep(ctx, 16*time.Second)
		return object(ctx, job)
	}
	// Asked for at 0 s, 32 s and 64 s.
	working(t, b, RunWorkerOptions{Handler: handler}, "commit q1 +a", "commit q1 +b", "commit q2 +a", "commit q2 +b", "commit q3 +a +b")
	if b.catalogs != 2 {
		t.Errorf("read the catalog %d times, want 2", b.catalogs)
	}
}

// commitsWith refuses each commit that reports a success of item b.
func commitsWith(code api.Code) func(r *http.Request, body string) *api.Error {
	return func(r *http.Request, body string) *api.Error {
		if isPost(":commit")(r) && strings.Contains(body, `"id":"b","status":"succeeded"`) {
			return api.Errorf(code, "m")
		}
		return nil
	}
}

func TestRefusedBatchIsSentAgainAndThenItemByItem(t *testing.T) {
	for _, code := range []api.Code{api.BodyTooLarge, api.InvalidField, api.BadRequest} {
		t.Run(string(code), func(t *testing.T) {
			b := newRunBench(quantum("q", "abc"))
			b.refuse = commitsWith(code)
			var s seen
			working(t, b, RunWorkerOptions{Handler: object, Observe: s.observe},
				"refused commit q +a +b +c", "refused commit q +a +b +c",
				"commit q +a", "refused commit q +b", "commit q -b:result_rejected", "commit q +c")
			if o := s.all["q"]; o.Disposition != DoneCommitted || len(o.Committed) != 3 || o.Err != nil {
				t.Errorf("told %+v, want three results committed", o)
			}
		})
	}
}

func TestBatchThatIsTakenTheSecondTimeIsNotTakenApart(t *testing.T) {
	b := newRunBench(quantum("q", "abc"))
	first := once(isPost(":commit"))
	b.refuse = func(r *http.Request, _ string) *api.Error {
		if first(r) {
			return api.Errorf(api.Internal, "m")
		}
		return nil
	}
	working(t, b, RunWorkerOptions{Handler: object}, "refused commit q +a +b +c", "commit q +a +b +c")
}

func TestResultThatBreaksTheServerGoesBackUnreported(t *testing.T) {
	b := newRunBench(quantum("q", "abc"))
	b.refuse = commitsWith(api.Internal)
	working(t, b, RunWorkerOptions{Handler: object},
		"refused commit q +a +b +c", "refused commit q +a +b +c",
		"commit q +a", "refused commit q +b", "commit q +c", "release q")
}

func TestCommitOutlastsTroubleAsLongAsTheLease(t *testing.T) {
	b := newRunBench(quantum("q", "a"))
	began := time.Time{}
	b.refuse = func(r *http.Request, _ string) *api.Error {
		if !isPost(":commit")(r) {
			return nil
		}
		if began.IsZero() {
			began = time.Now()
		}
		if time.Since(began) < 50*time.Second {
			return api.Errorf(api.StorageUnavailable, "m").After(10 * time.Second)
		}
		return nil
	}
	const refused = "refused commit q +a"
	working(t, b, RunWorkerOptions{Handler: object}, refused, refused, refused, refused, refused, "commit q +a")
}

func TestLostQuantumStopsTheWorkAndCommitsNothingMore(t *testing.T) {
	for name, lose := range map[string]func(r *http.Request) bool{"by a heartbeat": isPost(":heartbeat"), "by a commit": isPost(":commit")} {
		t.Run(name, func(t *testing.T) {
			b := newRunBench(quantum("q", "abcd"))
			b.batch = 1
			commits := 0
			b.refuse = func(r *http.Request, _ string) *api.Error {
				if isPost(":commit")(r) {
					commits++
				}
				if lose(r) && (commits == 0 || commits == 2) {
					return api.Errorf(api.StaleFence, "m")
				}
				return nil
			}
			want, last, items := []string{"refused heartbeat q"}, 50*time.Second, "a"
			if name == "by a commit" {
				want, last, items = []string{"commit q +a", "refused commit q +b"}, time.Second, "ab"
			}
			var s seen
			begun, took := "", time.Duration(0)
			handler := func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
				begun += job.ID
				began := time.Now()
				_ = sleep(ctx, last)
				took += time.Since(began)
				return object(ctx, job) // It may be of no use any more.
			}
			working(t, b, RunWorkerOptions{Handler: handler, Observe: s.observe}, want...)
			if begun != items {
				t.Errorf("began items %q, want %q", begun, items)
			}
			if last == 50*time.Second && took != 20*time.Second {
				t.Errorf("the item went on for %v, want 20s", took)
			}
			if o := s.all["q"]; o.Disposition != DoneLost || !errors.Is(o.Err, ErrLeaseLost) || !api.IsCode(o.Err, api.StaleFence) {
				t.Errorf("told %+v, want the quantum lost", o)
			}
		})
	}
}

func TestCancelledRunEndsTheWorkAndReleasesTheQuantum(t *testing.T) {
	b := newRunBench(quantum("q", "ab"))
	b.cancelled = true
	var s seen
	var cause error
	handler := func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
		if job.ID == "a" {
			return object(ctx, job)
		}
		<-ctx.Done()
		cause = context.Cause(ctx)
		return nil, ctx.Err()
	}
	working(t, b, RunWorkerOptions{Handler: handler, Observe: s.observe}, "release q")
	if !errors.Is(cause, ErrRunCancelled) {
		t.Errorf("the handler was told %v, want the run cancelled", cause)
	}
	if o := s.all["q"]; o.Disposition != DoneReleased || !errors.Is(o.Err, ErrRunCancelled) {
		t.Errorf("told %+v, want the quantum released", o)
	}
}

func TestItemOutOfTimeFailsAndTheNextIsWorkedOn(t *testing.T) {
	q := quantum("q", "abc")
	q.TimeoutMs = 10_000
	b := newRunBench(q)
	handler := func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
		switch job.ID {
		case "a": // obeys
			<-ctx.Done()
			return nil, &JobError{Code: "of_its_own", Message: context.Cause(ctx).Error()}
		case "b": // does not
			_ = sleep(context.WithoutCancel(ctx), 11*time.Second)
		}
		return object(ctx, job)
	}
	var s seen
	working(t, b, RunWorkerOptions{Handler: handler, Observe: s.observe}, "commit q -a:item_timeout -b:item_timeout +c")
	if o := s.all["q"]; !errors.Is(o.Errors["a"], ErrItemTimeout) || o.Elapsed != 21*time.Second {
		t.Errorf("told %v after %v, want the time over after 21s", o.Errors, o.Elapsed)
	}
}

func TestIgnoredResultsAreTold(t *testing.T) {
	b := newRunBench(quantum("q", "ab"))
	handler := func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
		b.mu.Lock()
		delete(b.open["q"], "a") // Somebody cancelled it.
		b.mu.Unlock()
		return object(ctx, job)
	}
	var s seen
	working(t, b, RunWorkerOptions{Handler: handler, Observe: s.observe}, "commit q +a +b")
	o := s.all["q"]
	if diff := cmp.Diff(o.Ignored, []api.IgnoredItem{{ID: "a", Reason: "cancelled"}}); diff != "" {
		t.Error("-got +want", diff)
	}
	if len(o.Committed) != 1 || o.Committed[0].ID != "b" {
		t.Errorf("told of %+v committed, want b alone", o.Committed)
	}
}
