package schedule

import (
	"fmt"
	"iter"
	"math"
)

// Scheduler decides which run's items the next free slot of a pool gets. It is not
// safe for concurrent use; one is made with [New].
//
// Times are in one unit of the caller's choice and never run backwards; costs are in
// units of the operator's choice and saturate at the largest integer.
type Scheduler struct {
	aging   int64
	tenants map[string]*tenant
	order   []*tenant // by arrival
	runs    map[int64]*run
	pools   map[string]*pool
	// picks counts all picks.
	picks uint64
	// joined holds the tenants that have pending items.
	joined heap[*tenant]
	// picked is the memory of the last pick's items.
	picked []int
}

// tenant is what is known of a tenant.
type tenant struct {
	name     string
	arrival  int
	attained int64
	picks    uint64 // the number of its last pick, 0 for never
	pending  int
	place    int // in joined
	// joined holds its runs that have pending items, and benches where it has
	// candidates, or had.
	joined  heap[*run]
	benches []laneBench
}

// run is what is known of a run.
type run struct {
	id       int64
	tenant   *tenant
	pool     *pool
	names    [2]string // of pool and kind
	costs    []int64
	attained int64
	waiting  int64
	// pending and granted hold the items that wait and those at work; what is in
	// neither has ended.
	pending, granted set
	cancelled        bool
	place            int // in its tenant's joined
	seats            [2]seat
}

// New makes a scheduler in which a run that has gone the aging time, which must be
// positive, without a pick cannot lose every decision.
func New(aging int64) *Scheduler {
	if aging <= 0 {
		panic(fmt.Sprintf("schedule: aging of %d is not positive", aging))
	}
	return &Scheduler{
		aging: aging, tenants: map[string]*tenant{}, runs: map[int64]*run{}, pools: map[string]*pool{},
		joined: heap[*tenant]{
			less:  func(a, b *tenant) bool { return a.attained < b.attained },
			place: func(t *tenant) *int { return &t.place },
		},
	}
}

// Run describes a run at its admission.
type Run struct {
	// ID is the run's admission number, by which ties are broken: lower is earlier.
	ID     int64
	Tenant string
	Pool   string
	Kind   string
	// Costs are the estimated costs of its items, at least one, none negative. The
	// scheduler keeps the slice, which must not be changed.
	Costs []int64
}

// Admit takes up a run with all its items pending. It fails, and changes nothing, if
// there is a run of that ID, or no item, or a negative cost.
func (s *Scheduler) Admit(now int64, d Run) error {
	r, err := s.enter(d)
	if err != nil {
		return err
	}
	r.waiting = now
	s.join(r, func() {
		for i := range r.costs {
			r.pending.add(i)
		}
	})
	return nil
}

// enter makes a run and its tenant known, with no item pending.
func (s *Scheduler) enter(d Run) (*run, error) {
	if s.runs[d.ID] != nil {
		return nil, fmt.Errorf("schedule: there is a run %d", d.ID)
	}
	if len(d.Costs) == 0 {
		return nil, fmt.Errorf("schedule: run %d has no items", d.ID)
	}
	for i, cost := range d.Costs {
		if cost < 0 {
			return nil, fmt.Errorf("schedule: item %d of run %d has a negative cost", i, d.ID)
		}
	}
	p := s.pools[d.Pool]
	if p == nil {
		p = newPool()
		s.pools[d.Pool] = p
	}
	if p.kinds[d.Kind] == nil {
		p.kinds[d.Kind] = newLane()
	}
	r := &run{
		id: d.ID, tenant: s.tenant(d.Tenant), pool: p, names: [2]string{d.Pool, d.Kind}, costs: d.Costs,
		pending: newSet(len(d.Costs)), granted: newSet(len(d.Costs)),
	}
	r.seats = [2]seat{{run: r, lane: p.all}, {run: r, lane: p.kinds[d.Kind]}}
	s.runs[d.ID] = r
	return r, nil
}

func (s *Scheduler) tenant(name string) *tenant {
	t := s.tenants[name]
	if t == nil {
		t = &tenant{name: name, arrival: len(s.order), joined: heap[*run]{
			less:  func(a, b *run) bool { return a.attained < b.attained },
			place: func(r *run) *int { return &r.place },
		}}
		s.tenants[name] = t
		s.order = append(s.order, t)
	}
	return t
}

// join lets add make items of r pending. If the run or its tenant had none, it
// starts no lower than the least of the others that have.
func (s *Scheduler) join(r *run, add func()) {
	t := r.tenant
	if t.pending == 0 && !s.joined.empty() {
		t.attained = max(t.attained, s.joined.top().attained)
	}
	if r.pending.count == 0 && !t.joined.empty() {
		r.attained = max(r.attained, t.joined.top().attained)
	}
	before := r.pending.count
	add()
	t.pending += r.pending.count - before
	s.settle(r)
}

