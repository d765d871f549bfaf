package runs

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// heartbeat renews the lease of a quantum.
type heartbeat struct {
	quantum string
	fence   int64
	leaseMs int64 // 0: as granted
}

func newHeartbeat(quantum string, spec api.HeartbeatSpec) (*heartbeat, error) {
	leaseMs, err := optional("lease_ms", spec.LeaseMs, 0, minLeaseMs, maxLeaseMs)
	return &heartbeat{quantum, spec.Fence, leaseMs}, err
}

// Lane puts heartbeats before everything else in a commit.
func (*heartbeat) Lane() namespace.Lane { return namespace.LaneUrgent }

// Apply prolongs the lease to now and its length, never shortening it and never past
// the time that the quantum's items may take. It writes columns that stand in no
// index.
func (h *heartbeat) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	_, q, err := c.hold(h.quantum, h.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	if q == nil {
		return namespace.Answer{}, errStale()
	}
	if h.leaseMs > 0 {
		q.leaseMs = h.leaseMs
	}
	until := min(c.now+q.leaseMs, q.deadline)
	c.m.seen.ask(q.pool, q.asked, max(until, q.until))
	if until > q.until {
		q.until = until
		if q.call == nil {
			if _, err := c.Exec(sqlRenew, h.fence, until, q.leaseMs); err != nil {
				return namespace.Answer{}, fmt.Errorf("renew lease: %w", err)
			}
		}
	}
	return namespace.Answer{Body: &api.Heartbeat{
		ExpiresAt: moment(q.until), TTLMs: q.until - c.now, ServerTime: moment(c.now), CancelRequested: c.unwanted(q),
	}}, c.finish()
}

// unwanted reports whether nobody wants the results of a quantum any more.
func (c *change) unwanted(q *quantum) bool {
	if q.call != nil {
		return q.call.caller.Gone()
	}
	r := c.m.runs[q.id.run]
	return r == nil || r.cancelling
}
