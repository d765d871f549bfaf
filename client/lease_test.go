package client

import (
	"context"
	"encoding/json"
	"errors"
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

// beats answers heartbeats by a function of their number, from 1, and notes when
// they came.
type beats struct {
	answer func(n int, w http.ResponseWriter, r *http.Request)

	mu sync.Mutex
	at []time.Time
}

func (b *beats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var spec api.HeartbeatSpec
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &spec) != nil || spec.Fence != 7 || !strings.HasSuffix(r.URL.Path, "/claims/cl_1:heartbeat") {
		refuse(w, api.Errorf(api.StaleFence, "not the claim's own"))
		return
	}
	b.mu.Lock()
	b.at = append(b.at, time.Now())
	n := len(b.at)
	b.mu.Unlock()
	b.answer(n, w, r)
}

func (b *beats) since(began time.Time) []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var times []time.Duration
	for _, at := range b.at {
		times = append(times, at.Sub(began))
	}
	return times
}

func renewed(w http.ResponseWriter, ttl time.Duration) {
	reply(w, api.Heartbeat{TTLMs: ttl.Milliseconds()})
}

func held(ttl time.Duration) *api.Claim {
	return &api.Claim{ID: "cl_1", Fence: 7, TTLMs: ttl.Milliseconds()}
}

// lease runs a test of a lease of 60 s that was asked for at began, against the
// answers.
func lease(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request), test func(t *testing.T, b *beats, c *Client, began time.Time)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &beats{answer: answer}
		test(t, b, dial(t, b.ServeHTTP, Options{}), time.Now())
	})
}

func steady(_ int, w http.ResponseWriter, _ *http.Request) { renewed(w, time.Minute) }

func silent(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestLeaseIsRenewedAtAThirdOfItsTTL(t *testing.T) {
	lease(t, steady, func(t *testing.T, b *beats, c *Client, began time.Time) {
		l := c.Keep(t.Context(), held(time.Minute), began)
		_ = sleep(t.Context(), 65*time.Second)
		l.Stop()
		l.Stop()
		want := []time.Duration{20 * time.Second, 40 * time.Second, time.Minute}
		if diff := cmp.Diff(b.since(began), want); diff != "" {
			t.Error("-got +want", diff)
		}
		if cause := context.Cause(l.Context()); !errors.Is(cause, context.Canceled) {
			t.Errorf("got cause %v, want the stop", cause)
		}
	})
}

func TestLeaseCountsFromWhenTheRequestWasSent(t *testing.T) {
	slow := func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			_ = sleep(r.Context(), 15*time.Second)
			renewed(w, time.Minute)
			return
		}
		silent(n, w, r)
	}
	lease(t, slow, func(t *testing.T, _ *beats, c *Client, began time.Time) {
		l := c.Keep(t.Context(), held(time.Minute), began)
		defer l.Stop()
		<-l.Context().Done()
		// Sent at 20 s, answered at 35 s: the lease lives until 80 s, not 95 s.
		if got, want := time.Since(began), 80*time.Second; got != want {
			t.Errorf("lapsed after %v, want %v", got, want)
		}
	})
}

func TestSilentServerEndsTheLeaseWhenItLapses(t *testing.T) {
	lease(t, silent, func(t *testing.T, b *beats, c *Client, began time.Time) {
		l := c.Keep(t.Context(), held(time.Minute), began)
		defer l.Stop()
		<-l.Context().Done()
		if got, want := time.Since(began), time.Minute; got != want {
			t.Errorf("lapsed after %v, want %v", got, want)
		}
		if cause := context.Cause(l.Context()); !errors.Is(cause, ErrLeaseLost) {
			t.Errorf("got cause %v, want the lease lost", cause)
		}
		if n := len(b.since(began)); n < 3 {
			t.Errorf("got %d heartbeats, want several tries", n)
		}
	})
}

func TestTroubleOnTheWayDoesNotEndTheLease(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"storage unavailable": func(w http.ResponseWriter) { refuse(w, api.Errorf(api.StorageUnavailable, "m").After(time.Second)) },
		"internal":            func(w http.ResponseWriter) { refuse(w, api.Errorf(api.Internal, "m")) },
		"proxy":               func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"proxy not found":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
	} {
		t.Run(name, func(t *testing.T) {
			flaky := func(n int, w http.ResponseWriter, _ *http.Request) {
				if n%4 != 0 {
					answer(w)
					return
				}
				renewed(w, time.Minute)
			}
			lease(t, flaky, func(t *testing.T, b *beats, c *Client, began time.Time) {
				l := c.Keep(t.Context(), held(time.Minute), began)
				defer l.Stop()
				if err := sleep(l.Context(), 10*time.Minute); err != nil {
					t.Errorf("ended after %v: %v", time.Since(began), context.Cause(l.Context()))
				}
			})
		})
	}
}

