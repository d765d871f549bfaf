package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func echo(_ context.Context, job *Job) (Result, error) {
	return Result{Bytes: []byte(job.Verb.ID)}, nil
}

func TestWorkReportsByTheHandlersError(t *testing.T) {
	t.Parallel()
	answers := map[string]error{
		"v2": errors.New("odd"),
		"v3": &JobError{Code: "bad_input", Message: "no", Final: true},
		"v4": fmt.Errorf("wrapped: %w", &JobError{Release: true}),
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(5)
		var mu sync.Mutex
		got := map[string]Disposition{}
		err := b.client(t).Work(t.Context(), WorkerOptions{
			Concurrency: 2, StopWhenIdle: true,
			Handler: func(ctx context.Context, job *Job) (Result, error) {
				if job.Verb.ID == "v5" {
					panic("payload")
				}
				if err := answers[job.Verb.ID]; err != nil {
					return Result{}, err
				}
				return echo(ctx, job)
			},
			Observe: func(o Outcome) {
				mu.Lock()
				defer mu.Unlock()
				got[o.Claim.ID] = o.Disposition
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			`fail c2 handler_error "odd" final=false`,
			`fail c3 bad_input "no" final=true`,
			`fail c5 handler_panic "the handler panicked" final=false`,
			`release c4`,
			`submit c1 v1`,
		}
		if diff := cmp.Diff(b.logged(), want); diff != "" {
			t.Error("-got +want", diff)
		}
		seen := map[string]Disposition{"c1": DoneSubmitted, "c2": DoneRetry, "c3": DoneFailed, "c4": DoneReleased, "c5": DoneRetry}
		if diff := cmp.Diff(got, seen); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestWorkRunsNoMoreThanItsConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(20)
		var mu sync.Mutex
		running, most := 0, 0
		err := b.client(t).Work(t.Context(), WorkerOptions{
			Concurrency: 3, StopWhenIdle: true,
			Handler: func(ctx context.Context, job *Job) (Result, error) {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				_ = sleep(ctx, time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return echo(ctx, job)
			},
		})
		if err != nil || most != 3 || len(b.logged()) != 20 {
			t.Errorf("got %d at once, %d reports and %v; want 3, 20 and no error", most, len(b.logged()), err)
		}
	})
}

func TestWorkTakesNoMoreThanItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(20)
		if err := b.client(t).Work(t.Context(), WorkerOptions{Concurrency: 4, MaxJobs: 7, Handler: echo}); err != nil {
			t.Fatal(err)
		}
		if got := b.next; got != 7 {
			t.Errorf("took %d claims, want 7", got)
		}
	})
}

// once reports true the first time a request matches.
func once(match func(r *http.Request) bool) func(r *http.Request) bool {
	var mu sync.Mutex
	var done bool
	return func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if done || !match(r) {
			return false
		}
		done = true
		return true
	}
}

func isPost(suffix string) func(r *http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, suffix)
	}
}

func TestGrantsWhoseAnswerWasLostAreTakenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(3)
		b.drop = once(isPost("/claims"))
		if err := b.client(t).Work(t.Context(), WorkerOptions{Concurrency: 3, StopWhenIdle: true, Handler: echo}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.logged(), []string{"submit c1 v1", "submit c2 v2", "submit c3 v3"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestSubmissionWhoseAnswerWasLostIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	for _, recover := range []bool{false, true} {
		t.Run(fmt.Sprint("recover ", recover), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(2)
				b.drop = once(isPost(":submit"))
				var lost []Outcome
				err := b.client(t).Work(t.Context(), WorkerOptions{
					StopWhenIdle: true, Recover: recover, Handler: echo,
					Observe: func(o Outcome) {
						if o.Disposition == DoneLost {
							lost = append(lost, o)
						}
					},
				})
				if err != nil || len(lost) > 0 {
					t.Fatalf("got %v, lost %v", err, lost)
				}
				// The answer that was lost had granted c2 besides: only recovery finds it.
				want := []string{"submit c1 v1"}
				if recover {
					want = append(want, "submit c2 v2")
				}
				if diff := cmp.Diff(b.logged(), want); diff != "" {
					t.Error("-got +want", diff)
				}
			})
		})
	}
}

func TestRecoveryTakesUpTheLeasesOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(3)
		b.grant(2)
		if err := b.client(t).Work(t.Context(), WorkerOptions{StopWhenIdle: true, Recover: true, Kinds: []string{"k"}, Handler: echo}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.logged(), []string{"submit c1 v1", "submit c2 v2", "submit c3 v3"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestWorkOutlastsTroubleAndStopsAtARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(1)
		began := time.Now()
		b.refuse = func(r *http.Request) *api.Error {
			switch at := time.Since(began); {
			case at < 10*time.Minute:
				return api.Errorf(api.NamespaceUnavailable, "m").After(time.Second)
			case at > time.Hour:
				return api.Errorf(api.Unauthorized, "revoked")
			}
			return nil
		}
		told := 0
		err := b.client(t).Work(t.Context(), WorkerOptions{Handler: echo, Delayed: func(err error) {
			if told++; !api.IsCode(err, api.NamespaceUnavailable) {
				t.Errorf("told of %v, want namespace_unavailable", err)
			}
		}})
		if !api.IsCode(err, api.Unauthorized) {
			t.Errorf("got %v, want unauthorized", err)
		}
		if told == 0 {
			t.Error("nobody was told of the trouble")
		}
		if diff := cmp.Diff(b.logged(), []string{"submit c1 v1"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestLostLeaseSubmitsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(1)
		b.refuse = func(r *http.Request) *api.Error {
			if strings.HasSuffix(r.URL.Path, ":heartbeat") {
				return api.Errorf(api.StaleFence, "granted again")
			}
			return nil
		}
		var got Outcome
		err := b.client(t).Work(t.Context(), WorkerOptions{
			MaxJobs: 1,
			Handler: func(ctx context.Context, job *Job) (Result, error) {
				<-ctx.Done()
				return echo(ctx, job)
			},
			Observe: func(o Outcome) { got = o },
		})
		if err != nil || got.Disposition != DoneLost || !errors.Is(got.Err, ErrLeaseLost) || !api.IsCode(got.Err, api.StaleFence) {
			t.Errorf("got %v and %v, want the claim lost", err, got)
		}
		if len(b.logged()) > 0 {
			t.Errorf("reported %v", b.logged())
		}
	})
}

func TestRefusedOutputFailsTheVerb(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(1)
		b.refuse = func(r *http.Request) *api.Error {
			if strings.HasSuffix(r.URL.Path, ":submit") {
				return api.Errorf(api.BodyTooLarge, "more than 1 MiB")
			}
			return nil
		}
		if err := b.client(t).Work(t.Context(), WorkerOptions{MaxJobs: 1, Handler: echo}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.logged(), []string{`fail c1 output_refused "more than 1 MiB" final=false`}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestIdleWorkerKeepsThePaceThatTheServerAdvises(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		c := dial(t, func(w http.ResponseWriter, _ *http.Request) {
			at = append(at, time.Since(began))
			reply(w, api.Claims{Idle: &api.Idle{PollAfterMs: 8000}})
		}, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := c.Work(ctx, WorkerOptions{Handler: echo}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(at, []time.Duration{0, 8 * time.Second, 16 * time.Second}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestJobInputIsCheckedAgainstItsDigest(t *testing.T) {
	t.Parallel()
	const sum = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // hello
	c := dial(t, func(w http.ResponseWriter, r *http.Request) {
		if got, want := r.URL.RequestURI(), "/ns/test/api/v2/nouns/in/big@3?body=1"; got != want {
			refuse(w, api.Errorf(api.NotFound, "%s", got))
			return
		}
		_, _ = io.WriteString(w, "hello")
	}, Options{})
	for _, tt := range []struct {
		name string
		in   api.ClaimInput
		want string
	}{
		{"text", api.ClaimInput{Digest: sum, Body: ptr("hello")}, ""},
		{"base64", api.ClaimInput{Digest: sum, BodyBase64: ptr("aGVsbG8=")}, ""},
		{"fetched by ref", api.ClaimInput{Digest: sum, Ref: "in/big@3", Href: "http://elsewhere/"}, ""},
		{"tampered", api.ClaimInput{Digest: sum, Body: ptr("hellO")}, "does not match its digest"},
		{"bad base64", api.ClaimInput{Digest: sum, BodyBase64: ptr("*")}, "bad base64"},
		{"uri", api.ClaimInput{Digest: sum, URI: "s3://x"}, "lies at a uri"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			job := &Job{Claim: api.Claim{Inputs: []api.ClaimInput{tt.in}}, client: c}
			got, err := job.Input(t.Context(), 0)
			switch {
			case tt.want == "" && (err != nil || string(got) != "hello"):
				t.Errorf("got %q, %v", got, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
