package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestRetryAfterReadsSecondsAndDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, tt := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"1", "", time.Second},
		{" 7 ", "", 7 * time.Second},
		{"60", "", time.Minute},
		{"61", "", time.Minute},
		{"99999999999999999999999", "", time.Minute},
		{"-5", "", 0},
		{"+5", "", 0},
		{"1.5", "", 0},
		{"0x10", "", 0},
		{"soon", "", 0},
		{"1, 2", "", 0},
		{at.Add(3 * time.Second).Format(http.TimeFormat), "", 3 * time.Second},
		{at.Add(-time.Hour).Format(http.TimeFormat), "", 0},
		{at.Add(time.Hour).Format(http.TimeFormat), "", time.Minute},
		// A local clock that is an hour off changes nothing where the answer has a date.
		{at.Add(time.Hour + 3*time.Second).Format(http.TimeFormat), at.Add(time.Hour).Format(http.TimeFormat), 3 * time.Second},
	} {
		h := http.Header{}
		h.Set("Retry-After", tt.value)
		if tt.date != "" {
			h.Set("Date", tt.date)
		}
		if got := retryAfter(h, at); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.value, got, tt.want)
		}
	}
}

func FuzzRetryAfterStaysInBounds(f *testing.F) {
	for _, s := range []string{"1", "-5", "1.5", "Wed, 04 Mar 2026 05:06:07 GMT", "18446744073709551616"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		if got := retryAfter(h, time.Unix(1_700_000_000, 0)); got < 0 || got > maxRetryAfter {
			t.Fatalf("%q: got %v", value, got)
		}
	})
}

func TestErrorsPreferMillisecondsOverTheHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ms   string
		want time.Duration
	}{
		{"1500", 1500 * time.Millisecond},
		{"3600000", time.Minute},
		{"9223372036854775807", time.Minute},
		{"0", 2 * time.Second},
		{"-1", 2 * time.Second},
		{"1.5", 2 * time.Second},
		{`"1"`, 2 * time.Second},
		{"null", 2 * time.Second},
	} {
		body := `{"error":{"code":"rate_limited","message":"m","reason":"r","retry_after_ms":` + tt.ms + `}}`
		err := answerError(429, http.Header{"Retry-After": {"2"}, "X-Request-Id": {"id"}}, []byte(body))
		var e *api.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: got %v, want an api error", tt.ms, err)
		}
		want := &api.Error{Code: api.RateLimited, Message: "m", Reason: "r", RetryAfter: tt.want, RequestID: "id"}
		if diff := cmp.Diff(e, want); diff != "" {
			t.Errorf("%s: -got +want %s", tt.ms, diff)
		}
	}
}

var (
	errReset = errors.New("connection reset")
	errDial  = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
)

// failing is a transport whose first answers are given; then it succeeds.
type failing struct {
	fail  func() (*http.Response, error)
	tries int
	times int
	seen  []string
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	f.tries++
	body, _ := io.ReadAll(r.Body)
	f.seen = append(f.seen, string(body)+r.Header.Get(api.HeaderIdempotencyKey))
	if f.tries <= f.times {
		return f.fail()
	}
	return wire{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) })}.RoundTrip(r)
}

func TestOnlyWhatIsSafeIsSentAgain(t *testing.T) {
	t.Parallel()
	status := func(code int, header string) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {header}}, Body: http.NoBody}, nil
		}
	}
	coded := func(code api.Code) func() (*http.Response, error) {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, api.Errorf(code, "m")) })
		return func() (*http.Response, error) {
			return wire{h}.RoundTrip((&http.Request{}).WithContext(context.Background()))
		}
	}
	lost := func() (*http.Response, error) { return nil, errReset }
	unsent := func() (*http.Response, error) { return nil, errDial }

	noun := func(ctx context.Context, c *Client) error { _, err := c.Noun(ctx, "k"); return err }
	createNoun := func(ctx context.Context, c *Client) error {
		_, err := c.CreateNoun(ctx, api.NounSpec{Key: "k"})
		return err
	}
	claim := func(ctx context.Context, c *Client) error { _, err := c.Claim(ctx, api.ClaimSpec{}); return err }
	keyed := func(ctx context.Context, c *Client) error { return claim(ctx, c.WithIdempotencyKey("k")) }
	submit := func(ctx context.Context, c *Client) error {
		_, err := c.Submit(ctx, "cl_1", api.SubmitSpec{})
		return err
	}
	beat := func(ctx context.Context, c *Client) error {
		_, err := c.Heartbeat(ctx, "cl_1", api.HeartbeatSpec{})
		return err
	}

	for _, tt := range []struct {
		name string
		do   func(context.Context, *Client) error
		fail func() (*http.Response, error)
		want int
	}{
		{"read, answer lost", noun, lost, 2},
		{"create, answer lost", createNoun, lost, 2},
		{"claim, answer lost", claim, lost, 1},
		{"claim, never sent", claim, unsent, 2},
		{"claim with a key, answer lost", keyed, lost, 2},
		{"submit, answer lost", submit, lost, 2},
		{"heartbeat, answer lost", beat, lost, 2},
		{"claim, rate limited", claim, coded(api.RateLimited), 2},
		{"claim, storage unavailable", claim, coded(api.StorageUnavailable), 2},
		{"create, in progress", createNoun, coded(api.IdempotencyInProgress), 2},
		{"read, internal", noun, coded(api.Internal), 1},
		{"submit, stale fence", submit, coded(api.StaleFence), 1},
		{"create, idempotency conflict", createNoun, coded(api.IdempotencyConflict), 1},
		{"claim, gateway timeout of a proxy", claim, status(504, ""), 1},
		{"submit, bad gateway", submit, status(502, ""), 2},
		{"claim, 429 of a proxy", claim, status(429, "1"), 2},
		{"read, 404 of a proxy", noun, status(404, ""), 1},
		{"read, redirect", noun, status(302, ""), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &failing{fail: tt.fail, times: 1}
				c := dial(t, nil, Options{HTTPClient: &http.Client{Transport: f, CheckRedirect: newHTTPClient(1).CheckRedirect}})
				err := tt.do(t.Context(), c)
				if f.tries != tt.want {
					t.Errorf("got %d tries, want %d (%v)", f.tries, tt.want, err)
				}
				if (err == nil) != (tt.want == 2) {
					t.Errorf("got error %v after %d tries", err, f.tries)
				}
				if f.tries == 2 && f.seen[0] != f.seen[1] {
					t.Errorf("the second try differs: %q, %q", f.seen[0], f.seen[1])
				}
			})
		})
	}
}

