package runs_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/skerryhq/skerry/api"
)

// naive says what becomes of runs, in the plainest way. It knows no order of picks:
// what is granted is told to it.
type naive struct {
	now    time.Time
	runs   []*naiveRun
	quanta []*naiveQuantum
}

type naiveRun struct {
	id, tenant, kind, shared string
	items                    []*naiveItem
	cancelling               bool
	// changed says that its events have not been looked at since.
	changed bool
}

type naiveItem struct {
	name     string
	cost     int64
	status   api.ItemStatus
	attempts int
	holder   *naiveQuantum
	// by is the quantum that ended it with a result, or nil.
	by *naiveQuantum
}

type naiveQuantum struct {
	id, worker      string
	fence           int64
	run             *naiveRun
	items           []*naiveItem
	length          time.Duration
	until, deadline time.Time
	over            bool
}

// maxAttempts and timeout are those of both kinds.
const (
	naiveAttempts = 2
	naiveTimeout  = 10 * time.Second
)

func (r *naiveRun) count(s api.ItemStatus) int {
	n := 0
	for _, i := range r.items {
		if i.status == s {
			n++
		}
	}
	return n
}

func (r *naiveRun) ended() bool { return r.count(api.ItemPending)+r.count(api.ItemRunning) == 0 }

func (r *naiveRun) status() api.RunStatus {
	switch total, good := len(r.items), r.count(api.ItemSucceeded); {
	case !r.ended():
		for _, i := range r.items {
			if i.attempts > 0 {
				return api.RunRunning
			}
		}
		return api.RunQueued
	case r.cancelling:
		return api.RunCancelled
	case good == total:
		return api.RunCompleted
	case good == 0:
		return api.RunFailed
	}
	return api.RunCompletedWithErrors
}

// due are the items that a quantum of the run must have.
func (r *naiveRun) due(most int, bound int64) []*naiveItem {
	var got []*naiveItem
	var cost int64
	for _, i := range r.items {
		if i.status != api.ItemPending {
			continue
		}
		got = append(got, i)
		if cost += i.cost; len(got) == most || bound > 0 && cost >= bound {
			break
		}
	}
	return got
}

// candidates are the runs that a request may get.
func (m *naive) candidates(kinds []string) []*naiveRun {
	var got []*naiveRun
	for _, r := range m.runs {
		if r.count(api.ItemPending) > 0 && (len(kinds) == 0 || slices.Contains(kinds, r.kind)) {
			got = append(got, r)
		}
	}
	return got
}

func (m *naive) grant(q *naiveQuantum) {
	for _, i := range q.items {
		i.status, i.holder = api.ItemRunning, q
		i.attempts++
	}
	q.deadline = m.now.Add(time.Duration(len(q.items))*naiveTimeout + 5*time.Second)
	m.renew(q)
	m.quanta = append(m.quanta, q)
	q.run.changed = true
}

func (m *naive) renew(q *naiveQuantum) {
	until := m.now.Add(q.length)
	if until.After(q.deadline) {
		until = q.deadline
	}
	if until.After(q.until) {
		q.until = until
	}
}

// pass lets time go by, and ends the leases that it ends.
func (m *naive) pass(d time.Duration) {
	m.now = m.now.Add(d)
	for _, q := range m.quanta {
		if !q.over && !q.until.After(m.now) {
			m.end(q, true)
		}
	}
}

// open are the items that a quantum may still report on.
func (q *naiveQuantum) open() []*naiveItem {
	var open []*naiveItem
	for _, i := range q.items {
		if !q.over && i.status == api.ItemRunning && i.holder == q {
			open = append(open, i)
		}
	}
	return open
}

// end takes back what is open of a quantum.
func (m *naive) end(q *naiveQuantum, lost bool) (returned []string) {
	returned = []string{}
	for _, i := range q.open() {
		switch {
		case q.run.cancelling:
			i.status = api.ItemCancelled
		case lost && i.attempts >= naiveAttempts:
			i.status = api.ItemFailed
		default:
			i.status = api.ItemPending
			returned = append(returned, i.name)
		}
		i.holder = nil
	}
	q.over, q.run.changed = true, true
	return returned
}

