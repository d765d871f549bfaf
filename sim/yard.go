package sim

import (
	"errors"
	"fmt"

	"github.com/skerryhq/skerry/namespace/runs/schedule"
	"github.com/skerryhq/skerry/sim/event"
	"github.com/skerryhq/skerry/sim/figure"
	"github.com/skerryhq/skerry/sim/random"
	"github.com/skerryhq/skerry/sim/scenario"
)

// yard is the runs of one namespace: tenants that submit them, workers whose slots take
// quanta, and the order in which they are given out, which is that of the production
// scheduler, or first come first served.
type yard struct {
	spec  *scenario.Runs
	order order
	queue event.Queue
	now   int64
	end   int64
	steps int64

	names   []string
	index   map[string]int
	tallies []tally
	hunger  figure.Starvation
	batches []batch
	runs    map[int64]*yardRun
	last    int64 // number of the last run
	slots   []slot
	free    []int32
	losses  *random.Stream
	fence   int64
}

// batch is one line of the scenario: a run that comes again and again.
type batch struct {
	spec   *scenario.Batch
	tenant int
	time   random.Distribution
	stream *random.Stream
	left   int
}

// yardRun is a run that has not ended.
type yardRun struct {
	tenant    int
	submitted int64
	begun     bool
	left      int
	work      []int64 // of its items
}

// slot is a worker's place for one quantum.
type slot struct {
	run   int64
	items []int
	work  int64
	fence int64
}

// order says which quantum is next.
type order interface {
	admit(now, id int64, tenant string, costs []int64) error
	pick(now int64, maxItems int, maxCost int64) (run int64, items []int, ok bool)
	settle(run int64, items []int)
	back(run int64, items []int)
	forget(run int64)
}

// Kinds of events of the yard.
const (
	submit   uint8 = iota // Actor is a batch
	quantum               // Actor is a slot that is done
	lost                  // Actor is a slot whose worker is lost
	returned              // Arg is a bundle of items that come back
)

// agingAfter is the wait after which a run cannot lose every decision.
const agingAfter = 5 * second

const (
	yardPool       = "durable"
	yardKind       = "item"
	defaultQuantum = 4
	defaultLease   = 60 * second
)