func TestRefusalEndsTheLeaseAtOnce(t *testing.T) {
	for _, code := range []api.Code{api.StaleFence, api.LeaseExpired, api.ClaimOver, api.NotFound, api.Unauthorized} {
		t.Run(string(code), func(t *testing.T) {
			answer := func(_ int, w http.ResponseWriter, _ *http.Request) { refuse(w, api.Errorf(code, "m")) }
			lease(t, answer, func(t *testing.T, b *beats, c *Client, began time.Time) {
				l := c.Keep(t.Context(), held(time.Minute), began)
				defer l.Stop()
				<-l.Context().Done()
				cause := context.Cause(l.Context())
				if !errors.Is(cause, ErrLeaseLost) || !api.IsCode(cause, code) {
					t.Errorf("got cause %v, want the lease lost by %s", cause, code)
				}
				if diff := cmp.Diff(b.since(began), []time.Duration{20 * time.Second}); diff != "" {
					t.Error("-got +want", diff)
				}
			})
		})
	}
}

func TestCancelledVerbEndsTheWork(t *testing.T) {
	answer := func(_ int, w http.ResponseWriter, _ *http.Request) {
		reply(w, api.Heartbeat{CancelRequested: true, TTLMs: 1000})
	}
	lease(t, answer, func(t *testing.T, _ *beats, c *Client, began time.Time) {
		l := c.Keep(t.Context(), held(time.Minute), began)
		defer l.Stop()
		<-l.Context().Done()
		if cause := context.Cause(l.Context()); !errors.Is(cause, ErrCancelRequested) {
			t.Errorf("got cause %v, want the cancellation", cause)
		}
	})
}

func TestLeaseOfUnknownAgeIsConfirmedFirst(t *testing.T) {
	for name, age := range map[string]time.Duration{"long poll": 50 * time.Second, "longer than the lease": 2 * time.Minute, "unknown": -1} {
		t.Run(name, func(t *testing.T) {
			lease(t, steady, func(t *testing.T, b *beats, c *Client, began time.Time) {
				sent := began.Add(-age)
				if age < 0 {
					sent = time.Time{}
				}
				l := c.Keep(t.Context(), held(time.Minute), sent)
				defer l.Stop()
				if got, want := l.Remaining(), time.Minute; got != want {
					t.Errorf("got %v left, want %v", got, want)
				}
				if diff := cmp.Diff(b.since(began), []time.Duration{0}); diff != "" {
					t.Error("-got +want", diff)
				}
			})
		})
	}
}

func TestStopWaitsForAHeartbeatUnderWay(t *testing.T) {
	lease(t, silent, func(t *testing.T, b *beats, c *Client, began time.Time) {
		l := c.Keep(t.Context(), held(time.Minute), began)
		_ = sleep(t.Context(), 21*time.Second)
		l.Stop()
		if got, want := time.Since(began), 21*time.Second; got != want {
			t.Errorf("stopped after %v, want %v", got, want)
		}
		_ = sleep(t.Context(), time.Hour)
		if n := len(b.since(began)); n != 1 {
			t.Errorf("got %d heartbeats, want none after the stop", n)
		}
	})
}

func TestLeaseAtTheEndOfItsLifetimeIsNotRenewedWithoutPause(t *testing.T) {
	began := time.Now()
	shrinking := func(_ int, w http.ResponseWriter, _ *http.Request) {
		renewed(w, max(began.Add(90*time.Second).Sub(now()), 0))
	}
	lease(t, shrinking, func(t *testing.T, b *beats, c *Client, at time.Time) {
		began = at
		l := c.Keep(t.Context(), held(time.Minute), began)
		defer l.Stop()
		<-l.Context().Done()
		if got := time.Since(began); got < 89*time.Second || got > 90*time.Second {
			t.Errorf("lapsed after %v, want about 90s", got)
		}
		if n := len(b.since(began)); n > 40 {
			t.Errorf("got %d heartbeats for one lease", n)
		}
	})
}
