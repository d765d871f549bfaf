package claims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
)

// situations are the ways in which a claim can stand. Each takes a live claim of
// "worker" to where its name says.
var situations = []struct {
	name   string
	arrive func(w *world, c api.Claim)
}{
	{"live", func(*world, api.Claim) {}},
	{"expired", func(w *world, _ api.Claim) { w.clock.Advance(time.Minute) }},
	{"granted again", func(w *world, _ api.Claim) { w.clock.Advance(time.Minute); w.claim("other") }},
	{"released", func(w *world, c api.Claim) { w.release(c) }},
	{"failed by the claim", func(w *world, c api.Claim) { w.fail("worker", c, false, 0) }},
	{"cancelled", func(w *world, c api.Claim) { w.cancel(c.Verb.ID) }},
	{"succeeded", func(w *world, c api.Claim) { w.submit("worker", c, "first") }},
	{"failed for good", func(w *world, c api.Claim) { w.fail("worker", c, true, 0) }},

	// Where several columns fit, the last of them counts.
	{"released, granted again", func(w *world, c api.Claim) { w.release(c); w.claim("other") }},
	{"failed, granted again", func(w *world, c api.Claim) { w.fail("worker", c, false, 0); w.claim("other") }},
	{"released, cancelled", func(w *world, c api.Claim) { w.release(c); w.cancel(c.Verb.ID) }},
	{"released, succeeded with another", func(w *world, c api.Claim) { w.release(c); w.submit("other", w.claim("other"), "x") }},
	{"granted again, cancelled", func(w *world, c api.Claim) {
		w.clock.Advance(time.Minute)
		w.claim("other")
		w.cancel(c.Verb.ID)
	}},
	{"granted again, expired again", func(w *world, _ api.Claim) {
		w.clock.Advance(time.Minute)
		w.claim("other")
		w.clock.Advance(time.Minute)
	}},
}

// answers say for each situation what heartbeat, submit, fail and release get.
var answers = map[string][4]string{
	"live":                             {"renewed", "receipt", "verb", "verb"},
	"expired":                          {"lease_expired", "late receipt", "lease_expired", "verb"},
	"granted again":                    {"stale_fence", "stale_fence", "stale_fence", "stale_fence"},
	"released":                         {"claim_over", "claim_over", "claim_over", "verb"},
	"failed by the claim":              {"claim_over", "claim_over", "claim_over", "verb"},
	"cancelled":                        {"cancel_requested", "verb_terminal", "verb_terminal", "verb"},
	"succeeded":                        {"claim_over", "verb_terminal", "verb_terminal", "claim_over"},
	"failed for good":                  {"claim_over", "verb_terminal", "verb_terminal", "claim_over"},
	"released, granted again":          {"claim_over", "claim_over", "claim_over", "verb"},
	"failed, granted again":            {"claim_over", "claim_over", "claim_over", "verb"},
	"released, cancelled":              {"cancel_requested", "verb_terminal", "verb_terminal", "verb"},
	"released, succeeded with another": {"claim_over", "verb_terminal", "verb_terminal", "claim_over"},
	"granted again, cancelled":         {"cancel_requested", "verb_terminal", "verb_terminal", "verb"},
	"granted again, expired again":     {"stale_fence", "stale_fence", "stale_fence", "stale_fence"},
}