// settle puts a run and its tenant where they belong after what orders them has
// changed.
func (s *Scheduler) settle(r *run) {
	t := r.tenant
	if r.pending.count > 0 {
		t.joined.put(r)
		for i := range r.seats {
			r.seats[i].put()
		}
	} else {
		t.joined.remove(r)
		for i := range r.seats {
			r.seats[i].leave()
		}
	}
	if t.pending > 0 {
		s.joined.put(t)
	} else {
		s.joined.remove(t)
	}
	for _, b := range t.benches {
		if !b.bench.runs.empty() {
			b.lane.tenants.put(b.bench)
		}
	}
}

// charge adds to what a run and its tenant have attained, which is never negative.
func (r *run) charge(cost int64) {
	r.attained = sum(r.attained, cost)
	r.tenant.attained = sum(r.tenant.attained, cost)
}

// sum adds within 0 and the largest integer; a is not negative.
func sum(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return max(a+b, 0)
}

// Settle ends granted items of a run that were committed: actual is what they cost
// together, where it is known, or else was estimated. Items that are not granted are
// left out, and so is a run that is not known.
func (s *Scheduler) Settle(id int64, items []int, actual int64) {
	r := s.runs[id]
	if r == nil {
		return
	}
	estimate, any := r.ungrant(items)
	if !any {
		return
	}
	r.charge(actual - estimate)
	s.settle(r)
}

// Drop ends granted items of a run without a result; they stay charged as estimated.
func (s *Scheduler) Drop(id int64, items []int) {
	if r := s.runs[id]; r != nil {
		r.ungrant(items)
	}
}

// Return makes granted items of a run pending again and gives their charge back. How
// long the run has waited does not change. Those of a cancelled run end instead.
func (s *Scheduler) Return(id int64, items []int) {
	r := s.runs[id]
	if r == nil {
		return
	}
	s.picked = s.picked[:0]
	var estimate int64
	for _, i := range items {
		if r.granted.drop(i) {
			estimate = sum(estimate, r.costs[i])
			s.picked = append(s.picked, i)
		}
	}
	if len(s.picked) == 0 {
		return
	}
	r.charge(-estimate)
	s.settle(r) // the others' least is looked up by what is attained now
	if r.cancelled {
		return
	}
	s.join(r, func() {
		for _, i := range s.picked {
			r.pending.add(i)
		}
	})
}

// ungrant takes items out of those at work, and gives their estimated cost.
func (r *run) ungrant(items []int) (estimate int64, any bool) {
	for _, i := range items {
		if r.granted.drop(i) {
			estimate, any = sum(estimate, r.costs[i]), true
		}
	}
	return estimate, any
}

// Cancel ends the pending items of a run, and lets none come back.
func (s *Scheduler) Cancel(id int64) {
	r := s.runs[id]
	if r == nil {
		return
	}
	r.cancelled = true
	r.tenant.pending -= r.pending.count
	r.pending.clear()
	s.settle(r)
}

// Forget drops a run that has ended, or will not go on. Its tenant is kept.
func (s *Scheduler) Forget(id int64) {
	s.Cancel(id)
	delete(s.runs, id)
}

// TenantState is how a tenant stands.
type TenantState struct {
	Attained int64
	// Picks is the number of its last pick among all picks, 0 for none.
	Picks uint64
	// Pending counts its pending items.
	Pending int
}

// Tenant tells how a tenant stands, if it is known.
func (s *Scheduler) Tenant(name string) (TenantState, bool) {
	t := s.tenants[name]
	if t == nil {
		return TenantState{}, false
	}
	return t.state(), true
}

func (t *tenant) state() TenantState { return TenantState{t.attained, t.picks, t.pending} }

// Tenants yields the tenants in the order of their first arrival.
func (s *Scheduler) Tenants() iter.Seq2[string, TenantState] {
	return func(yield func(string, TenantState) bool) {
		for _, t := range s.order {
			if !yield(t.name, t.state()) {
				return
			}
		}
	}
}

// RunState is how a run stands.
type RunState struct {
	Tenant, Pool, Kind string
	Attained           int64
	// Waiting is when it was admitted or picked last.
	Waiting int64
	// Pending and Granted count its items that wait and that are at work.
	Pending, Granted int
}

// Run tells how a run stands, if it is known.
func (s *Scheduler) Run(id int64) (RunState, bool) {
	r := s.runs[id]
	if r == nil {
		return RunState{}, false
	}
	return RunState{
		Tenant: r.tenant.name, Pool: r.names[0], Kind: r.names[1], Attained: r.attained, Waiting: r.waiting,
		Pending: r.pending.count, Granted: r.granted.count,
	}, true
}

// Pending yields the pending items of a run in order.
func (s *Scheduler) Pending(id int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		r := s.runs[id]
		if r == nil {
			return
		}
		for i := range r.costs {
			if r.pending.has(i) && !yield(i) {
				return
			}
		}
	}
}