// limited answers 429 with the advice until there have been as many as times.
func limited(times int, advice time.Duration) (http.HandlerFunc, *[]time.Time) {
	var at []time.Time
	return func(w http.ResponseWriter, _ *http.Request) {
		at = append(at, time.Now())
		if len(at) <= times {
			w.Header().Set("Retry-After", strconv.Itoa(int(advice/time.Second)))
			refuse(w, api.Errorf(api.RateLimited, "busy").After(advice))
			return
		}
		reply(w, api.Claims{})
	}, &at
}

func TestAdviceIsFollowedWithUpToAFifthMore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		jitter float64
		want   time.Duration
	}{{0, 5 * time.Second}, {0.5, 5500 * time.Millisecond}, {0.9999, 5999900 * time.Microsecond}} {
		synctest.Test(t, func(t *testing.T) {
			h, at := limited(1, 5*time.Second)
			c := dial(t, h, Options{Jitter: func() float64 { return tt.jitter }})
			if _, err := c.Claim(t.Context(), api.ClaimSpec{}); err != nil {
				t.Fatal(err)
			}
			if got := (*at)[1].Sub((*at)[0]); got != tt.want {
				t.Errorf("jitter %v: got a pause of %v, want %v", tt.jitter, got, tt.want)
			}
		})
	}
}

func TestTriesAreBoundedByNumberAndTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		o      Options
		advice time.Duration
		want   int
	}{
		{"by number", Options{MaxAttempts: 3}, time.Second, 3},
		{"by time", Options{MaxAttempts: 100, MaxElapsed: 25 * time.Second}, 10 * time.Second, 3},
		{"not at all", Options{MaxAttempts: 1}, time.Second, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, at := limited(1000, tt.advice)
				_, err := dial(t, h, tt.o).Claim(t.Context(), api.ClaimSpec{})
				if !api.IsCode(err, api.RateLimited) || len(*at) != tt.want {
					t.Errorf("got %d tries and %v, want %d and rate_limited", len(*at), err, tt.want)
				}
			})
		})
	}
}

func TestPatientClaimWaitsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, at := limited(1000, 30*time.Second)
		c := dial(t, h, Options{Patient: true, MaxAttempts: 2})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute-time.Second)
		defer cancel()
		_, err := c.Claim(ctx, api.ClaimSpec{})
		if !errors.Is(err, context.DeadlineExceeded) || !api.IsCode(err, api.RateLimited) {
			t.Errorf("got %v, want the deadline and the last refusal", err)
		}
		if got, want := len(*at), 20; got != want {
			t.Errorf("got %d tries, want %d", got, want)
		}
	})
}

func TestReplayedGrantsCountFromTheFirstTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		c := dial(t, func(w http.ResponseWriter, r *http.Request) {
			if tries++; tries == 1 {
				_ = sleep(r.Context(), time.Hour)
				return
			}
			w.Header().Set(api.HeaderIdempotentReplayed, "true")
			reply(w, api.Claims{Claims: []api.Claim{{ID: "cl_1", TTLMs: 60_000}}})
		}, Options{RequestTimeout: 10 * time.Second})
		got, err := c.WithIdempotencyKey("k").Claim(t.Context(), api.ClaimSpec{})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Replayed || !got.Sent.Equal(began) {
			t.Errorf("got sent %v after the beginning, replayed %v; want 0, true", got.Sent.Sub(began), got.Replayed)
		}
	})
}

func TestOwnTimeoutIsNotTheCallersDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := dial(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Options{RequestTimeout: time.Second})
		_, err := c.Claim(t.Context(), api.ClaimSpec{WaitMs: ptr[int64](4000)})
		if !errors.Is(err, ErrNoAnswer) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want no answer", err)
		}
		if got, want := time.Since(began), 5*time.Second; got != want {
			t.Errorf("gave up after %v, want %v", got, want)
		}
	})
}
