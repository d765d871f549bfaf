package admission

import (
	"math"
	"slices"
)

// model is a controller written straight from the rules: plain slices, scanned
// in full for every question, and nothing shared with the controller but Config.
type model struct {
	cfg       Config
	limit     float64
	average   float64
	samples   int
	sampledAt int64
	changes   int
	changedAt int64
	waiting   []modelRequest // by arrival
	running   []modelRequest
	ring      []string
	out       []Decision
}

type modelRequest struct {
	id        ID
	principal string
	arrived   int64
	deadline  int64
	started   int64
	cancelled bool
}

func newModel(c Config) *model {
	return &model{cfg: c.withDefaults(), limit: float64(c.Initial)}
}

func (m *model) force() int { return int(math.Max(1, math.Floor(m.limit))) }

func (m *model) held(principal string) int {
	n := 0
	for _, r := range m.waiting {
		if r.principal == principal {
			n++
		}
	}
	return n
}

func (m *model) find(rs []modelRequest, id ID) int {
	return slices.IndexFunc(rs, func(r modelRequest) bool { return r.id == id })
}

func (m *model) retry(waiting int) int {
	if m.samples == 0 {
		return m.cfg.RetryMin
	}
	s := math.Ceil(float64(waiting+1) * m.average / float64(m.force()) / float64(m.cfg.Second))
	return int(math.Min(math.Max(s, float64(m.cfg.RetryMin)), float64(m.cfg.RetryMax)))
}

// take removes the i-th waiter; its principal leaves the ring with its last one.
func (m *model) take(i int) modelRequest {
	r := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	if m.held(r.principal) == 0 {
		m.ring = slices.DeleteFunc(m.ring, func(p string) bool { return p == r.principal })
	}
	return r
}

func (m *model) refuse(r modelRequest, why Reason, now int64, waiting int) {
	m.out = append(m.out, Decision{
		Kind: Refuse, Reason: why, ID: r.id, Principal: r.principal, RetryAfter: m.retry(waiting), Waited: now - r.arrived,
	})
}

func (m *model) expire(now int64) {
	for {
		next := -1
		for i, r := range m.waiting {
			if r.deadline <= now && (next < 0 || r.deadline < m.waiting[next].deadline) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		r := m.take(next)
		m.refuse(r, WaitDeadline, now, len(m.waiting))
	}
}

func (m *model) dispatch(now int64) {
	for len(m.waiting) > 0 && len(m.running) < m.force() {
		turn := m.ring[0]
		r := m.take(slices.IndexFunc(m.waiting, func(r modelRequest) bool { return r.principal == turn }))
		if m.held(turn) > 0 {
			m.ring = append(m.ring[1:], turn)
		}
		m.start(r, now)
	}
}

func (m *model) start(r modelRequest, now int64) {
	r.started = now
	m.running = append(m.running, r)
	m.out = append(m.out, Decision{Kind: Start, ID: r.id, Principal: r.principal, Waited: now - r.arrived})
}

func (m *model) event(now int64, do func()) []Decision {
	m.out = nil
	m.expire(now)
	do()
	m.dispatch(now)
	return m.out
}

func (m *model) Arrive(now int64, id ID, principal string) []Decision {
	return m.event(now, func() {
		if m.find(m.waiting, id) >= 0 || m.find(m.running, id) >= 0 {
			return
		}
		r := modelRequest{id: id, principal: principal, arrived: now, deadline: now + m.cfg.MaxWait}
		if len(m.waiting) == 0 && len(m.running) < m.force() {
			m.start(r, now)
			return
		}
		if len(m.waiting) >= m.cfg.Pending {
			victim := m.victim(principal)
			if victim < 0 {
				m.refuse(r, QueueFull, now, len(m.waiting))
				return
			}
			v := m.take(victim)
			m.refuse(v, FairShare, now, len(m.waiting)+1)
		}
		if m.held(principal) == 0 {
			m.ring = append(m.ring, principal)
		}
		m.waiting = append(m.waiting, r)
		m.out = append(m.out, Decision{Kind: Enqueue, ID: id, Principal: principal})
	})
}

// victim finds whose waiter makes room for an arrival on a full queue, or -1.
func (m *model) victim(arriver string) int {
	if m.cfg.Pending == 0 {
		return -1
	}
	names := map[string]bool{arriver: true}
	for _, r := range m.waiting {
		names[r.principal] = true
	}
	share := math.Max(1, float64(m.cfg.Pending)/float64(len(names)))
	if float64(m.held(arriver)) >= share {
		return -1
	}
	// From the youngest on, so that of equals the first met gives way.
	victim, most := -1, 0
	for i, r := range slices.Backward(m.waiting) {
		held := m.held(r.principal)
		if r.principal != arriver && float64(held) > share && held > most {
			victim, most = i, held
		}
	}
	return victim
}

func (m *model) Finish(now int64, id ID) []Decision {
	return m.event(now, func() {
		if i := m.find(m.running, id); i >= 0 {
			m.finish(i, now, now-m.running[i].started, true)
		}
	})
}

func (m *model) FinishIn(now int64, id ID, service int64) []Decision {
	return m.event(now, func() {
		if i := m.find(m.running, id); i >= 0 {
			m.finish(i, now, max(0, service), true)
		}
	})
}

func (m *model) Discard(now int64, id ID) []Decision {
	return m.event(now, func() {
		if i := m.find(m.running, id); i >= 0 {
			m.finish(i, now, 0, false)
		}
	})
}

func (m *model) finish(i int, now, service int64, ok bool) {
	r := m.running[i]
	saturated := len(m.running) >= m.force()
	m.running = slices.Delete(m.running, i, i+1)
	m.out = append(m.out, Decision{Kind: Finished, ID: r.id, Principal: r.principal})
	if !ok || r.cancelled {
		return
	}
	if m.samples == 0 || now-m.sampledAt >= m.cfg.StaleAfter {
		m.average = float64(service)
	} else {
		m.average += m.cfg.Alpha * (float64(service) - m.average)
	}
	m.samples, m.sampledAt = m.samples+1, now
	if m.changes > 0 && now-m.changedAt < m.cfg.Interval {
		return
	}
	before := m.limit
	if m.average > float64(m.cfg.Target) {
		m.limit = math.Max(float64(m.cfg.Min), m.limit*m.cfg.Factor)
	} else if saturated {
		m.limit = math.Min(float64(m.cfg.Max), m.limit+m.cfg.Increase)
	}
	if m.limit != before {
		m.changes, m.changedAt = m.changes+1, now
	}
}

func (m *model) Cancel(now int64, id ID) []Decision {
	return m.event(now, func() {
		if i := m.find(m.running, id); i >= 0 {
			m.running[i].cancelled = true
		}
		if i := m.find(m.waiting, id); i >= 0 {
			r := m.take(i)
			m.out = append(m.out, Decision{Kind: Cancelled, ID: id, Principal: r.principal, Waited: now - r.arrived})
		}
	})
}

func (m *model) Tick(now int64) []Decision {
	return m.event(now, func() {})
}

func (m *model) Reconfigure(now int64, cfg Config) ([]Decision, error) {
	return m.event(now, func() {
		m.cfg = cfg.withDefaults()
		m.limit = math.Min(math.Max(m.limit, float64(m.cfg.Min)), float64(m.cfg.Max))
	}), nil
}
