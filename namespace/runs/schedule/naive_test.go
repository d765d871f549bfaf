package schedule_test

import (
	"slices"

	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// naive is the scheduler as its rules read, by looking at everything each time.
type naive struct {
	tenants []*naiveTenant
	runs    []*naiveRun
	aged    map[string]bool
	picks   uint64
}

type naiveTenant struct {
	name     string
	attained int64
	picks    uint64
}

type naiveRun struct {
	schedule.Run
	tenant    *naiveTenant
	attained  int64
	waiting   int64
	state     []byte // of each item: p pending, g granted, e ended
	cancelled bool
}

func (r *naiveRun) pending() bool { return slices.Contains(r.state, 'p') }

func (n *naive) tenant(name string) *naiveTenant {
	for _, t := range n.tenants {
		if t.name == name {
			return t
		}
	}
	n.tenants = append(n.tenants, &naiveTenant{name: name})
	return n.tenants[len(n.tenants)-1]
}

func (n *naive) run(id int64) *naiveRun {
	for _, r := range n.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (n *naive) admit(now int64, d schedule.Run) {
	r := &naiveRun{Run: d, tenant: n.tenant(d.Tenant), waiting: now, state: make([]byte, len(d.Costs))}
	for i := range r.state {
		r.state[i] = 'e'
	}
	n.runs = append(n.runs, r)
	n.join(r)
	for i := range r.state {
		r.state[i] = 'p'
	}
}

// join raises what has nothing pending to the least of the others that have.
func (n *naive) join(r *naiveRun) {
	tenantHas, least, leastRun := false, int64(-1), int64(-1)
	for _, o := range n.runs {
		if !o.pending() {
			continue
		}
		if o.tenant != r.tenant {
			if least < 0 || o.tenant.attained < least {
				least = o.tenant.attained
			}
			continue
		}
		tenantHas = true
		if o != r && (leastRun < 0 || o.attained < leastRun) {
			leastRun = o.attained
		}
	}
	if !tenantHas {
		r.tenant.attained = max(r.tenant.attained, least)
	}
	if !r.pending() {
		r.attained = max(r.attained, leastRun)
	}
}

func (n *naive) pick(now int64, q schedule.Request) (schedule.Pick, bool) {
	var candidates []*naiveRun
	for _, r := range n.runs {
		if r.Pool == q.Pool && r.pending() && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) {
			candidates = append(candidates, r)
		}
	}
	if len(candidates) == 0 {
		return schedule.Pick{}, false
	}
	oldest := slices.MinFunc(candidates, func(a, b *naiveRun) int {
		return firstOf(a.waiting-b.waiting, a.ID-b.ID)
	})
	aged := !n.aged[q.Pool] && now-oldest.waiting >= aging
	chosen := oldest
	if !aged {
		chosen = slices.MinFunc(candidates, func(a, b *naiveRun) int {
			return firstOf(a.tenant.attained-b.tenant.attained, int64(a.tenant.picks)-int64(b.tenant.picks),
				int64(slices.Index(n.tenants, a.tenant)-slices.Index(n.tenants, b.tenant)), a.attained-b.attained, a.ID-b.ID)
		})
	}
	n.aged[q.Pool] = aged
	p := n.grant(now, chosen, q.MaxItems, q.MaxCost)
	p.Aged = aged
	return p, true
}

func firstOf(differences ...int64) int {
	for _, d := range differences {
		if d != 0 {
			return int(max(min(d, 1), -1))
		}
	}
	return 0
}

func (n *naive) grant(now int64, r *naiveRun, items int, cost int64) schedule.Pick {
	p := schedule.Pick{Run: r.ID}
	for i := range r.state {
		if r.state[i] != 'p' {
			continue
		}
		if len(p.Items) >= max(items, 1) || len(p.Items) > 0 && cost > 0 && p.Cost >= cost {
			break
		}
		r.state[i] = 'g'
		p.Items = append(p.Items, i)
		p.Cost += r.Costs[i]
	}
	n.picks++
	r.waiting, r.tenant.picks = now, n.picks
	r.charge(p.Cost)
	return p
}

func (r *naiveRun) charge(cost int64) {
	r.attained = max(r.attained+cost, 0)
	r.tenant.attained = max(r.tenant.attained+cost, 0)
}

// leave takes granted items out and gives their estimated cost.
func (r *naiveRun) leave(items []int) (out []int, estimate int64) {
	for _, i := range items {
		if r.state[i] == 'g' {
			r.state[i] = 'e'
			out = append(out, i)
			estimate += r.Costs[i]
		}
	}
	return out, estimate
}

func (n *naive) settle(r *naiveRun, items []int, actual int64) {
	if out, estimate := r.leave(items); len(out) > 0 {
		r.charge(actual - estimate)
	}
}

func (n *naive) giveBack(r *naiveRun, items []int) {
	out, estimate := r.leave(items)
	if len(out) == 0 {
		return
	}
	r.charge(-estimate)
	if r.cancelled {
		return
	}
	n.join(r)
	for _, i := range out {
		r.state[i] = 'p'
	}
}

func (n *naive) cancel(r *naiveRun) {
	r.cancelled = true
	for i := range r.state {
		if r.state[i] == 'p' {
			r.state[i] = 'e'
		}
	}
}

func (n *naive) forget(id int64) {
	n.runs = slices.DeleteFunc(n.runs, func(r *naiveRun) bool { return r.ID == id })
}
