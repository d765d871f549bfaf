package python_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// runNode is a node with one namespace, which knows the kind of run_worker.py.
type runNode struct {
	url  string
	boss *client.Client
	// refuse makes the node answer so many commits with 503 before one gets through.
	refuse atomic.Int32
	// beat has room for one heartbeat that came.
	beat chan struct{}
}

func startRunNode(t *testing.T) *runNode {
	t.Helper()
	rt, err := skerry.Open(t.Context(), t.TempDir(), skerry.Options{OperatorKey: operator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("close the node: %v", err)
		}
	})
	n := &runNode{beat: make(chan struct{}, 1)}
	served := rt.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ":heartbeat"):
			select {
			case n.beat <- struct{}{}:
			default:
			}
		case strings.HasSuffix(r.URL.Path, ":commit") && n.refuse.Add(-1) >= 0:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		served.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	n.url = server.URL
	if _, err := rt.Create(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	o, err := client.NewOperator(n.url, operator, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	settings := map[string]json.RawMessage{
		"kinds":            json.RawMessage(`{"shout":{"pool":"durable"}}`),
		"quantum_lease_ms": json.RawMessage("1000"),
	}
	if _, err := o.PatchSettings(t.Context(), "acme", settings); err != nil {
		t.Fatal(err)
	}
	n.boss = newClient(t, n.url, createKey(t, n.url, "boss", api.RoleAdmin))
	return n
}

// startRunWorker starts run_worker.py and gives its process, which the test may end.
func (n *runNode) startRunWorker(t *testing.T) *exec.Cmd {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("the example needs python3, 3.9 or later: %v", err)
	}
	var log bytes.Buffer
	worker := exec.Command(python, "run_worker.py", n.url+"/ns/acme", "shout")
	worker.Env = append(os.Environ(), "SKERRY_KEY="+createKey(t, n.url, "snake", api.RoleWorker))
	worker.Stderr = &log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if worker.ProcessState == nil {
			_ = worker.Process.Kill()
			_ = worker.Wait() // it was killed
		}
		if t.Failed() {
			t.Logf("the worker wrote:\n%s", log.String())
		}
	})
	return worker
}

// submit asks for a run; an item is its payload as JSON.
func (n *runNode) submit(t *testing.T, payloads ...string) *api.Run {
	t.Helper()
	spec := api.RunSpec{Kind: "shout", Items: make([]api.RunItemSpec, len(payloads))}
	for i, p := range payloads {
		if err := json.Unmarshal([]byte(p), &spec.Items[i].Payload); err != nil {
			t.Fatal(err)
		}
	}
	run, err := n.boss.SubmitRun(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// end waits until the run has ended and gives its items in order.
func (n *runNode) end(t *testing.T, id string, status api.RunStatus) []api.RunItem {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run, err := n.boss.WaitRun(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if run.Status != status {
		t.Errorf("the run is %s, want %s", run.Status, status)
	}
	var items []api.RunItem
	for item, err := range n.boss.RunResults(ctx, id, &client.ResultOptions{InputOrder: true}) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// started waits until an item of the run is being worked on.
func (n *runNode) started(t *testing.T, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e, err := range n.boss.FollowRun(ctx, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "run.started" {
			return
		}
	}
	t.Fatal("the run has ended without a start")
}

// The first item takes several times as long as the lease and is done at the first
// attempt: so the worker sent heartbeats. One that it cannot do fails alone.
func TestPythonRunWorkerCommitsEachItemOnce(t *testing.T) {
	t.Parallel()
	n := startRunNode(t)
	n.refuse.Store(2)
	n.startRunWorker(t)
	run := n.submit(t, `{"text":"slow","seconds":3}`, `{"text":"a"}`, `{"text":1}`, `{"text":"b"}`, `{"text":"c"}`)

	items := n.end(t, run.ID, api.RunCompletedWithErrors)
	if len(items) != 5 {
		t.Fatalf("got %d results, want 5", len(items))
	}
	for i, want := range []string{`{"text":"SLOW"}`, `{"text":"A"}`, `null`, `{"text":"B"}`, `{"text":"C"}`} {
		if got := items[i]; string(got.Result) != want || got.AttemptCount != 1 {
			t.Errorf("item %d: got %s at attempt %d, want %s at the first", i, got.Result, got.AttemptCount, want)
		}
	}
	if e := items[2].Error; e == nil || e.Code != "worker_error" || !strings.Contains(e.Message, "AttributeError") {
		t.Errorf("got the failure %+v, want one that names Python's AttributeError", e)
	}
	if n.refuse.Load() >= 0 {
		t.Error("no commit was sent again after a 503")
	}
}

// The item that it works on is finished, and the others are free before their lease
// would have ended.
func TestPythonRunWorkerGivesBackAtSIGTERM(t *testing.T) {
	t.Parallel()
	n := startRunNode(t)
	worker := n.startRunWorker(t)
	run := n.submit(t, `{"text":"begun","seconds":1}`, `{"text":"next"}`, `{"text":"last"}`)
	select {
	case <-n.beat: // so it has begun
	case <-time.After(time.Minute):
		t.Fatal("the worker does not begin")
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	run, err := n.boss.Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run.Progress, (api.Progress{Total: 3, Pending: 2, Succeeded: 1}); got != want {
		t.Errorf("got the progress %+v, want %+v", got, want)
	}
	returned := 0
	for e, err := range n.boss.RunEvents(t.Context(), run.ID, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "item.returned" {
			returned++
		}
	}
	if returned != 2 {
		t.Errorf("%d items were given back, want 2", returned)
	}
}

func TestPythonRunWorkerLeavesACancelledRun(t *testing.T) {
	t.Parallel()
	n := startRunNode(t)
	n.startRunWorker(t)
	stuck := n.submit(t, `{"text":"stuck","seconds":3600}`, `{"text":"never"}`)
	n.started(t, stuck.ID)
	if _, err := n.boss.CancelRun(t.Context(), stuck.ID); err != nil {
		t.Fatal(err)
	}
	for _, item := range n.end(t, stuck.ID, api.RunCancelled) {
		if item.Status != api.ItemCancelled {
			t.Errorf("item %s is %s, want cancelled", item.ID, item.Status)
		}
	}
	if items := n.end(t, n.submit(t, `{"text":"next"}`).ID, api.RunCompleted); len(items) != 1 {
		t.Errorf("got %d results, want 1", len(items))
	}
}
