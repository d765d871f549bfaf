package admission

// request is one live request: it waits in the queue, or it runs.
type request struct {
	id        ID
	principal *principal
	order     uint64 // of arrival: a later request has a higher one
	arrived   int64
	started   int64 // when running
	running   bool
	cancelled bool // while running: its end is no sample

	// Neighbours in the principal's line, from oldest to newest. A free record
	// uses newer alone, as its link in the free list.
	older, newer *request
	place        int // in queue.deadlines
}

// principal is whoever has a request that waits or runs.
type principal struct {
	name    string
	waiting int
	running int

	oldest, newest *request // its line of waiters

	// Neighbours in the ring, while it has waiters. A free record uses next
	// alone, as its link in the free list.
	prev, next *principal
	place      int // in queue.crowd
}

// queue holds the requests that wait. Each is in its principal's line and in
// deadlines; each principal with a waiter is in the ring and in crowd. No
// operation walks over waiters or principals: a step of the ring and an end of a
// line are O(1), the heaps O(log n).
type queue struct {
	waiting int
	// head has the next turn; its prev is the tail of the ring.
	head *principal
	// deadlines has the next to expire at its root: by deadline, then arrival.
	deadlines heap[*request]
	// crowd has at its root the principal that holds the most pending slots
	// and, of several, the one whose newest waiter is youngest.
	crowd heap[*principal]
}

// push adds r at the end of its principal's line. A principal that had none
// waiting joins the ring at the tail; another one keeps its turn.
func (q *queue) push(r *request, deadline int64) {
	p := r.principal
	r.older, r.newer = p.newest, nil
	if p.newest == nil {
		p.oldest = r
	} else {
		p.newest.newer = r
	}
	p.newest = r
	p.waiting++
	q.waiting++
	q.deadlines.push(entry[*request]{major: deadline, minor: r.order, place: &r.place, item: r})
	if p.waiting > 1 {
		q.crowd.fix(p.place, crowding(p), youth(p))
		return
	}
	q.join(p)
	q.crowd.push(entry[*principal]{major: crowding(p), minor: youth(p), place: &p.place, item: p})
}

// remove takes r out, wherever it stands in its principal's line. The principal
// leaves the ring if that was its only waiter, and else keeps its turn.
func (q *queue) remove(r *request) {
	p := r.principal
	if r.older == nil {
		p.oldest = r.newer
	} else {
		r.older.newer = r.newer
	}
	if r.newer == nil {
		p.newest = r.older
	} else {
		r.newer.older = r.older
	}
	r.older, r.newer = nil, nil
	p.waiting--
	q.waiting--
	q.deadlines.remove(r.place)
	if p.waiting > 0 {
		q.crowd.fix(p.place, crowding(p), youth(p))
		return
	}
	q.leave(p)
	q.crowd.remove(p.place)
}

// next takes out the oldest waiter of the principal whose turn it is. If that
// principal has more it goes to the tail.
func (q *queue) next() *request {
	p := q.head
	r := p.oldest
	q.remove(r)
	if p.waiting > 0 {
		q.head = p.next
	}
	return r
}

// surplus returns the waiter that must give its slot, one of limit, to an
// arriver that holds the given number of them, or nil if none has to.
func (q *queue) surplus(held, limit int) *request {
	if q.waiting == 0 {
		return nil
	}
	n := q.crowd.len()
	if held == 0 {
		n++ // the one arriving counts, and is not in the ring yet
	}
	// The root needs no check against being the arriver itself: it must hold
	// more than the share, and the arriver holds less.
	most := q.crowd.root().item
	if compareShare(held, limit, n) < 0 && compareShare(most.waiting, limit, n) > 0 {
		return most.newest
	}
	return nil
}

// compareShare compares held with max(1, limit/n), in integers, so that equality
// is exact: its result is negative below the share, 0 at it, positive above it.
func compareShare(held, limit, n int) int {
	return held*n - max(n, limit)
}

// join makes p the tail of the ring.
func (q *queue) join(p *principal) {
	if q.head == nil {
		q.head, p.prev, p.next = p, p, p
		return
	}
	tail := q.head.prev
	p.prev, p.next = tail, q.head
	tail.next, q.head.prev = p, p
}

func (q *queue) leave(p *principal) {
	if p.next == p {
		q.head = nil
	} else {
		p.prev.next, p.next.prev = p.next, p.prev
		if q.head == p {
			q.head = p.next
		}
	}
	p.prev, p.next = nil, nil
}

// crowding and youth are the key of p in crowd, whose root is the lowest.
func crowding(p *principal) int64 { return -int64(p.waiting) }

func youth(p *principal) uint64 { return ^p.newest.order }
