package python_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// operator is the operator's key of the nodes under test.
const operator = "operator-key-of-the-tests"

// startWorker opens a node with one namespace, starts a program as a worker for a kind
// in it, and gives a client that may do everything there.
func startWorker(t *testing.T, program, kind string) *client.Client {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("the example needs python3, 3.9 or later: %v", err)
	}
	rt, err := skerry.Open(t.Context(), t.TempDir(), skerry.Options{OperatorKey: operator, Kinds: map[string]skerry.Kind{
		"words": {Kind: api.Kind{Pool: api.KindPool{Durable: true}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("close the node: %v", err)
		}
	})
	server := httptest.NewServer(rt.Handler())
	t.Cleanup(server.Close)
	if _, err := rt.Create(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	boss := newClient(t, server.URL, createKey(t, server.URL, "boss", api.RoleAdmin))

	var log bytes.Buffer
	worker := exec.Command(python, program, server.URL+"/ns/acme", kind)
	worker.Env = append(os.Environ(), "SKERRY_KEY="+createKey(t, server.URL, "snake", api.RoleWorker))
	worker.Stderr = &log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Kill()
		_ = worker.Wait() // it was killed
		if t.Failed() {
			t.Logf("the worker wrote:\n%s", log.String())
		}
	})
	return boss
}

func createKey(t *testing.T, url, principal string, role api.Role) string {
	t.Helper()
	o, err := client.NewOperator(url, operator, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	key, err := o.CreateKey(t.Context(), "acme", api.KeySpec{Principal: principal, Roles: []api.Role{role}})
	if err != nil {
		t.Fatal(err)
	}
	return key.Secret
}

func newClient(t *testing.T, url, key string) *client.Client {
	t.Helper()
	c, err := client.New(url+"/ns/acme", key, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func createNoun(t *testing.T, c *client.Client, key, text string) {
	t.Helper()
	if _, err := c.CreateNoun(t.Context(), api.NounSpec{Key: key, Content: client.Inline([]byte(text), "")}); err != nil {
		t.Fatal(err)
	}
}

func createVerb(t *testing.T, c *client.Client, spec api.VerbSpec) *api.Verb {
	t.Helper()
	spec.Kind = "shout"
	verb, err := c.CreateVerb(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return verb
}

// await follows a verb until it is in the state.
func await(t *testing.T, c *client.Client, id string, state api.VerbState) *api.Verb {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		verb, err := c.Verb(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case verb.State == state:
			return verb
		case verb.State.Ended():
			t.Fatalf("the verb is %s (%+v), want %s", verb.State, verb.Error, state)
		}
		// It answers at a change, or after the wait.
		if _, err := c.WaitVerb(ctx, id, time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// Work that takes several times as long as its lease is finished in time, at the
// first attempt: so the worker sent heartbeats.
func TestPythonWorkerKeepsItsLease(t *testing.T) {
	t.Parallel()
	c := startWorker(t, "worker.py", "shout")
	createNoun(t, c, "in/small", "hello, ")
	createNoun(t, c, "in/large", strings.Repeat("w", 70_000)) // comes as a link
	lease := int64(1000)
	verb := createVerb(t, c, api.VerbSpec{
		Artifact: "out/loud", LeaseMs: &lease, Brief: []byte(`{"seconds":3}`),
		Inputs: []api.Input{{Key: "in/small"}, {Key: "in/large"}},
	})

	verb = await(t, c, verb.ID, api.VerbSucceeded)
	receipt, err := c.Receipt(t.Context(), verb.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	if verb.AttemptCount != 1 || receipt.Late || receipt.Principal != "snake" {
		t.Errorf("got attempt %d, late %v, by %s; want the first, in time, by snake", verb.AttemptCount, receipt.Late, receipt.Principal)
	}
	body, err := c.NounBody(t.Context(), receipt.Output.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(body.Bytes), "HELLO, "+strings.Repeat("W", 70_000); got != want {
		t.Errorf("got an artifact of %d bytes that begins with %.10q, want %d bytes that begin with %.10q", len(got), got, len(want), want)
	}
}

func TestPythonWorkerLeavesCancelledWork(t *testing.T) {
	t.Parallel()
	c := startWorker(t, "worker.py", "shout")
	lease := int64(300)
	stuck := createVerb(t, c, api.VerbSpec{Artifact: "out/stuck", LeaseMs: &lease, Brief: []byte(`{"seconds":3600}`)})
	await(t, c, stuck.ID, api.VerbLeased)
	if _, err := c.Cancel(t.Context(), stuck.ID); err != nil {
		t.Fatal(err)
	}
	next := createVerb(t, c, api.VerbSpec{Artifact: "out/next"})
	await(t, c, next.ID, api.VerbSucceeded)
}

func TestPythonWorkerReportsFailures(t *testing.T) {
	t.Parallel()
	c := startWorker(t, "worker.py", "shout")
	once := 1
	verb := createVerb(t, c, api.VerbSpec{Artifact: "out/none", MaxAttempts: &once, Brief: []byte(`{"seconds":"soon"}`)})
	verb = await(t, c, verb.ID, api.VerbFailed)
	if verb.Error == nil || !strings.Contains(verb.Error.Message, "TypeError") {
		t.Errorf("got the failure %+v, want one that names Python's TypeError", verb.Error)
	}
}