func TestCommandsOnAClaimAnswerByItsStanding(t *testing.T) {
	t.Parallel()
	for _, s := range situations {
		for i, command := range commandNames {
			t.Run(s.name+"/"+command, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.verb(api.VerbSpec{})
				c := w.claim("worker")
				s.arrive(w, c)

				if got := w.command(command, "worker", c.ID, c.Fence+1); got != "stale_fence" {
					t.Errorf("with a wrong fence: got %s, want stale_fence", got)
				}
				if got := w.command(command, "stranger", c.ID, c.Fence); got != "not_found" {
					t.Errorf("for another principal: got %s, want not_found", got)
				}
				forged := c.ID[:len(c.ID)-1] + map[bool]string{true: "1", false: "0"}[c.ID[len(c.ID)-1] == '0']
				if got := w.command(command, "worker", forged, c.Fence); got != "not_found" {
					t.Errorf("with a made-up id: got %s, want not_found", got)
				}
				if got, want := w.command(command, "worker", c.ID, c.Fence), answers[s.name][i]; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
	}
}

var commandNames = []string{"heartbeat", "submit", "fail", "release"}

// command carries out a command on a claim and tells its answer in a word.
func (w *world) command(name, who, id string, fence int64) string {
	w.t.Helper()
	var err error
	answer := "verb"
	switch name {
	case "heartbeat":
		var h api.Heartbeat
		h, err = w.as(who).Heartbeat(w.ctx(), id, api.HeartbeatSpec{Fence: fence})
		answer = "renewed"
		if h.CancelRequested {
			answer = "cancel_requested"
		}
	case "submit":
		var s api.Submitted
		// A key of its own, so that this is no repetition of an earlier one.
		w.sent++
		s, err = w.as(who).Submit(w.ctx(), id, api.SubmitSpec{Fence: fence, Output: text("out")}, numbered("key %d", w.sent))
		answer = "receipt"
		if s.Late {
			answer = "late receipt"
		}
	case "fail":
		_, err = w.as(who).Fail(w.ctx(), id, api.FailSpec{Fence: fence, Error: api.Failure{Message: "no"}})
	case "release":
		_, err = w.as(who).Release(w.ctx(), id, api.ReleaseSpec{Fence: fence})
	}
	if err == nil {
		return answer
	}
	e := api.AsError(err)
	if e.Code.Retryable() {
		return fmt.Sprintf("retryable %s", e.Code)
	}
	return string(e.Code)
}

func TestExpiryAtTheLastAttemptEndsTheClaimBeforeItIsSwept(t *testing.T) {
	t.Parallel()
	for i, command := range commandNames {
		w := newWorld(t)
		v := w.verb(api.VerbSpec{MaxAttempts: ptr(1)})
		c := w.claim("worker")
		w.clock.Advance(time.Minute)
		want := answers["failed for good"][i]
		if got := w.command(command, "worker", c.ID, c.Fence); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
		got := w.await(v.ID, api.VerbFailed)
		if got.Error == nil || got.Error.Code != "attempts_exhausted" || got.AttemptCount != 1 {
			t.Errorf("verb: got %+v after %d attempts, want attempts_exhausted after 1", got.Error, got.AttemptCount)
		}
	}
}

func TestHeartbeatProlongsNeverShortensAndEndsAtTheLifetime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings.MaxLeaseLifetimeMs = 100_000
	w.reopen(0)
	w.verb(api.VerbSpec{})
	c := w.claim("worker")
	granted := w.clock.Now()
	for _, step := range []struct {
		advance time.Duration
		leaseMs *int64
		until   time.Duration
	}{
		{10 * time.Second, nil, 70 * time.Second},
		{10 * time.Second, ptr(int64(1000)), 70 * time.Second},
		{10 * time.Second, ptr(int64(50_000)), 80 * time.Second},
		{10 * time.Second, nil, 100 * time.Second},
		{50 * time.Second, nil, 100 * time.Second},
	} {
		w.clock.Advance(step.advance)
		now := w.clock.Now()
		h, err := w.as("worker").Heartbeat(w.ctx(), c.ID, api.HeartbeatSpec{Fence: c.Fence, LeaseMs: step.leaseMs})
		if err != nil {
			t.Fatal(err)
		}
		want := granted.Add(step.until)
		if !h.ExpiresAt.Equal(want) || h.TTLMs != want.Sub(now).Milliseconds() || !h.ServerTime.Equal(now) {
			t.Errorf("after %v: got %+v, want until %v", now.Sub(granted), h, want)
		}
	}
	w.clock.Advance(10 * time.Second)
	if got := w.command("heartbeat", "worker", c.ID, c.Fence); got != "lease_expired" {
		t.Errorf("at the end of its life: got %s, want lease_expired", got)
	}
}

func TestHeartbeatTouchesNoIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{})
	c := w.claim("worker")
	before := w.number(`SELECT check_at FROM claims_state`)
	w.clock.Advance(30 * time.Second)
	if got := w.command("heartbeat", "worker", c.ID, c.Fence); got != "renewed" {
		t.Fatal(got)
	}
	if after := w.number(`SELECT check_at FROM claims_state`); after != before {
		t.Errorf("check_at, which is indexed: got %d, want %d as before", after, before)
	}
	// The sweep that comes at the old time must not take the renewed lease.
	w.clock.Advance(30 * time.Second)
	if got := w.claims("other", api.ClaimSpec{}); len(got.Claims) != 0 {
		t.Fatalf("claim of a renewed verb: got %v", verbsOf(got))
	}
	w.clock.Advance(30 * time.Second)
	w.claim("other")
}

func (w *world) release(c api.Claim) api.Verb {
	w.t.Helper()
	got, err := w.as("worker").Release(w.ctx(), c.ID, api.ReleaseSpec{Fence: c.Fence})
	if err != nil {
		w.t.Fatalf("release: %v", err)
	}
	return got.Verb
}

func (w *world) cancel(id string) api.Verb {
	w.t.Helper()
	v, err := w.as("producer").Cancel(w.ctx(), id)
	if err != nil {
		w.t.Fatalf("cancel: %v", err)
	}
	return v
}