// commit says what a commit must answer, and does it. Nothing is open to a stale one.
func (m *naive) commit(q *naiveQuantum, results []api.ItemResult, giveBack bool) (committed []string, ignored []api.IgnoredItem, stale bool) {
	committed, ignored = []string{}, []api.IgnoredItem{}
	open := q.open()
	var taken []*naiveItem
	for _, r := range results {
		at := slices.IndexFunc(q.run.items, func(i *naiveItem) bool { return i.name == r.ID })
		switch {
		case at < 0:
			ignored = append(ignored, api.IgnoredItem{ID: r.ID, Reason: "unknown"})
		case slices.Contains(open, q.run.items[at]):
			i := q.run.items[at]
			taken = append(taken, i)
			if q.run.cancelling {
				ignored = append(ignored, api.IgnoredItem{ID: r.ID, Reason: "cancelled"})
			} else {
				committed = append(committed, r.ID)
			}
		case q.run.items[at].by == q:
			committed = append(committed, r.ID)
		case q.run.items[at].status == api.ItemCancelled:
			ignored = append(ignored, api.IgnoredItem{ID: r.ID, Reason: "cancelled"})
		default:
			ignored = append(ignored, api.IgnoredItem{ID: r.ID, Reason: "stale_fence"})
		}
	}
	if len(open) == 0 && len(committed) == 0 {
		return nil, nil, true
	}
	for _, i := range taken {
		at := slices.IndexFunc(results, func(r api.ItemResult) bool { return r.ID == i.name })
		i.status, i.holder, i.by = results[at].Status, nil, q
		if q.run.cancelling {
			i.status, i.by = api.ItemCancelled, nil
		}
		q.run.changed = true
	}
	switch {
	case giveBack && len(open) > 0:
		m.end(q, false)
	case len(q.open()) == 0:
		q.over = true
	}
	return committed, ignored, false
}

// cancel reports whether the run was open to it.
func (r *naiveRun) cancel() bool {
	if r.ended() {
		return r.cancelling
	}
	r.cancelling, r.changed = true, true
	for _, i := range r.items {
		if i.status == api.ItemPending {
			i.status = api.ItemCancelled
		}
	}
	return true
}

// used is what a tenant's runs in flight have reserved.
func (m *naive) used(tenant string) (runs, items int64) {
	for _, r := range m.runs {
		if r.tenant == tenant && !r.ended() {
			runs++
			items += int64(len(r.items))
		}
	}
	return runs, items
}

// replay is the state of items that the events of a run tell of, by name.
func replay(r *naiveRun, events []*api.RunEvent) (map[string]api.ItemStatus, error) {
	state := map[string]api.ItemStatus{}
	for n, e := range events {
		p := e.Progress
		switch {
		case e.Sequence != int64(n)+1:
			return nil, fmt.Errorf("event %d has the number %d", n+1, e.Sequence)
		case (n == 0) != (e.Type == "run.queued"):
			return nil, fmt.Errorf("event %d is %s", n+1, e.Type)
		case p.Total != len(r.items) || p.Pending+p.Running+p.Succeeded+p.Failed+p.Cancelled != p.Total:
			return nil, fmt.Errorf("event %d tells of progress %+v", n+1, *p)
		case e.ItemID != "" && over(state[e.ItemID]):
			return nil, fmt.Errorf("event %d is %s of an item that has ended", n+1, e.Type)
		}
		if e.ItemID != "" {
			state[e.ItemID] = api.ItemStatus(e.Status)
		}
		last := n == len(events)-1
		if ended := api.RunStatus(e.Status).Ended() && e.ItemID == ""; ended != (last && r.ended()) {
			return nil, fmt.Errorf("event %d of %d is %s", n+1, len(events), e.Type)
		}
	}
	return state, nil
}

// over reports whether an item's status is final.
func over(s api.ItemStatus) bool {
	return s == api.ItemSucceeded || s == api.ItemFailed || s == api.ItemCancelled
}
