package claims

import "container/list"

const (
	idleWindowMs  = 60_000
	firstPollMs   = 250
	maxPollMs     = 30_000
	maxDoublings  = 7
	perIdlePollMs = 5

	// maxPaced bounds the principals, and maxPacedKinds the kinds, that pacing
	// remembers.
	maxPaced      = 16_384
	maxPacedKinds = 4_096
)

// pacing advises workers that find nothing when to ask again: each later the
// more often it has found nothing, and all later the more of them there are. It
// is advice, kept in bounded memory and lost with it.
type pacing struct {
	principals map[string]*list.Element
	// idle holds those whose last claim was empty within idleWindowMs, and
	// resting the ones before; both in order of that claim.
	idle, resting *list.List
	// events counts verbs that became ready; woken is when that last happened to
	// each kind, and forgotten when it may have happened to any other.
	events    uint64
	woken     map[string]uint64
	forgotten uint64
}

// paced is a principal whose last claim was empty.
type paced struct {
	principal string
	kinds     []string // that it asked for; none for any
	empty     int      // claims in a row
	at        int64
	event     uint64
	resting   bool
}

func newPacing() pacing {
	return pacing{
		principals: map[string]*list.Element{}, idle: list.New(), resting: list.New(), woken: map[string]uint64{},
	}
}

// ready notes that verbs of a kind became ready, which ends the row of empty
// claims of everybody who asked for it.
func (p *pacing) ready(kind string) {
	p.events++
	if len(p.woken) >= maxPacedKinds {
		clear(p.woken)
		p.forgotten = p.events
	}
	p.woken[kind] = p.events
}

// granted notes that a principal got work.
func (p *pacing) granted(principal string) {
	if e, ok := p.principals[principal]; ok {
		p.remove(e)
	}
}

// empty notes that a principal's claim found nothing, and gives the
// milliseconds after which it should ask again.
func (p *pacing) empty(principal string, kinds []string, now int64) int64 {
	next := &paced{principal: principal, kinds: kinds, empty: 1, at: now, event: p.events}
	if e, ok := p.principals[principal]; ok {
		last := e.Value.(*paced)
		if !p.wokenSince(last) {
			next.empty = last.empty + 1
		}
		p.remove(e)
	}
	p.age(now)
	p.principals[principal] = p.idle.PushBack(next)
	wait := min(maxPollMs, firstPollMs<<min(next.empty-1, maxDoublings))
	return int64(wait + perIdlePollMs*p.idle.Len())
}

// wokenSince reports whether a verb of a kind that the principal asked for has
// become ready since it found nothing.
func (p *pacing) wokenSince(last *paced) bool {
	if len(last.kinds) == 0 {
		return p.events > last.event
	}
	for _, kind := range last.kinds {
		if max(p.woken[kind], p.forgotten) > last.event {
			return true
		}
	}
	return false
}

// age moves those who have asked for nothing lately to the resting, and makes
// room for one more.
func (p *pacing) age(now int64) {
	for e := p.idle.Front(); e != nil && e.Value.(*paced).at <= now-idleWindowMs; e = p.idle.Front() {
		rests := p.idle.Remove(e).(*paced)
		rests.resting = true
		p.principals[rests.principal] = p.resting.PushBack(rests)
	}
	for len(p.principals) >= maxPaced {
		oldest := p.resting.Front()
		if oldest == nil {
			oldest = p.idle.Front()
		}
		p.remove(oldest)
	}
}

func (p *pacing) remove(e *list.Element) {
	gone := e.Value.(*paced)
	delete(p.principals, gone.principal)
	if gone.resting {
		p.resting.Remove(e)
	} else {
		p.idle.Remove(e)
	}
}
