package schedule

// pool is what belongs to one pool alone.
type pool struct {
	all   *lane
	kinds map[string]*lane
	// aged says that the last pick was by aging.
	aged bool
}

// lane holds the candidates of a pool, or of one kind in it.
type lane struct {
	tenants heap[*bench]
	waiting heap[*seat]
	benches map[*tenant]*bench
}

// bench holds a tenant's candidates in a lane. It stays when it is empty.
type bench struct {
	tenant *tenant
	runs   heap[*seat]
	place  int
}

// seat is a run's place in a lane. Every run has one in its pool's lane and one in
// its kind's.
type seat struct {
	run            *run
	lane           *lane
	byCost, byWait int
}

func newPool() *pool { return &pool{all: newLane(), kinds: map[string]*lane{}} }

func newLane() *lane {
	return &lane{
		tenants: heap[*bench]{
			less:  func(a, b *bench) bool { return a.tenant.before(b.tenant) },
			place: func(b *bench) *int { return &b.place },
		},
		waiting: heap[*seat]{
			less:  func(a, b *seat) bool { return a.run.longer(b.run) },
			place: func(s *seat) *int { return &s.byWait },
		},
		benches: map[*tenant]*bench{},
	}
}

// bench is that of a tenant, made if it is the first time.
func (l *lane) bench(t *tenant) *bench {
	b := l.benches[t]
	if b == nil {
		b = &bench{tenant: t, runs: heap[*seat]{
			less:  func(a, b *seat) bool { return a.run.before(b.run) },
			place: func(s *seat) *int { return &s.byCost },
		}}
		l.benches[t] = b
		t.benches = append(t.benches, laneBench{l, b})
	}
	return b
}

// laneBench is a bench with its lane.
type laneBench struct {
	lane  *lane
	bench *bench
}

// put makes the run of the seat a candidate, or puts it where it belongs now.
func (s *seat) put() {
	b := s.lane.bench(s.run.tenant)
	b.runs.put(s)
	s.lane.tenants.put(b)
	s.lane.waiting.put(s)
}

// leave ends the candidacy of the run of the seat.
func (s *seat) leave() {
	b := s.lane.bench(s.run.tenant)
	b.runs.remove(s)
	s.lane.waiting.remove(s)
	if b.runs.empty() {
		s.lane.tenants.remove(b)
	}
}

// before is the order in which tenants are picked by cost.
func (t *tenant) before(o *tenant) bool {
	switch {
	case t.attained != o.attained:
		return t.attained < o.attained
	case t.picks != o.picks:
		return t.picks < o.picks
	}
	return t.arrival < o.arrival
}

// before is the order in which a tenant's runs are picked by cost.
func (r *run) before(o *run) bool {
	if r.attained != o.attained {
		return r.attained < o.attained
	}
	return r.id < o.id
}

// longer is the order in which runs are picked by aging.
func (r *run) longer(o *run) bool {
	if r.waiting != o.waiting {
		return r.waiting < o.waiting
	}
	return r.id < o.id
}
