package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// object is the result of an item that went well.
func object(context.Context, *RunJob) (json.RawMessage, error) {
	return json.RawMessage(`{"ok":1}`), nil
}

// takes is a handler whose items take a time each, by their ids.
func takes(times map[string]time.Duration) func(context.Context, *RunJob) (json.RawMessage, error) {
	return func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
		if err := sleep(ctx, times[job.ID]); err != nil {
			return nil, err
		}
		return object(ctx, job)
	}
}

// working runs a worker that stops when idle against the bench and compares what
// it reported.
func working(t *testing.T, b *runBench, o RunWorkerOptions, want ...string) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o.StopWhenIdle = true
		if err := b.client(t).WorkRuns(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.logged(), want); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

// seen keeps the outcome of each quantum.
type seen struct {
	mu  sync.Mutex
	all map[string]QuantumOutcome
}

func (s *seen) observe(o QuantumOutcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]QuantumOutcome{}
	}
	s.all[o.Quantum.ID] = o
}

func TestItemsAreReportedByTheHandlersWord(t *testing.T) {
	said := map[string]struct {
		result string
		err    error
	}{
		"a": {result: ` {"ok":1}`},
		"b": {err: errors.New("odd")},
		"c": {err: fmt.Errorf("wrapped: %w", &JobError{Code: "bad_input", Message: "no"})},
		"d": {err: &JobError{Message: "no code"}},
		"e": {err: &JobError{Release: true}},
		"f": {result: `[1]`},
		"g": {result: `{"ok":`},
		"h": {},
		"i": {err: errors.New("panic")},
	}
	handler := func(_ context.Context, job *RunJob) (json.RawMessage, error) {
		s := said[job.ID]
		if job.ID == "i" {
			panic("payload")
		}
		job.Cost = ptr(int64(job.InputIndex))
		return json.RawMessage(s.result), s.err
	}
	b := newRunBench(quantum("q", "abcdefghi"))
	b.batch = 100
	var got []api.ItemResult
	b.refuse = func(r *http.Request, body string) *api.Error {
		var spec api.CommitSpec
		if isPost(":commit")(r) && json.Unmarshal([]byte(body), &spec) == nil {
			got = spec.Results
		}
		return nil
	}
	var s seen
	working(t, b, RunWorkerOptions{Handler: handler, Observe: s.observe},
		"commit q +a -b:failed -c:bad_input -d:failed -f:bad_result -g:bad_result -h:bad_result -i:handler_panic done")
	want := []api.ItemResult{
		{ID: "a", Status: api.ItemSucceeded, Result: json.RawMessage(`{"ok":1}`), Cost: ptr(int64(0))},
		{ID: "b", Status: api.ItemFailed, Error: &api.Failure{Code: "failed", Message: "odd"}, Cost: ptr(int64(1))},
		{ID: "c", Status: api.ItemFailed, Error: &api.Failure{Code: "bad_input", Message: "no"}, Cost: ptr(int64(2))},
	}
	if diff := cmp.Diff(got[:3], want); diff != "" {
		t.Error("-got +want", diff)
	}
	if got, want := got[7].Error.Message, "the handler panicked"; got != want {
		t.Errorf("reported %q of the panic, want %q", got, want)
	}
	o := s.all["q"]
	if o.Disposition != DoneCommitted || len(o.Committed) != 8 || o.Err != nil || len(o.Errors) != 5 {
		t.Errorf("told %+v, want 8 results committed and 5 errors", o)
	}
	if text := o.Errors["i"].Error(); !strings.Contains(text, "payload") || !strings.Contains(text, "goroutine") {
		t.Errorf("told %q of the panic, want its value and stack", text)
	}
}

func TestJobSaysWhatTheQuantumSays(t *testing.T) {
	q := quantum("q", "ab")
	q.Items[1].AttemptCount, q.Items[1].Payload = 3, json.RawMessage(`{"p":2}`)
	call := quantum("c", "x")
	call.Run, call.Scorer = nil, "s"
	var got []RunJob
	handler := func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
		got = append(got, *job)
		return object(ctx, job)
	}
	working(t, newRunBench(q, call), RunWorkerOptions{Handler: handler}, "commit q +a +b", "commit c +x")
	shared := json.RawMessage(`{"s":1}`)
	want := []RunJob{
		{Kind: "k", Run: "r-q", Shared: shared, ID: "a", Payload: json.RawMessage(`{}`), Attempt: 1},
		{Kind: "k", Run: "r-q", Shared: shared, ID: "b", InputIndex: 1, Payload: json.RawMessage(`{"p":2}`), Attempt: 3},
		{Kind: "k", Scorer: "s", Shared: shared, ID: "x", Payload: json.RawMessage(`{}`), Attempt: 1},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error("-got +want", diff)
	}
}

