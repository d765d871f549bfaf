// Package event holds the queue that a simulation takes its events from: by time, and
// at one time in the order in which they were put in.
package event

import "math/bits"

// Event is something that is to happen. What Kind, Actor and Arg mean is up to whoever
// pushes it.
type Event struct {
	// At is when, in nanoseconds of virtual time.
	At int64
	// Seq is the number that the queue gave it: 1 for the first that was ever pushed.
	Seq   uint64
	Kind  uint8
	Actor int32
	Arg   int64
}

// Queue is a queue of events. As no two events have the same At and Seq, their order is
// total, and what is popped depends on nothing but what was pushed. The zero value is an
// empty queue. It allocates only to grow beyond the most it ever held, and is not safe
// for concurrent use.
type Queue struct {
	heap []node
	last uint64 // the Seq given last
}

// Len is how many events are in the queue.
func (q *Queue) Len() int { return len(q.heap) }

// Push puts an event in. A time before that of an event already popped is taken like any
// other; time is the caller's to keep.
func (q *Queue) Push(at int64, kind uint8, actor int32, arg int64) {
	q.last++
	n := node{at: uint64(at) ^ sign, seq: q.last, what: uint64(kind)<<32 | uint64(uint32(actor)), arg: arg}
	q.heap = append(q.heap, n)
	rise(q.heap, len(q.heap)-1, n)
}

// Peek is the event that Pop would take out, and false if there is none.
func (q *Queue) Peek() (Event, bool) {
	if len(q.heap) == 0 {
		return Event{}, false
	}
	return q.heap[0].event(), true
}

// Pop takes out the event with the lowest At, and of several the one with the lowest
// Seq. It is false if there is none.
func (q *Queue) Pop() (Event, bool) {
	last := len(q.heap) - 1
	if last < 0 {
		return Event{}, false
	}
	first, moved := q.heap[0], q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		sink(q.heap, moved)
	}
	return first.event(), true
}

// node is an event in the heap. The compiler keeps one of four words in registers, which
// it does not with the five fields of Event.
type node struct {
	at   uint64 // with its sign turned, so that it is ordered as an unsigned number
	seq  uint64
	what uint64 // kind and actor
	arg  int64
}

const sign = 1 << 63

func (n node) event() Event {
	return Event{At: int64(n.at ^ sign), Seq: n.seq, Kind: uint8(n.what >> 32), Actor: int32(uint32(n.what)), Arg: n.arg}
}

// before is 1 if n comes before m, and else 0. It is a subtraction of 128 bits without a
// branch: which of two events is first is what a processor cannot foretell, and a wrong
// guess would cost more than all else.
func (n *node) before(m *node) int {
	_, borrow := bits.Sub64(n.seq, m.seq, 0)
	_, borrow = bits.Sub64(n.at, m.at, borrow)
	return int(borrow)
}

// fanOut is how many children a node has. Four of them lie in two or three cache lines,
// and the heap is half as deep as one with two.
const fanOut = 4

// sink fills the hole at the root of a heap: it moves the hole down to a leaf, always to
// the least child, puts n there, and n up to where it belongs. As n was a leaf, that is
// near, and the way down needs no comparison with it (Floyd's).
func sink(h []node, n node) {
	hole := 0
	for child := 1; child < len(h); child = fanOut*hole + 1 {
		least := leastOf(h, child)
		h[hole] = h[least]
		hole = least
	}
	rise(h, hole, n)
}

// rise puts n into the hole at i, or above, where those are that come after it.
func rise(h []node, i int, n node) {
	for i > 0 {
		parent := (i - 1) / fanOut
		if n.before(&h[parent]) == 0 {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = n
}

// leastOf is the first event of those that have their parent in common with the one at
// child, which is the leftmost.
func leastOf(h []node, child int) int {
	if child+fanOut <= len(h) {
		c := (*[fanOut]node)(h[child:])
		left := c[1].before(&c[0])
		right := 2 + c[3].before(&c[2])
		return child + left + (right-left)*c[right&3].before(&c[left&3])
	}
	least := child
	for c := child + 1; c < len(h); c++ {
		least += (c - least) * h[c].before(&h[least])
	}
	return least
}
