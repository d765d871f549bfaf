package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
)

// Claimed is the answer to a claim command with what was measured of it.
type Claimed struct {
	api.Claims
	// Sent is the local time from which the ttl_ms of the claims count: when the
	// request left. After a replayed answer it is when the first try left.
	Sent time.Time `json:"-"`
	// AdmissionWait is the time the command spent in the admission queue, and
	// Concurrency the limit in force when it was decided; both 0 if the server
	// did not say.
	AdmissionWait time.Duration `json:"-"`
	Concurrency   int           `json:"-"`
	// Replayed says that these are the grants of an earlier request under the
	// same Idempotency-Key.
	Replayed bool `json:"-"`
}

// Claim asks for work, and waits for it as long as spec.WaitMs says. It needs the
// role worker or admin. Without an Idempotency-Key (see
// [Client.WithIdempotencyKey]) it is not sent again when its answer is lost, as
// that could grant twice; with one, the same grants come again.
func (c *Client) Claim(ctx context.Context, spec api.ClaimSpec) (*Claimed, error) {
	q := call{what: "claim work", method: http.MethodPost, path: base + "/claims", body: spec, key: c.key, safe: c.key != "", claims: true}
	q.wait = millis(spec.WaitMs)
	claimed := new(Claimed)
	a, err := c.sender.fetch(ctx, q, &claimed.Claims)
	if err != nil {
		return nil, err
	}
	claimed.Sent, claimed.Replayed = a.sent, a.replayed
	wait, _ := strconv.ParseInt(a.header.Get(api.HeaderClaimWait), 10, 64)
	claimed.AdmissionWait = time.Duration(wait) * time.Millisecond
	claimed.Concurrency, _ = strconv.Atoi(a.header.Get(api.HeaderClaimConcurrency))
	return claimed, nil
}

// Claims lists the live leases of the key's principal, those of other processes
// under the same principal too.
func (c *Client) Claims(ctx context.Context, o *ListOptions) iter.Seq2[api.Claim, error] {
	return list[api.Claim](ctx, c.sender, read("list claims", "/claims").with(o.query()))
}

// Heartbeat renews a lease once; [Client.Keep] does so for as long as work
// lasts.
func (c *Client) Heartbeat(ctx context.Context, claim string, spec api.HeartbeatSpec) (*api.Heartbeat, error) {
	return fetch[api.Heartbeat](ctx, c.sender, heartbeat(onClaim, claim, spec))
}

// Submitted is the answer to a submission.
type Submitted struct {
	api.Submitted
	// Sent is the local time from which the ttl_ms of the claims in Next count.
	Sent time.Time `json:"-"`
	// Replayed says that an earlier try had been accepted and this is its
	// receipt. Next is then absent, whatever the earlier try was granted.
	Replayed bool `json:"-"`
}

// Submit delivers a claim's artifact. Its Idempotency-Key is the claim's id
// unless another was set, so it is sent again whenever an answer is lost.
func (c *Client) Submit(ctx context.Context, claim string, spec api.SubmitSpec) (*Submitted, error) {
	return c.submit(ctx, claim, spec, false)
}

func (c *Client) submit(ctx context.Context, claim string, spec api.SubmitSpec, untilDone bool) (*Submitted, error) {
	q := command("submit artifact", onClaim, claim, "submit", spec, c.keyOr(claim))
	q.wait, q.untilDone = waitOf(spec.ClaimNext), untilDone
	submitted := new(Submitted)
	a, err := c.sender.fetch(ctx, q, &submitted.Submitted)
	if err != nil {
		return nil, err
	}
	submitted.Sent, submitted.Replayed = a.sent, a.replayed
	return submitted, nil
}

// Fail reports that a claim's work failed, for now or for good. Its
// Idempotency-Key is the claim's id unless another was set.
func (c *Client) Fail(ctx context.Context, claim string, spec api.FailSpec) (*api.Failed, error) {
	return c.fail(ctx, claim, spec, false)
}

func (c *Client) fail(ctx context.Context, claim string, spec api.FailSpec, untilDone bool) (*api.Failed, error) {
	q := command("fail claim", onClaim, claim, "fail", spec, c.keyOr(claim))
	q.wait, q.untilDone = waitOf(spec.ClaimNext), untilDone
	return fetch[api.Failed](ctx, c.sender, q)
}

// Release hands a claim back as if it had not been granted. Releasing twice does
// no harm.
func (c *Client) Release(ctx context.Context, claim string, spec api.ReleaseSpec) (*api.Released, error) {
	return c.release(ctx, claim, spec, false)
}

func (c *Client) release(ctx context.Context, claim string, spec api.ReleaseSpec, untilDone bool) (*api.Released, error) {
	q := command("release claim", onClaim, claim, "release", spec, c.key)
	q.untilDone = untilDone
	return fetch[api.Released](ctx, c.sender, q)
}

// grants is what a worker holds leases of, as the path of their collection.
type grants string

const (
	onClaim   grants = "/claims/"
	onQuantum grants = "/quanta/"
)

// command is a command on a grant. Each of them does no harm when it comes twice:
// a submission and a failure by their key, the others by their nature.
func command(what string, on grants, id, verb string, body any, key string) call {
	return call{
		what: what, method: http.MethodPost, path: base + string(on) + url.PathEscape(id) + ":" + verb,
		body: body, key: key, safe: true,
	}
}

func heartbeat(on grants, id string, spec api.HeartbeatSpec) call {
	return command("renew lease", on, id, "heartbeat", spec, "")
}

// waitOf is how long a claim command asks the server to take, 0 for none.
func waitOf(spec *api.ClaimSpec) time.Duration {
	if spec == nil {
		return 0
	}
	return millis(spec.WaitMs)
}

// millis is a duration in milliseconds, 0 for none.
func millis(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}