func TestQuantaAreAskedForAsTheOptionsSay(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    RunWorkerOptions
		want api.QuantumSpec
	}{
		{"zero", RunWorkerOptions{}, api.QuantumSpec{Pool: "durable", WaitMs: ptr(int64(30_000))}},
		{
			"all",
			RunWorkerOptions{Pool: "slow", Kinds: []string{"k"}, MaxItems: 2, Wait: time.Second, Lease: time.Minute},
			api.QuantumSpec{Pool: "slow", Kinds: []string{"k"}, MaxItems: ptr(2), WaitMs: ptr(int64(1000)), LeaseMs: ptr(int64(60_000))},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newRunBench()
			tt.o.Handler = object
			working(t, b, tt.o)
			if diff := cmp.Diff(b.specs, []api.QuantumSpec{tt.want}); diff != "" {
				t.Error("-got +want", diff)
			}
		})
	}
}

func TestWorkRunsWantsOneHandler(t *testing.T) {
	t.Parallel()
	c := newRunBench().client(t)
	both := RunWorkerOptions{Handler: object, Batch: func(context.Context, []*RunJob) []ItemOutcome { return nil }}
	for _, o := range []RunWorkerOptions{{}, both} {
		if err := c.WorkRuns(t.Context(), o); err == nil {
			t.Errorf("started with %d handlers", map[bool]int{true: 2}[o.Handler != nil])
		}
	}
}

func TestOnlyTheDurablePoolHasManySlots(t *testing.T) {
	for pool, want := range map[string]int{api.PoolDurable: 3, api.PoolDefault: 1, api.PoolSlow: 1} {
		t.Run(pool, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newRunBench()
				for i := range 9 {
					q := quantum(fmt.Sprint("q", i), "a")
					b.queue = append(b.queue, api.Quanta{Quantum: &q})
				}
				var mu sync.Mutex
				running, most := 0, 0
				add := func(n int) {
					mu.Lock()
					defer mu.Unlock()
					running += n
					most = max(most, running)
				}
				err := b.client(t).WorkRuns(t.Context(), RunWorkerOptions{
					Pool: pool, Slots: 3, StopWhenIdle: true,
					Handler: func(ctx context.Context, job *RunJob) (json.RawMessage, error) {
						add(1)
						defer add(-1)
						_ = sleep(ctx, time.Second)
						return object(ctx, job)
					},
				})
				if err != nil || most != want || len(b.logged()) != 9 {
					t.Errorf("got %d at once, %d reports and %v; want %d, 9 and no error", most, len(b.logged()), err, want)
				}
			})
		})
	}
}

func TestWorkRunsTakesNoMoreThanItsBound(t *testing.T) {
	b := newRunBench(quantum("q1", "a"), quantum("q2", "a"), quantum("q3", "a"))
	b.queue[0].Also = []api.Quantum{quantum("q1b", "a")}
	working(t, b, RunWorkerOptions{MaxQuanta: 3, Handler: object}, "commit q1 +a", "commit q1b +a", "commit q2 +a")
}

func TestQuantaWhoseAnswerWasLostAreTakenUp(t *testing.T) {
	b := newRunBench(quantum("q1", "a"), quantum("q2", "b"))
	b.drop = once(isPost("quanta:claim"))
	// The first lease is half over when the answer comes again: it is confirmed.
	working(t, b, RunWorkerOptions{Handler: object}, "commit q1 +a", "commit q2 +b")
	if len(b.beats) != 1 {
		t.Errorf("got %d heartbeats, want the one that confirms the lease", len(b.beats))
	}
}

func TestWorkRunsOutlastsTroubleAndStopsAtARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRunBench(quantum("q", "a"))
		began := time.Now()
		b.refuse = func(r *http.Request, _ string) *api.Error {
			switch at := time.Since(began); {
			case at < 10*time.Minute:
				return api.Errorf(api.NamespaceUnavailable, "m").After(time.Second)
			case at > time.Hour:
				return api.Errorf(api.Forbidden, "revoked")
			}
			return nil
		}
		told := 0
		err := b.client(t).WorkRuns(t.Context(), RunWorkerOptions{Handler: object, Delayed: func(error) { told++ }})
		if !api.IsCode(err, api.Forbidden) || told == 0 {
			t.Errorf("got %v after %d delays, want forbidden after some", err, told)
		}
		var reports []string
		for _, line := range b.logged() {
			if !strings.HasPrefix(line, "refused") {
				reports = append(reports, line)
			}
		}
		if diff := cmp.Diff(reports, []string{"commit q +a"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestStoppingCommitsWhatIsFinishedAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		takes map[string]time.Duration
		log   []string
		after time.Duration
	}{
		{"finishes in the grace", map[string]time.Duration{"a": time.Second, "b": 9 * time.Second}, []string{"commit q +a +b done"}, 10 * time.Second},
		{"too late", map[string]time.Duration{"a": time.Second, "b": 50 * time.Second}, []string{"commit q +a done"}, 15 * time.Second},
		{"nothing finished", map[string]time.Duration{"a": 50 * time.Second}, []string{"release q"}, 15 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newRunBench(quantum("q", "abc"), quantum("q2", "a"))
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				began := time.Now()
				if err := b.client(t).WorkRuns(ctx, RunWorkerOptions{Grace: 10 * time.Second, Handler: takes(tt.takes)}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(b.logged(), tt.log); diff != "" {
					t.Error("-got +want", diff)
				}
				if got := time.Since(began); got != tt.after {
					t.Errorf("returned after %v, want %v", got, tt.after)
				}
			})
		})
	}
}
