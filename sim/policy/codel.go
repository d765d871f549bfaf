package policy

// codel is the queue of "Fail at Scale" (Maurer, 2015), which takes the idea of a
// standing queue from CoDel (Nichols and Jacobson, "Controlling Queue Delay", 2012). A
// queue that was empty within the last 100 ms absorbs a burst: it is served first come
// first served, and who joins it may wait 100 ms. One that was not is standing: who
// joins it may wait 5 ms, and the newest is served first (adaptive LIFO), since the
// oldest have callers that are about to give up.
//
// Simplified: a fixed number of requests run at once, as of the policy fixed, and the
// length of the queue is bounded by the settings. The maximum wait of the settings holds
// if it is shorter still. Who has waited too long is refused at that instant, where
// servers find out when they come to it.
type codel struct {
	line           line // all, by arrival
	patient, hasty line // those with the long and the short time, by deadline
	pending        int
	maxWait        int64
	empty          int64 // when the queue was last empty, while it is not
}

const (
	codelTarget   = 5 * millisecond
	codelInterval = 100 * millisecond
)

func newCodel(b bounds) Policy {
	return newDesk(b, constant(b.fixed), &codel{
		patient: line{order: byDeadline}, hasty: line{order: byDeadline},
		pending: b.pending, maxWait: b.maxWait,
	})
}

// standing reports whether the queue, which is not empty, has not been so for long.
func (q *codel) standing(now int64) bool { return now-q.empty > codelInterval }

func (q *codel) push(now int64, r *request) bool {
	if q.line.length >= q.pending {
		return false
	}
	if q.line.length == 0 {
		q.empty = now
	}
	wait := int64(codelInterval)
	if r.hasty = q.standing(now); r.hasty {
		wait = codelTarget
	}
	r.deadline = now + min(wait, q.maxWait)
	q.line.push(r)
	q.expiry(r).push(r)
	return true
}

// expiry is the line of those that may wait as long as r. Each is in the order of
// deadlines by itself; together they are not.
func (q *codel) expiry(r *request) *line {
	if r.hasty {
		return &q.hasty
	}
	return &q.patient
}

func (q *codel) pop(now int64) *request {
	r := q.line.front
	if q.standing(now) {
		r = q.line.back
	}
	q.remove(now, r)
	return r
}

func (q *codel) remove(_ int64, r *request) {
	q.line.remove(r)
	q.expiry(r).remove(r)
}

// due prefers the one that arrived first, if two are due at once.
func (q *codel) due() *request {
	p, h := q.patient.front, q.hasty.front
	switch {
	case p == nil:
		return h
	case h == nil || p.deadline < h.deadline:
		return p
	case p.deadline == h.deadline && p.arrived < h.arrived:
		return p
	}
	return h
}

func (q *codel) waiting() int                 { return q.line.length }
func (q *codel) pass(int64, *request)         {}
func (q *codel) ended(int64, *request, int64) {}
