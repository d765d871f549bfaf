package runs

import (
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// claimQuanta asks for work for one free slot of a pool.
type claimQuanta struct {
	base     string
	pool     string
	kinds    []string
	maxItems int   // 0: as many as the namespace gives
	leaseMs  int64 // 0: as long as the namespace gives
	wait     time.Duration
	// node is set for handlers inside a process, whose quanta end with it. They
	// learn how many results make a commit.
	node  string
	batch int
}

func newClaimQuanta(base string, spec api.QuantumSpec) (*claimQuanta, error) {
	q := &claimQuanta{base: base, pool: spec.Pool, kinds: spec.Kinds}
	if err := checkPool(spec.Pool); err != nil {
		return nil, err
	}
	if err := checkKinds(spec.Kinds); err != nil {
		return nil, err
	}
	var err error
	if q.maxItems, err = optional("max_items", spec.MaxItems, 0, 1, maxItems); err != nil {
		return nil, err
	}
	if q.leaseMs, err = optional("lease_ms", spec.LeaseMs, 0, minLeaseMs, maxLeaseMs); err != nil {
		return nil, err
	}
	wait, err := optional("wait_ms", spec.WaitMs, 0, 0, maxWaitMs)
	q.wait = milliseconds(wait)
	return q, err
}

// Wait is how long the request waits for work.
func (q *claimQuanta) Wait() time.Duration { return q.wait }

// Apply grants what the scheduler says the slot is due, and perhaps what can be
// computed in one go with it.
func (q *claimQuanta) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	if err := c.cutLeases(); err != nil {
		return namespace.Answer{}, err
	}
	q.batch = c.Settings().BatchItems
	c.m.seen.ask(q.pool, q.kinds, millis(t.Received())+q.wait.Milliseconds())
	answer, err := q.serve(c)
	if err != nil {
		return answer, err
	}
	return answer, c.finish()
}

func (q *claimQuanta) serve(c *change) (namespace.Answer, error) {
	c.dropGone(q.pool)
	for {
		pick, ok := c.m.schedule.Pick(c.now, q.request(c))
		if !ok {
			c.Park(q.topics()...)
			idle := &api.Idle{PollAfterMs: c.m.polls.empty(c.Caller().Principal)}
			return namespace.Answer{NoEffect: true, Body: &api.Quanta{Idle: idle}}, nil
		}
		if pick.Run >= firstCall {
			call := c.m.calls.open[pick.Run]
			if call.caller.Gone() {
				c.skip(call)
				continue
			}
			quantum, err := c.grantCall(call, q)
			return namespace.Answer{Body: &api.Quanta{Quantum: quantum}}, err
		}
		quanta, err := c.grantTogether(pick, q)
		return namespace.Answer{Body: quanta}, err
	}
}

// request is the slot as the scheduler knows it.
func (q *claimQuanta) request(c *change) schedule.Request {
	s := c.Settings()
	r := schedule.Request{Pool: q.pool, Kinds: q.kinds, MaxItems: s.QuantumItems, MaxCost: s.QuantumCost}
	if q.maxItems > 0 {
		r.MaxItems = min(r.MaxItems, q.maxItems)
	}
	return r
}

// topics are those at which there may be work for the slot.
func (q *claimQuanta) topics() []string {
	if len(q.kinds) == 0 {
		return []string{poolTopic(q.pool)}
	}
	topics := make([]string, len(q.kinds))
	for i, kind := range q.kinds {
		topics[i] = workTopic(q.pool, kind)
	}
	return topics
}

// lease is for how long the slot's quantum is granted.
func (q *claimQuanta) lease(s *namespace.Settings) int64 {
	if q.leaseMs > 0 {
		return q.leaseMs
	}
	return s.QuantumLeaseMs
}
