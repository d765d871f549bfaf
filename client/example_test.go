package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// newServer stands for a Skerry server with one ready verb.
func newServer() *httptest.Server {
	granted := false
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/claims") && !granted:
			granted = true
			text := "a long text"
			_ = json.NewEncoder(w).Encode(api.Claims{Claims: []api.Claim{{
				ID: "cl_1", Verb: api.Verb{ID: "vb_1", Kind: "summarize"}, Fence: 1 << 22, TTLMs: 60_000,
				Inputs: []api.ClaimInput{{
					Ref: "in/text@1", Body: &text,
					Digest: "sha256:3593f87b3ed8cc5d227bf3cb02dda0eca4d5b0f155e60601daed26f9acb14081",
				}},
			}}})
		case strings.HasSuffix(r.URL.Path, "/claims"):
			_ = json.NewEncoder(w).Encode(api.Claims{Idle: &api.Idle{PollAfterMs: 250}})
		case strings.HasSuffix(r.URL.Path, ":submit"):
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"rc_1","sequence":1,"output":{"ref":"out/summary@1"}}`)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":{"code":"forbidden","message":"this needs the role producer"}}`)
		}
	}))
}

// A worker claims verbs, keeps their leases alive while the handler runs, and
// submits what it returns.
func ExampleClient_Work() {
	server := newServer()
	defer server.Close()
	c, err := client.New(server.URL+"/ns/demo", "the-key", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	err = c.Work(context.Background(), client.WorkerOptions{
		Kinds: []string{"summarize"}, StopWhenIdle: true,
		Handler: func(ctx context.Context, job *client.Job) (client.Result, error) {
			text, err := job.Input(ctx, 0)
			if err != nil {
				return client.Result{}, err
			}
			return client.Result{Bytes: text[:6]}, nil
		},
		Observe: func(o client.Outcome) { fmt.Println(o.Claim.Verb.ID, o.Disposition, o.Receipt.Output.Ref) },
	})
	fmt.Println(err)
	// Output:
	// vb_1 submitted out/summary@1
	// <nil>
}

// Work by hand: claim, keep the lease, submit.
func ExampleClient_Keep() {
	server := newServer()
	defer server.Close()
	c, err := client.New(server.URL+"/ns/demo", "the-key", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	claimed, err := c.Claim(ctx, api.ClaimSpec{Kinds: []string{"summarize"}})
	if err != nil || len(claimed.Claims.Claims) == 0 {
		fmt.Println("nothing to do", err)
		return
	}
	claim := &claimed.Claims.Claims[0]
	lease := c.Keep(ctx, claim, claimed.Sent)
	defer lease.Stop()

	summary := "short" // The work obeys lease.Context().
	receipt, err := c.Submit(lease.Context(), claim.ID, api.SubmitSpec{Fence: claim.Fence, Output: api.Content{Body: &summary}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(receipt.ID, receipt.Sequence)
	// Output: rc_1 1
}

// A refusal is an *api.Error, to be told by its code.
func ExampleClient_CreateVerb() {
	server := newServer()
	defer server.Close()
	c, err := client.New(server.URL+"/ns/demo", "a-workers-key", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	_, err = c.CreateVerb(context.Background(), api.VerbSpec{Kind: "summarize", Artifact: "out/summary"})
	var refusal *api.Error
	fmt.Println(errors.As(err, &refusal), api.IsCode(err, api.Forbidden))
	fmt.Println(refusal.Message)
	// Output:
	// true true
	// this needs the role producer
}

// newRunServer stands for a Skerry server with one run of two items, which is
// queued and has its quantum ready.
func newRunServer() *httptest.Server {
	granted := false
	answers := map[string]string{
		"/runs":               `{"id":"rn_1","status":"queued","last_event_sequence":1}`,
		"/runs/rn_1/results":  `{"data":[{"id":"a","status":"succeeded","result":{"length":3}}],"next_cursor":null}`,
		"/catalog":            `{"batch_items":4}`,
		"/quanta/qm_1:commit": `{"committed":["a","b"],"ignored":[],"run":null}`,
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/ns/demo/api/v2")
		switch {
		case path == "/runs/rn_1/events":
			w.Header().Set("Content-Type", "text/event-stream")
			for i, event := range []string{"run.queued", "run.started", "item.succeeded", "run.completed"} {
				_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: {\"sequence\":%d,\"type\":%q}\n\n", i+1, event, i+1, event)
			}
		case path == "/quanta:claim" && !granted:
			granted = true
			_, _ = io.WriteString(w, `{"quantum":{"id":"qm_1","run":"rn_1","kind":"measure","shared":{},"fence":4194305,"timeout_ms":60000,"ttl_ms":60000,
				"items":[{"id":"a","attempt_count":1,"payload":{"text":"one"}},{"id":"b","attempt_count":1,"payload":{"text":""}}]}}`)
		case path == "/quanta:claim":
			_, _ = io.WriteString(w, `{"quantum":null,"idle":{"poll_after_ms":250}}`)
		default:
			_, _ = io.WriteString(w, answers[path])
		}
	}))
}

// A producer submits a run, follows it to its end and reads what came of it.
func ExampleClient_FollowRun() {
	server := newRunServer()
	defer server.Close()
	c, err := client.New(server.URL+"/ns/demo", "a-producers-key", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx := context.Background()
	run, err := c.SubmitRun(ctx, api.RunSpec{
		Kind: "measure", Items: []api.RunItemSpec{{ID: "a", Payload: map[string]json.RawMessage{"text": json.RawMessage(`"one"`)}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range c.FollowRun(ctx, run.ID, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Sequence, event.Type)
	}
	for item, err := range c.RunResults(ctx, run.ID, nil) {
		fmt.Println(item.ID, item.Status, string(item.Result), err)
	}
	// Output:
	// 1 run.queued
	// 2 run.started
	// 3 item.succeeded
	// 4 run.completed
	// a succeeded {"length":3} <nil>
}

// A worker computes the items of runs one by one. What its handler returns is
// committed in batches.
func ExampleClient_WorkRuns() {
	server := newRunServer()
	defer server.Close()
	c, err := client.New(server.URL+"/ns/demo", "a-workers-key", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	err = c.WorkRuns(context.Background(), client.RunWorkerOptions{
		Kinds: []string{"measure"}, StopWhenIdle: true,
		Handler: func(_ context.Context, job *client.RunJob) (json.RawMessage, error) {
			var item struct{ Text string }
			if err := json.Unmarshal(job.Payload, &item); err != nil {
				return nil, &client.JobError{Code: "bad_item", Message: "text is not a string"}
			}
			if item.Text == "" {
				return nil, &client.JobError{Code: "no_text", Message: "there is nothing to measure"}
			}
			cost := int64(len(item.Text))
			job.Cost = &cost
			return json.Marshal(map[string]int{"length": len(item.Text)})
		},
		Observe: func(o client.QuantumOutcome) {
			for _, item := range o.Committed {
				fmt.Println(o.Quantum.ID, item.ID, item.Status)
			}
		},
	})
	fmt.Println(err)
	// Output:
	// qm_1 a succeeded
	// qm_1 b failed
	// <nil>
}
