package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// first is the error of the first entry of a list.
func first[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		return err
	}
	return nil
}

func TestRequestsOfRunsGoToTheirRoutes(t *testing.T) {
	t.Parallel()
	var got string
	c := dial(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.RequestURI() + " " + string(body)
		reply(w, struct{}{})
	}, Options{})
	spec := api.RunSpec{Kind: "k", Items: []api.RunItemSpec{{ID: "a"}}}
	const document = `{"items":[{"id":"a"}],"kind":"k","metadata":{},"schema_version":"run/1"}`
	for _, tt := range []struct {
		want string
		do   func(ctx context.Context) error
	}{
		{"POST /runs " + document, func(ctx context.Context) error { _, err := c.SubmitRun(ctx, spec); return err }},
		{"POST /runs:estimate " + document, func(ctx context.Context) error { _, err := c.EstimateRun(ctx, spec); return err }},
		{"GET /runs/rn_%2F ", func(ctx context.Context) error { _, err := c.Run(ctx, "rn_/"); return err }},
		{"GET /runs?limit=7&status=queued ", func(ctx context.Context) error {
			return first(c.Runs(ctx, api.RunQueued, &ListOptions{PageSize: 7}))
		}},
		{"POST /runs/rn_1:cancel ", func(ctx context.Context) error { _, err := c.CancelRun(ctx, "rn_1"); return err }},
		{"GET /runs/rn_1/items?order=desc&status_filter=failed ", func(ctx context.Context) error {
			return first(c.RunItems(ctx, "rn_1", api.ItemFailed, &ListOptions{Desc: true}))
		}},
		{"GET /runs/rn_1/results ", func(ctx context.Context) error { return first(c.RunResults(ctx, "rn_1", nil)) }},
		{"GET /runs/rn_1/results?cursor=c&limit=3&order=input ", func(ctx context.Context) error {
			return first(c.RunResults(ctx, "rn_1", &ResultOptions{InputOrder: true, PageSize: 3, Cursor: "c"}))
		}},
		{"GET /runs/rn_1/events ", func(ctx context.Context) error { return first(c.RunEvents(ctx, "rn_1", nil)) }},
		{"GET /runs/rn_1/events?after=4&limit=2&wait_ms=1500 ", func(ctx context.Context) error {
			return first(c.RunEvents(ctx, "rn_1", &EventOptions{After: 4, Wait: 1500 * time.Millisecond, PageSize: 2}))
		}},
		{`POST /invoke {"kind":"k","scorer":"s","input":{"a":1}}`, func(ctx context.Context) error {
			_, err := c.Invoke(ctx, api.InvokeSpec{Kind: "k", Scorer: "s", Input: json.RawMessage(`{"a":1}`)})
			return err
		}},
		{`POST /quanta:claim {"pool":"durable","wait_ms":5}`, func(ctx context.Context) error {
			_, err := c.ClaimQuanta(ctx, api.QuantumSpec{Pool: api.PoolDurable, WaitMs: ptr(int64(5))})
			return err
		}},
		{`POST /quanta/q_%2F:heartbeat {"fence":7}`, func(ctx context.Context) error {
			_, err := c.HeartbeatQuantum(ctx, "q_/", api.HeartbeatSpec{Fence: 7})
			return err
		}},
		{`POST /quanta/q_1:commit {"fence":7,"done":true}`, func(ctx context.Context) error {
			_, err := c.CommitQuantum(ctx, "q_1", api.CommitSpec{Fence: 7, Done: true})
			return err
		}},
		{`POST /quanta/q_1:release {"fence":7}`, func(ctx context.Context) error {
			_, err := c.ReleaseQuantum(ctx, "q_1", api.QuantumReleaseSpec{Fence: 7})
			return err
		}},
	} {
		if err := tt.do(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.want, err)
		}
		method, rest, _ := strings.Cut(tt.want, " ")
		if want := method + " /ns/test/api/v2" + rest; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTriesOfARunAreOneRun(t *testing.T) {
	t.Parallel()
	for name, chosen := range map[string]string{"key of its own": "", "chosen key": "mine"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var keys []string
				c := dial(t, func(w http.ResponseWriter, r *http.Request) {
					keys = append(keys, r.Header.Get(api.HeaderIdempotencyKey))
					switch len(keys) {
					case 1:
						<-r.Context().Done()
					case 2:
						refuse(w, api.Errorf(api.TenantRunQuotaExceeded, "m").After(5*time.Second))
					default:
						reply(w, api.Run{ID: "rn_1"})
					}
				}, Options{})
				if chosen != "" {
					c = c.WithIdempotencyKey(chosen)
				}
				for range 2 {
					if run, err := c.SubmitRun(t.Context(), api.RunSpec{Kind: "k"}); err != nil || run.ID != "rn_1" {
						t.Fatalf("got %v, %v", run, err)
					}
				}
				if len(keys) != 4 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
					t.Errorf("got keys %q, want one for the three tries of the first run", keys)
				}
				if own := chosen == ""; own != (keys[3] != keys[0]) || (!own && keys[0] != chosen) {
					t.Errorf("got keys %q with %q chosen", keys, chosen)
				}
			})
		})
	}
}

func TestCallThatMayHaveBegunIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		tries  int
	}{
		{"lost answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1},
		{"out of time", func(w http.ResponseWriter, _ *http.Request) { refuse(w, api.Errorf(api.ItemTimeout, "m")) }, 1},
		{"fault", func(w http.ResponseWriter, _ *http.Request) { refuse(w, api.Errorf(api.Internal, "m")) }, 1},
		{"no free slot", func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, api.Errorf(api.RateLimited, "m").Because("no free slot"))
		}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				c := dial(t, func(w http.ResponseWriter, r *http.Request) { tries++; tt.answer(w, r) }, Options{})
				if _, err := c.Invoke(t.Context(), api.InvokeSpec{Kind: "k"}); err == nil || tries != tt.tries {
					t.Errorf("got %v after %d tries, want an error after %d", err, tries, tt.tries)
				}
			})
		})
	}
}

func TestCallMayTakeAsLongAsAnItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, func(w http.ResponseWriter, r *http.Request) {
			_ = sleep(r.Context(), 61*time.Second)
			reply(w, api.Invoked{Status: api.ItemSucceeded, Result: json.RawMessage(`{"a":1}`)})
		}, Options{})
		got, err := c.Invoke(t.Context(), api.InvokeSpec{Kind: "k"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, &api.Invoked{Status: api.ItemSucceeded, Result: json.RawMessage(`{"a":1}`)}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestEventsAreListedAcrossPages(t *testing.T) {
	t.Parallel()
	c := dial(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "" {
			p := page(1, 2)
			p.NextCursor = ptr("two")
			reply(w, p)
			return
		}
		reply(w, page(3))
	}, Options{})
	got, err := all(c.RunEvents(t.Context(), "r1", nil))
	if err != nil || !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("got %v and %v, want three events", got, err)
	}
}

func TestQuantaAreAskedForAgainOnlyUnderAKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int{"": 1, "mine": 2} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				c := dial(t, func(w http.ResponseWriter, r *http.Request) {
					if tries++; tries == 1 {
						<-r.Context().Done()
						return
					}
					reply(w, api.Quanta{})
				}, Options{})
				_, err := c.WithIdempotencyKey(key).ClaimQuanta(t.Context(), api.QuantumSpec{Pool: api.PoolDurable})
				if tries != want || (err == nil) != (want == 2) {
					t.Errorf("got %v after %d tries, want %d", err, tries, want)
				}
			})
		})
	}
}
