package runs

import (
	"container/list"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// firstCall is above every run's number: singular calls stand beside runs in the
// scheduler.
const firstCall = int64(1) << 53

// callItem is the id of the one item of a singular call.
const callItem = "item-0"

// calls are the singular calls under way. They are in memory alone.
type calls struct {
	last int64
	open map[int64]*call
	// waiting holds those that nobody works on, by pool and in the order in which they
	// began to wait; granted the quanta of the others.
	waiting map[string]*list.List
	granted map[int64]*quantum // by fence
	// abandoned are callers whose calls were given up and who are yet to be told.
	abandoned []namespace.Deferred
}

// call is one singular call.
type call struct {
	number      int64
	caller      namespace.Deferred
	pool        string
	kind        string
	scorer      string
	input       []byte
	cost        int64
	timeoutMs   int64
	maxAttempts int
	attempts    int
	place       *list.Element // among those that wait, or nil
}

func newCalls() calls {
	return calls{last: firstCall, open: map[int64]*call{}, waiting: map[string]*list.List{}, granted: map[int64]*quantum{}}
}

// line is those that wait in a pool. Each pool has its own, so that a flood of slow
// calls refuses none of the others.
func (k *calls) line(pool string) *list.List {
	l := k.waiting[pool]
	if l == nil {
		l = list.New()
		k.waiting[pool] = l
	}
	return l
}

// abandonAll gives up all calls.
func (k *calls) abandonAll() {
	abandoned := k.abandoned
	for _, call := range k.open {
		abandoned = append(abandoned, call.caller)
	}
	last := k.last
	*k = newCalls()
	k.last, k.abandoned = last, abandoned
}

// tellAbandoned answers the callers whose calls were given up. A command that is refused
// tells nobody anything, so it is for those that end well.
func (c *change) tellAbandoned() {
	for _, caller := range c.m.calls.abandoned {
		c.Resolve(caller, namespace.Answer{}, errGivenUp())
	}
	c.m.calls.abandoned = nil
}

func errGivenUp() error {
	return api.Errorf(api.NamespaceUnavailable, "the call was given up because the namespace went back to its file").
		After(time.Second)
}

func errNoSlot(s *namespace.Settings) error {
	return api.Errorf(api.RateLimited, "no worker had a free slot for the call within %d ms", s.InvokeWaitMs).
		Because("no free slot").After(max(milliseconds(s.InvokeWaitMs), time.Second))
}

func errOutOfTime() error {
	return api.Errorf(api.ItemTimeout, "the call did not end within its time limit")
}

// await lets a call wait for a slot.
func (c *change) await(call *call) {
	call.place = c.m.calls.line(call.pool).PushBack(call)
	c.offer(call.pool, call.kind, 1)
}

// dropGone forgets the calls at the head of those that wait in a pool whose callers no
// longer do. Each waits for about as long, so hardly any is hidden behind one that goes
// on.
func (c *change) dropGone(pool string) {
	line := c.m.calls.line(pool)
	for e := line.Front(); e != nil && e.Value.(*call).caller.Gone(); e = line.Front() {
		c.drop(e.Value.(*call))
	}
}

// skip forgets a call that was picked and that nobody waits for any more. Its tenant
// is not charged for work that is not done.
func (c *change) skip(call *call) {
	c.m.schedule.Cancel(call.number)
	c.m.schedule.Return(call.number, []int{0})
	c.drop(call)
}

// drop forgets a call.
func (c *change) drop(call *call) {
	c.m.schedule.Forget(call.number)
	c.seat(call)
	delete(c.m.calls.open, call.number)
}

// seat takes a call out of those that wait.
func (c *change) seat(call *call) {
	if call.place != nil {
		c.m.calls.line(call.pool).Remove(call.place)
		call.place = nil
	}
}

// grantCall leases a call to a worker. From then on its caller waits for the end of
// the work, up to the time limit.
func (c *change) grantCall(call *call, ask *claimQuanta) (*api.Quantum, error) {
	q, err := c.lease(ask, 0, []int{0}, call.timeoutMs)
	if err != nil {
		return nil, err
	}
	q.call = call
	c.m.calls.granted[q.id.fence] = q
	c.seat(call)
	call.attempts++
	c.Postpone(call.caller, moment(c.now+call.timeoutMs), namespace.Answer{}, errOutOfTime())
	doc := q.document(&c.View)
	doc.Kind, doc.Scorer, doc.Shared, doc.TimeoutMs = call.kind, call.scorer, []byte("{}"), call.timeoutMs
	doc.Items = []api.QuantumItem{{ID: callItem, AttemptCount: call.attempts, Payload: call.input}}
	return doc, nil
}

// cutCalls ends the leases of calls that have run out.
func (c *change) cutCalls() error {
	for _, q := range c.m.calls.granted {
		if q.until > c.now {
			continue
		}
		if err := c.examine(q); err != nil {
			return err
		}
	}
	return nil
}

// endCall ends a quantum of a call that brought no result: the call waits for
// another worker, unless nobody waits for it or it may not be granted again.
func (c *change) endCall(q *quantum, why ending) error {
	call := q.call
	c.forgetCall(q)
	switch {
	case call.caller.Gone() && why == endReleased:
		c.skip(call)
	case call.caller.Gone():
		c.drop(call)
	case why == endTimeout:
		c.Resolve(call.caller, namespace.Answer{}, errOutOfTime())
		c.drop(call)
	case why == endLost && call.attempts >= call.maxAttempts:
		c.Resolve(call.caller, namespace.Answer{Body: &api.Invoked{Status: api.ItemFailed, Error: why.failure()}}, nil)
		c.drop(call)
	default:
		c.m.schedule.Return(call.number, []int{0})
		s := c.Settings()
		c.Postpone(call.caller, moment(c.now+s.InvokeWaitMs), namespace.Answer{}, errNoSlot(s))
		c.await(call)
	}
	return nil
}

func (c *change) forgetCall(q *quantum) {
	delete(c.m.quanta, q.id.fence)
	delete(c.m.calls.granted, q.id.fence)
}

// applyToCall takes the result of a call to its caller.
func (k *commit) applyToCall(c *change, q *quantum) (namespace.Answer, error) {
	if q == nil || q.call == nil {
		return namespace.Answer{}, errStale()
	}
	doc := &api.Committed{Committed: []string{}, Ignored: []api.IgnoredItem{}}
	over := k.done
	for i := range k.results {
		result := &k.results[i]
		switch {
		case result.ID != callItem:
			doc.Ignored = append(doc.Ignored, api.IgnoredItem{ID: result.ID, Reason: ignoredUnknown})
			continue
		case q.call.caller.Gone():
			doc.Ignored = append(doc.Ignored, api.IgnoredItem{ID: result.ID, Reason: ignoredCancelled})
		default:
			doc.Committed = append(doc.Committed, result.ID)
		}
		c.settleCall(q, result)
		over = false
	}
	if over {
		if err := c.endCall(q, endReleased); err != nil {
			return namespace.Answer{}, err
		}
	}
	return namespace.Answer{Body: doc}, c.finish()
}

// settleCall ends a call with its result.
func (c *change) settleCall(q *quantum, result *api.ItemResult) {
	call := q.call
	cost := call.cost
	if result.Cost != nil {
		cost = *result.Cost
	}
	c.m.schedule.Settle(call.number, []int{0}, cost)
	answer := namespace.Answer{Body: &api.Invoked{Status: result.Status, Result: result.Result, Error: result.Error}}
	if result.Error != nil && result.Error.Code == string(api.ItemTimeout) {
		c.Resolve(call.caller, namespace.Answer{}, errOutOfTime())
	} else {
		c.Resolve(call.caller, answer, nil)
	}
	c.forgetCall(q)
	c.drop(call)
}

// admitCall takes up a call.
func (c *change) admitCall(call *call) error {
	c.m.calls.last++
	call.number = c.m.calls.last
	err := c.m.schedule.Admit(c.now, schedule.Run{
		ID: call.number, Tenant: c.Caller().Tenant, Pool: call.pool, Kind: call.kind, Costs: []int64{call.cost},
	})
	if err != nil {
		return err
	}
	c.m.calls.open[call.number] = call
	c.await(call)
	return nil
}
