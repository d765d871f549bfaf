package policy

import "math"

// apf is one priority level of Kubernetes' API Priority and Fairness (Spreitzer et al.,
// "Priority and Fairness for API Server Requests", Kubernetes Enhancement Proposal 1040,
// 2019). A principal has a
// hand of a few queues, dealt by shuffle sharding (MacCárthaigh, "Shuffle Sharding:
// Massive and Magical Fault Isolation", 2014), and a request joins the shortest of its hand. Queues
// are served by fair queuing (Demers, Keshav and Shenker, "Analysis and Simulation of a
// Fair Queueing Algorithm", 1989) in its form for servers: each has the virtual time
// at which its next request starts, and the one whose next request would finish first
// is next.
//
// The virtual time R runs as fast as one queue is served if all that have anything to
// do are served alike. How long a request takes is not known when it starts: its queue
// is charged a guess, which is put right when it has finished.
//
// Simplified: one priority level without borrowing, every request takes one seat, and
// hands hang on the seed as well as on the name, so that averages over seeds are not
// about names. The bound on all waiters of the settings is shared out evenly among the
// queues, in place of 50 each. Who has waited too long is refused at that instant,
// not when the next one joins the queue.
type apf struct {
	line     line // all, by arrival, which is by deadline
	lanes    []lane
	starts   []float64 // of lanes: next where somebody waits, else infinity
	length   int       // a lane's bound on waiters
	hand     int       // how many lanes a principal has
	limit    int
	maxWait  int64
	seed     uint64
	hands    map[string]hand // dealt so far; looked up by key only
	arrivals int             // so far, which rotate the order in which a hand is looked at
	robin    int             // the lane served last

	r         float64 // virtual time, in nanoseconds of one slot
	at        int64   // when r was true
	executing int     // requests that run
	active    int     // lanes with a request that waits or runs
}

// lane is one of the queues.
type lane struct {
	number    int
	line      line
	executing int
	next      float64 // the virtual time at which its next request starts
}

const (
	apfQueues = 64              // Kubernetes' default
	apfHand   = 8               // Kubernetes' default
	apfGuess  = 3 * millisecond // of the service time
)

func newAPF(b bounds, seed uint64) Policy {
	lanes := max(1, min(apfQueues, b.pending))
	q := &apf{length: b.pending / lanes, hand: min(apfHand, lanes), limit: b.fixed, maxWait: b.maxWait, seed: seed}
	q.open(lanes)
	return newDesk(b, constant(b.fixed), q)
}

// open makes so many lanes, in which nobody waits.
func (q *apf) open(lanes int) {
	q.lanes, q.starts = make([]lane, lanes), make([]float64, lanes)
	q.hands = make(map[string]hand)
	for i := range q.lanes {
		q.lanes[i].number, q.lanes[i].line.order = i, inLane
		q.starts[i] = math.Inf(1)
	}
}

// advance moves the virtual time to now. It comes before any change of a lane.
func (q *apf) advance(now int64) {
	if q.active > 0 {
		demand := min(q.executing+q.line.length, q.limit)
		// The conversion keeps the product from being fused into the sum.
		q.r += float64(float64(now-q.at) * float64(demand) / float64(q.active))
	}
	q.at = now
}

func (q *apf) push(now int64, r *request) bool {
	q.advance(now)
	l := q.choose(r)
	if l.line.length >= q.length {
		return false
	}
	q.join(l, r)
	r.deadline = now + q.maxWait
	q.line.push(r)
	l.line.push(r)
	q.settle(l)
	return true
}

func (q *apf) pass(now int64, r *request) {
	q.advance(now)
	l := q.choose(r)
	q.join(l, r)
	l.next = max(l.next, q.r)
	q.serve(l)
}

// pop looks at the lanes in turn, beginning after the one served last, so that of
// several that would finish at once each comes to its turn. All requests are guessed to
// take the same time, so that who starts first finishes first.
func (q *apf) pop(now int64) *request {
	q.advance(now)
	after := q.robin + 1
	best := after + least(q.starts[after:])
	if first := least(q.starts[:after]); best == len(q.starts) || q.starts[first] < q.starts[best] {
		best = first
	}
	q.robin = best
	l := &q.lanes[best]
	r := l.line.front
	l.line.remove(r)
	q.line.remove(r)
	q.serve(l)
	q.settle(l)
	return r
}

func (q *apf) remove(now int64, r *request) {
	q.advance(now)
	q.line.remove(r)
	r.lane.line.remove(r)
	q.settle(r.lane)
	q.leave(r.lane)
}

func (q *apf) ended(now int64, r *request, service int64) {
	q.advance(now)
	q.executing--
	r.lane.executing--
	r.lane.next += float64(service) - apfGuess
	q.settle(r.lane)
	q.leave(r.lane)
}

func (q *apf) due() *request { return q.line.front }
func (q *apf) waiting() int  { return q.line.length }

// join makes l the lane of r. A lane that had nothing to do begins now: absence earns
// no credit, and debts are forgotten.
func (q *apf) join(l *lane, r *request) {
	if l.idle() {
		q.active++
		l.next = q.r
	}
	r.lane, r.arrivedR = l, q.r
}

// serve charges l for a request that starts.
func (q *apf) serve(l *lane) {
	q.executing++
	l.executing++
	l.next += apfGuess
}

func (q *apf) leave(l *lane) {
	if l.idle() {
		q.active--
	}
}

// settle keeps the next request of l from starting, in virtual time, before it arrived:
// a lane that asks for less than its share would save up the difference. It comes after
// any change of a lane.
func (q *apf) settle(l *lane) {
	q.starts[l.number] = math.Inf(1)
	if l.line.length > 0 {
		l.next = max(l.next, l.line.front.arrivedR)
		q.starts[l.number] = l.next
	}
}

// least is the index of the first of the least values, 0 if there are none.
func least(values []float64) int {
	at, low := 0, math.Inf(1)
	for i, v := range values {
		if v < low {
			at, low = i, v
		}
	}
	return at
}

func (l *lane) idle() bool { return l.line.length == 0 && l.executing == 0 }
