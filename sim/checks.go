package sim

import (
	"fmt"
	"math"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/policy"
	"github.com/skerryhq/skerry/sim/scenario"
)

// checks hold the invariants of admission at every step. Those that every policy must
// keep are always held; the order of turns, first come first served within a principal,
// and the pace of the limit are promises of ours, and are held where they are given.
//
// The order of turns is held by a second implementation, which shares nothing with the
// controller's: a ring of principals as a slice of names in order.
type checks struct {
	// fair says that the policy promises the order of turns, and slow that its limit
	// changes at most once an interval.
	fair, slow bool
	interval   int64
	maxWait    int64 // 0 is none

	ring    []int32             // principals with waiting requests, the next to be served first
	queues  map[int32][]waiting // of each, oldest first
	broken  error
	limit   float64
	changed int64
	seen    bool
	began   bool // a request was started in this step
}

// waiting is a request in a queue.
type waiting struct {
	id admission.ID
	at int64
}

// newChecks makes the checks of a policy.
func newChecks(name string, s *scenario.Settings) checks {
	ours := name == policy.Names()[0]
	c := checks{fair: ours, slow: ours, interval: int64(s.TargetMs) * 1_000_000}
	if ours || name == "fixed" {
		c.maxWait = int64(s.MaxWaitMs) * 1_000_000
	}
	return c
}

func (c *checks) violated(format string, args ...any) {
	if c.broken == nil {
		c.broken = fmt.Errorf("invariant violated: "+format, args...)
	}
}

// sent notes a new attempt.
func (c *checks) sent(r *request, p *principal) {
	if r.state != idle && r.state != waits {
		c.violated("request of %s is sent in state %d", p.name, r.state)
	}
	if c.queues == nil {
		c.queues = map[int32][]waiting{}
	}
	if len(c.queues[r.principal]) == 0 {
		c.ring = append(c.ring, r.principal)
	}
	c.queues[r.principal] = append(c.queues[r.principal], waiting{r.id, r.sent})
}

// started holds a start against the turn order, and against the request's deadline.
func (c *checks) started(w *world, r *request) {
	c.began = true
	name := w.principals[r.principal].name
	if r.state != waits {
		c.violated("request of %s is started in state %d", name, r.state)
		return
	}
	if c.maxWait > 0 && w.now-r.sent >= c.maxWait {
		c.violated("request of %s is started after its deadline", name)
	}
	if !c.fair {
		c.leave(r)
		return
	}
	queue := c.queues[r.principal]
	switch {
	case c.ring[0] != r.principal:
		c.violated("%s is served, and it is the turn of %s", name, w.principals[c.ring[0]].name)
	case queue[0].id != r.id:
		c.violated("a request of %s is served before an older one", name)
	}
	c.leave(r)
	// Who has more goes to the end of the ring.
	if len(c.queues[r.principal]) > 0 {
		c.unring(r.principal)
		c.ring = append(c.ring, r.principal)
	}
}

// refused notes a refusal, which may come for whoever waits.
func (c *checks) refused(w *world, r *request) {
	if r.state != waits {
		c.violated("request of %s is refused in state %d", w.principals[r.principal].name, r.state)
		return
	}
	c.leave(r)
}

// withdrawn notes that a client has taken a waiting request back.
func (c *checks) withdrawn(_ *world, r *request) { c.leave(r) }

// leave takes a request out of its queue, and its principal out of the ring if it was
// the last.
func (c *checks) leave(r *request) {
	queue := c.queues[r.principal]
	for i := range queue {
		if queue[i].id == r.id {
			queue = append(queue[:i], queue[i+1:]...)
			break
		}
	}
	c.queues[r.principal] = queue
	if len(queue) == 0 {
		c.unring(r.principal)
	}
}

func (c *checks) unring(p int32) {
	for i := range c.ring {
		if c.ring[i] == p {
			c.ring = append(c.ring[:i], c.ring[i+1:]...)
			return
		}
	}
}

// step holds what must be true between events.
func (c *checks) step(w *world) error {
	s := w.policy.Status()
	if s.InFlight != w.running {
		c.violated("the policy counts %d in flight, and %d run", s.InFlight, w.running)
	}
	if s.Pending != w.waiting {
		c.violated("the policy counts %d pending, and %d wait", s.Pending, w.waiting)
	}
	if w.server.busy() != w.running {
		c.violated("the server has %d requests, and %d run", w.server.busy(), w.running)
	}
	if c.began && s.Limit >= 0 && s.InFlight > max(int(math.Floor(s.Limit)), 1) {
		c.violated("%d run after a start, and the limit is %g", s.InFlight, s.Limit)
	}
	c.began = false
	if c.seen && s.Limit != c.limit {
		if c.slow && c.changed > 0 && w.now-c.changed < c.interval {
			c.violated("the limit changed twice within %d ns", w.now-c.changed)
		}
		c.changed = w.now
	}
	c.limit, c.seen = s.Limit, true
	return c.broken
}
