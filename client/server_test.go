package client_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// TestWorkOnAServer holds the client against a real node over real connections:
// every verb is worked on once, the digests of its inputs are right, and the
// connections are kept rather than made anew.
func TestWorkOnAServer(t *testing.T) {
	t.Parallel()
	const verbs, concurrency = 60, 8
	rt, err := skerry.Open(t.Context(), t.TempDir(), skerry.Options{OperatorKey: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}()
	var dialled atomic.Int64
	server := httptest.NewUnstartedServer(rt.Handler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dialled.Add(1)
		}
	}
	server.Start()
	defer server.Close()

	o, err := client.NewOperator(server.URL, "operator", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := o.CreateNamespace(t.Context(), "demo"); err != nil {
		t.Fatal(err)
	}
	key, err := o.CreateKey(t.Context(), "demo", api.KeySpec{Principal: "a", Roles: []api.Role{api.RoleAdmin}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.URL+"/ns/demo", key.Secret, &client.Options{Concurrency: concurrency + 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	large := make([]byte, 100<<10) // Too large to come inline.
	if _, err := c.CreateNoun(t.Context(), api.NounSpec{Key: "in/large", Content: client.Inline(large, "")}); err != nil {
		t.Fatal(err)
	}
	specs := make([]api.VerbSpec, verbs)
	for i := range specs {
		specs[i] = api.VerbSpec{Kind: "k", Artifact: fmt.Sprint("out/", i), Inputs: []api.Input{{Key: "in/large"}}}
	}
	if _, err := c.CreateVerbs(t.Context(), specs); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	seen := map[string]int{}
	err = c.Work(t.Context(), client.WorkerOptions{
		Kinds: []string{"k"}, Concurrency: concurrency, Wait: 1, StopWhenIdle: true, Recover: true,
		Handler: func(ctx context.Context, job *client.Job) (client.Result, error) {
			body, err := job.Input(ctx, 0)
			if err != nil || len(body) != len(large) {
				t.Errorf("read input: %d bytes, %v", len(body), err)
			}
			return client.Result{Bytes: []byte(job.Verb.ID)}, err
		},
		Observe: func(o client.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			seen[o.Claim.Verb.ID+" "+string(o.Disposition)]++
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != verbs {
		t.Errorf("got %d outcomes of %d verbs: %v", len(seen), verbs, seen)
	}
	receipts := 0
	for receipt, err := range c.Receipts(t.Context(), nil) {
		if receipts++; err != nil || receipt.Sequence != int64(receipts) || seen[receipt.Verb+" submitted"] != 1 {
			t.Fatalf("receipt %d: %+v, %v", receipts, receipt, err)
		}
	}
	if receipts != verbs {
		t.Errorf("got %d receipts, want %d", receipts, verbs)
	}
	// Two for the operator's and the first requests, one for each that runs at once.
	if n := dialled.Load(); n > 2*concurrency {
		t.Errorf("made %d connections for %d requests at once", n, concurrency+1)
	}
}
