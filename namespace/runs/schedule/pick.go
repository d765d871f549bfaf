package schedule

// Request is a free slot that asks for work.
type Request struct {
	Pool string
	// Kinds are those that the slot takes; none means any.
	Kinds []string
	// MaxItems bounds the quantum's items; less than 1 counts as 1.
	MaxItems int
	// MaxCost ends the quantum once its estimated cost has reached it; 0 is no
	// bound.
	MaxCost int64
}

// Pick is a quantum. Items are in order and valid until the scheduler's next event.
type Pick struct {
	Run   int64
	Items []int
	// Cost is the estimated cost of the items, with which run and tenant were
	// charged.
	Cost int64
	// Aged says that the run went first because it had waited too long.
	Aged bool
}

// Pick grants the items that the slot is due, or says that there are none, which
// changes nothing.
func (s *Scheduler) Pick(now int64, q Request) (Pick, bool) {
	p := s.pools[q.Pool]
	if p == nil {
		return Pick{}, false
	}
	r, aged := s.aged(p, now, q.Kinds), true
	if r == nil {
		r, aged = p.cheapest(q.Kinds), false
	}
	if r == nil {
		return Pick{}, false
	}
	p.aged = aged
	pick := s.grant(now, r, q.MaxItems, q.MaxCost)
	pick.Aged = aged
	return pick, true
}

// PickFrom grants further items of one run to a slot that has got its own, for work
// that is done in one go with it. It counts as a pick of the run and its tenant, but
// not as one of the pool: the slot's own pick was that. It says false if the run has
// no pending items.
func (s *Scheduler) PickFrom(now, run int64, maxItems int, maxCost int64) (Pick, bool) {
	r := s.runs[run]
	if r == nil || r.pending.count == 0 {
		return Pick{}, false
	}
	return s.grant(now, r, maxItems, maxCost), true
}

// aged is the candidate that must go first because it has waited longest, and too
// long; nil if there is none, or if the pool's last pick was such a one.
func (s *Scheduler) aged(p *pool, now int64, kinds []string) *run {
	if p.aged {
		return nil
	}
	var oldest *run
	p.each(kinds, func(l *lane) {
		if l.waiting.empty() {
			return
		}
		if r := l.waiting.top().run; oldest == nil || r.longer(oldest) {
			oldest = r
		}
	})
	if oldest == nil || now-oldest.waiting < s.aging {
		return nil
	}
	return oldest
}

// cheapest is the candidate of the tenant, and of its runs the one, that has attained
// least; nil if there is none.
func (p *pool) cheapest(kinds []string) *run {
	var best *run
	p.each(kinds, func(l *lane) {
		if l.tenants.empty() {
			return
		}
		r := l.tenants.top().runs.top().run
		switch {
		case best == nil:
			best = r
		case r.tenant == best.tenant:
			if r.before(best) {
				best = r
			}
		case r.tenant.before(best.tenant):
			best = r
		}
	})
	return best
}

// each calls f for the lanes of the kinds, or for that of any kind.
func (p *pool) each(kinds []string, f func(*lane)) {
	if len(kinds) == 0 {
		f(p.all)
		return
	}
	for _, kind := range kinds {
		if l := p.kinds[kind]; l != nil {
			f(l)
		}
	}
}

// grant takes the run's lowest pending items.
func (s *Scheduler) grant(now int64, r *run, maxItems int, maxCost int64) Pick {
	pick := Pick{Run: r.id}
	s.picked = s.picked[:0]
	for r.pending.count > 0 {
		i := r.pending.lowest()
		r.pending.drop(i)
		r.granted.add(i)
		s.picked = append(s.picked, i)
		pick.Cost = sum(pick.Cost, r.costs[i])
		if len(s.picked) >= maxItems || maxCost > 0 && pick.Cost >= maxCost {
			break
		}
	}
	pick.Items = s.picked
	s.picks++
	r.waiting, r.tenant.picks = now, s.picks
	r.tenant.pending -= len(s.picked)
	r.charge(pick.Cost)
	s.settle(r)
	return pick
}

// PendingIn reports whether a slot of the pool that takes the kinds, or any if none
// are named, would get something.
func (s *Scheduler) PendingIn(name string, kinds []string) bool {
	p := s.pools[name]
	found := false
	if p != nil {
		p.each(kinds, func(l *lane) { found = found || !l.waiting.empty() })
	}
	return found
}

// Candidates are up to limit runs with pending items of a kind in a pool: the
// tenants in the order in which picks by cost would take them if nothing were charged
// meanwhile, and of each tenant its runs in that order, before the next tenant's.
func (s *Scheduler) Candidates(name, kind string, limit int) []int64 {
	p := s.pools[name]
	if p == nil || p.kinds[kind] == nil {
		return nil
	}
	var ids []int64
	for b := range p.kinds[kind].tenants.ascending() {
		for seat := range b.runs.ascending() {
			if len(ids) == limit {
				return ids
			}
			ids = append(ids, seat.run.id)
		}
	}
	return ids
}
