package storage

import "sync"

// queue holds the commands that wait for the writer, and the reason why no more
// are taken. It is safe for concurrent use.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond // on mu
	lanes   [lanes]lane
	refusal error // why push refuses; nil while the file serves
	discard bool  // what is queued is settled with the refusal, not run
	stop    bool  // the writer ends when nothing is queued
	failure error // why the file failed, until the writer has been told
}

// lane is a first-in, first-out list that reuses its array.
type lane struct {
	ops  []Op
	head int
}

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// push queues op, or returns the reason why it cannot be.
func (q *queue) push(op Op) error {
	l := min(op.Lane(), lanes-1)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.refusal != nil {
		return q.refusal
	}
	q.lanes[l].push(op)
	q.changed.Signal()
	return nil
}

// work is what the writer has to do next.
type work struct {
	ops     []Op
	refusal error // not nil: settle ops with it instead of running them
	failure error // not nil: the file failed, and the owner has not been told
	stop    bool  // nothing is left and nothing will come
}

// next waits for work. The ops are appended to buf, urgent lane first, at most
// limit of them unless they are to be refused.
func (q *queue) next(buf []Op, limit int) work {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.empty() && !q.stop && q.failure == nil {
		q.changed.Wait()
	}
	var w work
	if q.discard {
		w.refusal, limit = q.refusal, -1
	}
	w.failure, q.failure = q.failure, nil
	w.stop = q.stop && q.empty()
	w.ops = buf
	for i := range q.lanes {
		w.ops = q.lanes[i].pop(w.ops, limit)
	}
	return w
}

// fail makes the queue refuse everything with refusal; failure is what the owner
// is told. Only the first failure counts.
func (q *queue) fail(refusal, failure error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.discard {
		return
	}
	q.discard, q.failure, q.refusal = true, failure, refusal
	q.changed.Signal()
}

// close ends the queue. If discard is set, what is queued is not run.
func (q *queue) close(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop = true
	q.discard = q.discard || discard
	if q.refusal == nil {
		q.refusal = ErrClosed
	}
	q.changed.Signal()
}

// refused returns the reason why push refuses, or nil.
func (q *queue) refused() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal
}

// discarding reports whether what is queued is not run.
func (q *queue) discarding() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.discard
}

func (q *queue) empty() bool {
	for i := range q.lanes {
		if q.lanes[i].head < len(q.lanes[i].ops) {
			return false
		}
	}
	return true
}

func (l *lane) push(op Op) {
	if l.head > 64 && l.head > len(l.ops)/2 {
		n := copy(l.ops, l.ops[l.head:])
		clear(l.ops[n:])
		l.ops, l.head = l.ops[:n], 0
	}
	l.ops = append(l.ops, op)
}

// pop moves ops to dst until dst holds limit; below zero there is no limit.
func (l *lane) pop(dst []Op, limit int) []Op {
	n := len(l.ops) - l.head
	if limit >= 0 {
		n = min(n, limit-len(dst))
	}
	taken := l.ops[l.head : l.head+n]
	dst = append(dst, taken...)
	clear(taken)
	l.head += n
	if l.head == len(l.ops) {
		l.ops, l.head = l.ops[:0], 0
	}
	return dst
}
