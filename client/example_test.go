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
