package client

import (
	"context"
	"net/http"
	"time"

	"github.com/skerryhq/skerry/api"
)

// ClaimedQuanta is the answer to a request for work on items.
type ClaimedQuanta struct {
	api.Quanta
	// Sent is the local time from which the ttl_ms of the quanta count: when the
	// request left. After a replayed answer it is when the first try left.
	Sent time.Time `json:"-"`
	// Replayed says that these are the grants of an earlier request under the
	// same Idempotency-Key.
	Replayed bool `json:"-"`
}

// ClaimQuanta asks for work for a free slot of a pool, and waits for it as long as
// spec.WaitMs says. It needs the role worker or admin. As with [Client.Claim], a
// request whose answer is lost is sent again only under an Idempotency-Key.
func (c *Client) ClaimQuanta(ctx context.Context, spec api.QuantumSpec) (*ClaimedQuanta, error) {
	q := call{
		what: "claim quanta", method: http.MethodPost, path: base + "/quanta:claim",
		body: spec, key: c.key, safe: c.key != "", wait: millis(spec.WaitMs),
	}
	claimed := new(ClaimedQuanta)
	a, err := c.sender.fetch(ctx, q, &claimed.Quanta)
	if err != nil {
		return nil, err
	}
	claimed.Sent, claimed.Replayed = a.sent, a.replayed
	return claimed, nil
}

// HeartbeatQuantum renews the lease of a quantum once; [Client.KeepQuantum] does
// so for as long as work lasts.
func (c *Client) HeartbeatQuantum(ctx context.Context, quantum string, spec api.HeartbeatSpec) (*api.Heartbeat, error) {
	return fetch[api.Heartbeat](ctx, c.sender, heartbeat(onQuantum, quantum, spec))
}

// CommitQuantum reports what came of items of a quantum, at most 5 MiB at once. A
// report that comes twice does no harm: what the fence committed before counts as
// committed.
func (c *Client) CommitQuantum(ctx context.Context, quantum string, spec api.CommitSpec) (*api.Committed, error) {
	return fetch[api.Committed](ctx, c.sender, c.commit(quantum, spec))
}

// ReleaseQuantum gives the open items of a quantum back.
func (c *Client) ReleaseQuantum(ctx context.Context, quantum string, spec api.QuantumReleaseSpec) (*api.QuantumReleased, error) {
	return fetch[api.QuantumReleased](ctx, c.sender, c.giveBack(quantum, spec))
}

func (c *Client) commit(quantum string, spec api.CommitSpec) call {
	return command("commit results", onQuantum, quantum, "commit", spec, c.key)
}

func (c *Client) giveBack(quantum string, spec api.QuantumReleaseSpec) call {
	return command("release quantum", onQuantum, quantum, "release", spec, c.key)
}
