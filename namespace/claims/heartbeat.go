package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// heartbeat renews the lease of a claim.
type heartbeat struct {
	claim   string
	fence   int64
	leaseMs int64 // 0: as granted
}

func newHeartbeat(claim string, spec api.HeartbeatSpec) (*heartbeat, error) {
	leaseMs, err := optional("lease_ms", spec.LeaseMs, 0, minLeaseMs, maxLeaseMs)
	return &heartbeat{claim, spec.Fence, leaseMs}, err
}

// Lane puts heartbeats before everything else in a commit.
func (*heartbeat) Lane() namespace.Lane { return namespace.LaneUrgent }

// Apply prolongs the lease to now and its length, never shortening it and never
// past the longest life of a claim. It writes two columns that stand in no index.
func (h *heartbeat) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	b, s, err := c.hold(h.claim, h.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	switch s {
	case standLive:
	case standCancelled:
		// Whatever else became of the claim, the worker is told to stop.
		until := c.now
		if b.fence == h.fence {
			until = max(b.leaseUntil, c.now)
		}
		return namespace.Answer{NoEffect: true, Body: c.beat(until, true)}, nil
	case standExpired:
		return namespace.Answer{}, errExpired()
	case standStale:
		return namespace.Answer{}, errStale()
	default:
		return namespace.Answer{}, errOver(b)
	}
	span := h.leaseMs
	if span == 0 {
		span = b.leaseMs
	}
	until := min(c.now+span, b.grantedAt+c.Settings().MaxLeaseLifetimeMs)
	if until <= b.leaseUntil {
		return namespace.Answer{NoEffect: true, Body: c.beat(b.leaseUntil, false)}, nil
	}
	if _, err := c.Exec(sqlRenew, b.id, until, span); err != nil {
		return namespace.Answer{}, fmt.Errorf("renew lease: %w", err)
	}
	return namespace.Answer{Body: c.beat(until, false)}, nil
}

func (c *change) beat(until int64, cancelled bool) api.Heartbeat {
	return api.Heartbeat{
		ExpiresAt: moment(until), TTLMs: until - c.now, ServerTime: moment(c.now), CancelRequested: cancelled,
	}
}