// tenantsOf are the tenants in order of their first line.
func tenantsOf(r *scenario.Runs) []string {
	var names []string
	seen := map[string]bool{}
	for i := range r.Batches {
		if name := r.Batches[i].Tenant; !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func newYard(space *scenario.Namespace, seed uint64, end int64, fair bool) (*yard, error) {
	y := &yard{
		spec: space.Runs, end: end, names: tenantsOf(space.Runs), index: map[string]int{}, runs: map[int64]*yardRun{},
		losses: random.New(seed, space.Name, "losses"), order: &lined{},
	}
	if fair {
		y.order = &fairly{schedule.New(agingAfter)}
	}
	y.tallies = make([]tally, len(y.names))
	for i, name := range y.names {
		y.index[name], y.tallies[i].name = i, name
	}
	for i := range space.Runs.Batches {
		spec := &space.Runs.Batches[i]
		d, err := random.FromScenario(spec.Time)
		if err != nil {
			return nil, fmt.Errorf("batch %d: time: %w", i+1, err)
		}
		y.batches = append(y.batches, batch{
			spec: spec, tenant: y.index[spec.Tenant], time: d, left: max(spec.Times, 1),
			stream: random.New(seed, space.Name, spec.Tenant, fmt.Sprint(i)),
		})
		y.queue.Push(int64(spec.At), submit, int32(i), 0)
	}
	y.slots = make([]slot, max(space.Runs.Workers, 1)*max(space.Runs.Slots, 1))
	for i := len(y.slots) - 1; i >= 0; i-- {
		y.free = append(y.free, int32(i))
	}
	return y, nil
}

func (y *yard) run() error {
	var gone []slot
	for {
		e, ok := y.queue.Pop()
		if !ok {
			break
		}
		y.now = e.At
		y.steps++
		var err error
		switch e.Kind {
		case submit:
			err = y.submit(&y.batches[e.Actor], e.Actor)
		case quantum:
			err = y.done(e.Actor)
		case lost:
			gone = append(gone, y.slots[e.Actor])
			y.queue.Push(y.now+y.lease(), returned, 0, int64(len(gone)-1))
			y.release(e.Actor)
		case returned:
			y.back(gone[e.Arg])
		}
		if err == nil {
			err = y.give()
		}
		if err != nil {
			return fmt.Errorf("step %d, at %.6f s: %w", y.steps, float64(y.now)/second, err)
		}
	}
	if len(y.runs) > 0 {
		return fmt.Errorf("%d runs never ended", len(y.runs))
	}
	return nil
}

func (y *yard) lease() int64 {
	if y.spec.Lease > 0 {
		return int64(y.spec.Lease)
	}
	return defaultLease
}

// submit admits a batch's next run.
func (y *yard) submit(b *batch, at int32) error {
	b.left--
	if next := y.now + int64(b.spec.Every); b.left > 0 && next < y.end {
		y.queue.Push(next, submit, at, 0)
	}
	y.last++
	r := &yardRun{tenant: b.tenant, submitted: y.now, left: b.spec.Items}
	costs := make([]int64, b.spec.Items)
	t := &y.tallies[b.tenant]
	for i := range costs {
		costs[i] = b.spec.Cost
		r.work = append(r.work, b.time.Draw(b.stream))
		t.work += r.work[i]
		y.hunger.Wait(y.now, b.tenant)
	}
	t.offered += int64(b.spec.Items)
	y.runs[y.last] = r
	return y.order.admit(y.now, y.last, b.spec.Tenant, costs)
}

// give gives the free slots what is due.
func (y *yard) give() error {
	items := y.spec.QuantumItems
	if items == 0 {
		items = defaultQuantum
	}
	for len(y.free) > 0 {
		id, picked, ok := y.order.pick(y.now, items, y.spec.QuantumCost)
		if !ok {
			return nil
		}
		r := y.runs[id]
		if r == nil || len(picked) == 0 || len(picked) > items {
			return errors.New("invariant violated: a quantum of no run, or of the wrong size")
		}
		at := y.free[len(y.free)-1]
		y.free = y.free[:len(y.free)-1]
		y.fence++
		s := slot{run: id, items: append([]int(nil), picked...), fence: y.fence}
		t := &y.tallies[r.tenant]
		if !r.begun {
			r.begun = true
			t.wait.Record(y.now - r.submitted)
		}
		for _, i := range s.items {
			if r.work[i] < 0 {
				return errors.New("invariant violated: an item is granted that has ended or is held")
			}
			s.work += r.work[i]
			r.work[i] = -1 - r.work[i]
			t.started++
			y.hunger.Start(y.now, r.tenant)
		}
		y.slots[at] = s
		y.plan(at, s.work)
	}
	return nil
}

// plan puts the end of a slot's quantum into the queue, or the loss of its worker.
func (y *yard) plan(at int32, work int64) {
	if y.spec.Lost > 0 {
		if after := int64(y.losses.Exp() * float64(y.spec.Lost)); after < work {
			y.queue.Push(y.now+after, lost, at, 0)
			return
		}
	}
	y.queue.Push(y.now+work, quantum, at, 0)
}

// done commits a quantum.
func (y *yard) done(at int32) error {
	s := y.slots[at]
	y.release(at)
	r := y.runs[s.run]
	t := &y.tallies[r.tenant]
	t.completed += int64(len(s.items))
	t.served += s.work
	t.service.Record(s.work / int64(len(s.items)))
	y.order.settle(s.run, s.items)
	if r.left -= len(s.items); r.left < 0 {
		return errors.New("invariant violated: an item has ended twice")
	}
	if r.left == 0 {
		t.response.Record(y.now - r.submitted)
		y.order.forget(s.run)
		delete(y.runs, s.run)
	}
	return nil
}

// back makes the items of a lost quantum pending again.
func (y *yard) back(s slot) {
	r := y.runs[s.run]
	y.tallies[r.tenant].wasted += s.work
	for _, i := range s.items {
		r.work[i] = -1 - r.work[i]
		y.hunger.Wait(y.now, r.tenant)
	}
	y.order.back(s.run, s.items)
}

func (y *yard) release(at int32) {
	y.slots[at] = slot{}
	y.free = append(y.free, at)
}

// samples are the figures of each tenant.
func (y *yard) samples() []figure.Sample {
	l := &ledger{end: y.end}
	var total float64
	demands := make([]float64, len(y.tallies))
	for i := range y.tallies {
		demands[i] = float64(y.tallies[i].work)
		total += float64(y.tallies[i].served)
	}
	samples := make([]figure.Sample, len(y.tallies))
	for i := range y.tallies {
		s := l.figures(&y.tallies[i])
		if total > 0 {
			s.Share = float64(y.tallies[i].served) / total
		}
		s.Starvation = float64(y.hunger.Longest(i)) / perMs
		samples[i] = s
	}
	return samples
}

// whole are the figures of the namespace.
func (y *yard) whole() figure.Sample {
	var all tally
	for i := range y.tallies {
		t := &y.tallies[i]
		all.offered += t.offered
		all.started += t.started
		all.completed += t.completed
		all.served += t.served
		all.wasted += t.wasted
		all.wait.Merge(&t.wait)
		all.response.Merge(&t.response)
		all.service.Merge(&t.service)
	}
	s := (&ledger{end: y.end}).figures(&all)
	s.Starvation = 0
	for i := range y.tallies {
		s.Starvation = max(s.Starvation, float64(y.hunger.Longest(i))/perMs)
	}
	return s
}

// fairly is the production scheduler.
type fairly struct{ s *schedule.Scheduler }

func (f *fairly) admit(now, id int64, tenant string, costs []int64) error {
	return f.s.Admit(now, schedule.Run{ID: id, Tenant: tenant, Pool: yardPool, Kind: yardKind, Costs: costs})
}

func (f *fairly) pick(now int64, maxItems int, maxCost int64) (int64, []int, bool) {
	p, ok := f.s.Pick(now, schedule.Request{Pool: yardPool, MaxItems: maxItems, MaxCost: maxCost})
	return p.Run, p.Items, ok
}

func (f *fairly) settle(run int64, items []int) {
	f.s.Drop(run, items) // it cost what was estimated
}

func (f *fairly) back(run int64, items []int) { f.s.Return(run, items) }
func (f *fairly) forget(run int64)            { f.s.Forget(run) }

// lined is first come first served: what a queue does.
type lined struct {
	runs []*linedRun
}

type linedRun struct {
	id      int64
	costs   []int64
	pending []bool
	left    int
}

func (l *lined) admit(_, id int64, _ string, costs []int64) error {
	r := &linedRun{id: id, costs: costs, pending: make([]bool, len(costs)), left: len(costs)}
	for i := range r.pending {
		r.pending[i] = true
	}
	l.runs = append(l.runs, r)
	return nil
}

func (l *lined) pick(_ int64, maxItems int, maxCost int64) (int64, []int, bool) {
	for _, r := range l.runs {
		if r.left == 0 {
			continue
		}
		var items []int
		var cost int64
		for i := range r.pending {
			if !r.pending[i] {
				continue
			}
			r.pending[i] = false
			r.left--
			items, cost = append(items, i), cost+r.costs[i]
			if len(items) == maxItems || maxCost > 0 && cost >= maxCost {
				break
			}
		}
		return r.id, items, true
	}
	return 0, nil, false
}

func (l *lined) settle(int64, []int) {}

func (l *lined) back(run int64, items []int) {
	for _, r := range l.runs {
		if r.id == run {
			for _, i := range items {
				r.pending[i] = true
				r.left++
			}
		}
	}
}

func (l *lined) forget(run int64) {
	for i, r := range l.runs {
		if r.id == run {
			l.runs = append(l.runs[:i], l.runs[i+1:]...)
			return
		}
	}
}
