package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// runServer answers for the one run r1, as a node would: its document, and its
// events as a stream.
type runServer struct {
	status api.RunStatus
	total  int
	events []api.RunEvent
	// hold, if it is not nil, is closed when the stream has sent its events, which
	// then goes on in silence.
	hold chan struct{}
	// refuse is the status and code of every answer to a submission or call.
	refuse api.Code

	mu sync.Mutex
	// streamed says that the events were read, and keys are those of what was
	// refused.
	streamed bool
	keys     []string
}

// watched is a run of three items with its events, of which the given number
// failed. Each event but the first comes with the progress after it.
func watched(failed int) *runServer {
	s := &runServer{status: api.RunCompleted, total: 3}
	if failed > 0 {
		s.status = api.RunCompletedWithErrors
	}
	p := api.Progress{Total: 3, Pending: 3}
	add := func(kind, item string) {
		progress := p
		s.events = append(s.events, api.RunEvent{
			Sequence: int64(len(s.events) + 1), Type: kind, RunID: "r1", ItemID: item, Progress: &progress,
		})
	}
	add("run.queued", "")
	add("run.started", "")
	for i := range 3 {
		p.Pending--
		if i < failed {
			p.Failed++
			add("item.failed", fmt.Sprint("item-", i))
			continue
		}
		p.Succeeded++
		add("item.succeeded", fmt.Sprint("item-", i))
	}
	add("run."+string(s.status), "")
	return s
}

func (s *runServer) run(status api.RunStatus, last int) api.Run {
	return api.Run{
		ID: "r1", Object: "run", Kind: "k", Status: status, LastEventSequence: int64(last),
		Progress: *s.events[last-1].Progress, Metadata: json.RawMessage("{}"),
	}
}

// ServeHTTP says that the run is queued until its events were read.
func (s *runServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name := strings.TrimPrefix(r.URL.Path, "/api/v2/"); {
	case r.Method == http.MethodPost && s.refuse != "":
		s.keys = append(s.keys, r.Header.Get(api.HeaderIdempotencyKey))
		w.WriteHeader(s.refuse.Status())
		_ = json.NewEncoder(w).Encode(api.ErrorBody{Error: api.ErrorDetail{Code: s.refuse, Message: "m"}})
	case name == "runs/r1/events":
		s.stream(w, r)
	case s.streamed:
		_ = json.NewEncoder(w).Encode(s.run(s.status, len(s.events)))
	default:
		_ = json.NewEncoder(w).Encode(s.run(api.RunQueued, 1))
	}
}

func (s *runServer) stream(w http.ResponseWriter, r *http.Request) {
	s.streamed = true
	w.Header().Set("Content-Type", "text/event-stream")
	var after int64
	_, _ = fmt.Sscan(r.Header.Get("Last-Event-ID"), &after)
	for _, event := range s.events[after:] {
		document, _ := json.Marshal(event)
		_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", event.Sequence, event.Type, document)
	}
	if s.hold != nil {
		_ = http.NewResponseController(w).Flush()
		close(s.hold)
		<-r.Context().Done()
	}
}

// against runs a command against the server.
func against(t *testing.T, s http.Handler, change func(*env), args ...string) (out, errs string, code int) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	e, stdout, stderr := newEnv(map[string]string{"SKERRY_SERVER": server.URL, "SKERRY_KEY": "key"})
	if change != nil {
		change(e)
	}
	code = e.run(t.Context(), args)
	return stdout.String(), stderr.String(), code
}

func TestWatchedRunEndsWithItsOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		failed, code int
		lines        []string
	}{
		{0, exitOK, []string{
			"r1 queued: 0 of 3 ended", "r1 running: 0 of 3 ended", "r1 running: 1 of 3 ended", "r1 running: 2 of 3 ended",
			"r1 running: 3 of 3 ended", "r1 completed: 3 of 3 ended",
		}},
		{1, exitError, []string{
			"r1 queued: 0 of 3 ended", "r1 running: 0 of 3 ended", "r1 running: 1 of 3 ended, 1 failed", "r1 running: 2 of 3 ended, 1 failed",
			"r1 running: 3 of 3 ended, 1 failed", "r1 completed with errors: 3 of 3 ended, 1 failed",
			"skerry: run r1 completed_with_errors: 3 of 3 ended, 1 failed",
		}},
	} {
		out, errs, code := against(t, watched(tt.failed), nil, "run", "watch", "r1")
		if code != tt.code {
			t.Errorf("got exit code %d, want %d", code, tt.code)
		}
		if diff := cmp.Diff(strings.Split(strings.TrimSpace(errs), "\n"), tt.lines); diff != "" {
			t.Error("-got +want", diff)
		}
		if !strings.Contains(out, "\nitems    "+progressText(*watched(tt.failed).events[5].Progress)+"\n") {
			t.Errorf("got %s, want the run as it ended", out)
		}
	}
}

func TestWatchedRunAsJSONIsItsEvents(t *testing.T) {
	t.Parallel()
	s := watched(1)
	out, _, code := against(t, s, nil, "run", "watch", "r1", "--json")
	var got []api.RunEvent
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var event api.RunEvent
		err := d.Decode(&event)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, event)
	}
	if diff := cmp.Diff(got, s.events); diff != "" || code != exitError {
		t.Error("exit code", code, "-got +want", diff)
	}
}

func TestWatchedRunHasABarOnATerminal(t *testing.T) {
	t.Parallel()
	_, errs, code := against(t, watched(0), func(e *env) { e.errTerminal = true }, "run", "watch", "r1")
	if code != exitOK || !strings.Contains(errs, "r1 queued") || !strings.Contains(errs, "/3") {
		t.Errorf("got exit code %d and %q, want a bar of 3", code, errs)
	}
	if strings.Contains(errs, "\n") {
		t.Errorf("got %q, want no lines beside the bar", errs)
	}
}

func TestInterruptEndsTheWatchAndNotTheRun(t *testing.T) {
	t.Parallel()
	s := watched(0)
	s.events, s.hold = s.events[:3], make(chan struct{})
	server := httptest.NewServer(s)
	defer server.Close()
	e, _, errs := newEnv(map[string]string{"SKERRY_SERVER": server.URL, "SKERRY_KEY": "key"})
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-s.hold
		interrupt()
	}()
	code := e.run(ctx, []string{"run", "watch", "r1"})
	if code != exitError || !strings.Contains(errs.String(), "the run goes on; skerry run watch r1 follows it again\nskerry: interrupted\n") {
		t.Errorf("got exit code %d and %s", code, errs)
	}
}

func TestSubmittedRunCanBeWatchedAtOnce(t *testing.T) {
	t.Parallel()
	out, errs, code := against(t, watched(0), nil, "run", "submit", "--kind", "k", "--watch")
	if code != exitOK || strings.Count(out, "id       r1\n") != 2 || !strings.Contains(errs, "r1 completed: 3 of 3 ended\n") {
		t.Errorf("got exit code %d, %s%s", code, out, errs)
	}
}

func TestSubmissionOfUnknownOutcomeTellsItsKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refuse api.Code
		args   []string
		code   int
		tells  bool
	}{
		{api.StorageUnavailable, nil, exitTryAgain, true},
		{api.Internal, nil, exitError, true},
		{api.StorageUnavailable, []string{"--idempotency-key", "mine"}, exitTryAgain, false},
		{api.RunExceedsBudget, nil, exitError, false},
		{api.TenantRunQuotaExceeded, nil, exitTryAgain, false},
	} {
		s := watched(0)
		s.refuse = tt.refuse
		_, errs, code := against(t, s, nil, append([]string{"run", "submit", "--kind", "k"}, tt.args...)...)
		if len(s.keys) == 0 || s.keys[0] == "" || s.keys[0] != s.keys[len(s.keys)-1] {
			t.Fatalf("%s: sent under the keys %q, want one and the same", tt.refuse, s.keys)
		}
		if told := strings.Contains(errs, "run this again with --idempotency-key "+s.keys[0]+","); told != tt.tells || code != tt.code {
			t.Errorf("%s: got exit code %d and %s; want %d, and the key told: %t", tt.refuse, code, errs, tt.code, tt.tells)
		}
	}
}
