package policy

import "github.com/skerryhq/skerry/admission"

// request is one that waits or runs.
type request struct {
	id        admission.ID
	principal string
	arrived   int64
	deadline  int64 // at which it is refused if it still waits
	running   bool
	cancelled bool    // while it ran: it is no sample
	inFlight  int     // how many ran when it was started, with it
	lane      *lane   // of APF: its queue
	arrivedR  float64 // of APF: the virtual time of its arrival
	hasty     bool    // of CoDel: it has the short time only
	links     [orders]link
}

// link is the place of a request in one line.
type link struct{ prev, next *request }

// order names one of the lines in which a request can stand at once.
type order uint8

const (
	byArrival  order = iota // all that wait
	byDeadline              // CoDel: those with the same time to wait
	orders

	inLane = byDeadline // APF: those of the same queue
)

// line is a first-in first-out queue that can also be left from the middle, and
// from the back. Nothing in it allocates.
type line struct {
	front, back *request
	length      int
	order       order
}

func (l *line) push(r *request) {
	at := &r.links[l.order]
	at.prev, at.next = l.back, nil
	if l.back == nil {
		l.front = r
	} else {
		l.back.links[l.order].next = r
	}
	l.back = r
	l.length++
}

// remove takes out r, which must stand in l.
func (l *line) remove(r *request) {
	at := &r.links[l.order]
	if at.prev == nil {
		l.front = at.next
	} else {
		at.prev.links[l.order].next = at.next
	}
	if at.next == nil {
		l.back = at.prev
	} else {
		at.next.links[l.order].prev = at.prev
	}
	*at = link{}
	l.length--
}
