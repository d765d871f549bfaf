package namespace

import (
	"container/list"
	"maps"
	"slices"
	"strings"
)

// lot holds the commands that found nothing to do and wait for work outside
// admission. They take turns as the waiters of admission do: round robin over
// principals, first come first served within each. It belongs to the actor.
//
// A command that was taken up and found nothing returns to its old place, so
// that losing a race costs no turn.
type lot struct {
	ring       *list.List // of *bay, by place
	principals map[string]*list.Element
	topics     map[string]int // how many calls name each topic; "" counts those that name none
	places     uint64
	sequence   uint64
	size       int
}

// bay holds one principal's parked calls in order of their first parking.
type bay struct {
	principal string
	place     uint64
	calls     []*call
}

func newLot() *lot {
	return &lot{ring: list.New(), principals: map[string]*list.Element{}, topics: map[string]int{}}
}

// add parks a call, which comes back to the place it had if it was parked
// before.
func (l *lot) add(c *call) {
	e, ok := l.principals[c.Caller.Principal]
	if !ok {
		b := &bay{principal: c.Caller.Principal, place: c.place}
		if b.place == 0 {
			l.places++
			b.place = l.places
		}
		e = l.insert(b)
		l.principals[b.principal] = e
	}
	b := e.Value.(*bay)
	if c.place != 0 && c.place < b.place {
		l.ring.Remove(e)
		b.place = c.place
		l.principals[b.principal] = l.insert(b)
	}
	if c.sequence == 0 {
		l.sequence++
		c.sequence = l.sequence
	}
	at, _ := slices.BinarySearchFunc(b.calls, c.sequence, func(k *call, s uint64) int { return int(int64(k.sequence - s)) })
	b.calls = slices.Insert(b.calls, at, c)
	l.size++
	for _, t := range topicsOf(c) {
		l.topics[t]++
	}
}

// insert puts a bay into the ring by its place, which is nearly always the end.
func (l *lot) insert(b *bay) *list.Element {
	for e := l.ring.Back(); e != nil; e = e.Prev() {
		if e.Value.(*bay).place < b.place {
			return l.ring.InsertAfter(b, e)
		}
	}
	return l.ring.PushFront(b)
}

// remove takes a call out, if it is parked, because its wait has ended.
func (l *lot) remove(c *call) {
	e, ok := l.principals[c.Caller.Principal]
	if !ok {
		return
	}
	b := e.Value.(*bay)
	at := slices.Index(b.calls, c)
	if at < 0 {
		return
	}
	l.takeAt(e, at)
}

// take removes up to n calls that wait for the topic, in turn order, and hands
// them over.
func (l *lot) take(class, topic string, n int) []*call {
	var taken []*call
	unmatched := 0
	for e := l.ring.Front(); e != nil && n > 0 && l.waiting(topic) && unmatched <= l.ring.Len(); {
		b := e.Value.(*bay)
		at := slices.IndexFunc(b.calls, func(c *call) bool {
			return c.Class == class && (len(c.turn.topics) == 0 ||
				slices.ContainsFunc(c.turn.topics, func(t string) bool { return within(topic, t) }))
		})
		if at < 0 {
			unmatched++
			if e = e.Next(); e == nil {
				e = l.ring.Front()
			}
			continue
		}
		next := e.Next()
		c := b.calls[at]
		c.place = b.place
		l.takeAt(e, at)
		taken = append(taken, c)
		n--
		unmatched = 0
		if len(b.calls) > 0 {
			l.places++
			b.place = l.places
			l.ring.MoveToBack(e)
		}
		if e = next; e == nil {
			e = l.ring.Front()
		}
	}
	return taken
}

// waiting reports whether any call might wait for the topic.
func (l *lot) waiting(topic string) bool {
	for l.topics[topic] == 0 {
		above := strings.LastIndexByte(topic, '/')
		if above < 0 {
			return l.topics[""] > 0
		}
		topic = topic[:above]
	}
	return true
}

// within reports whether a topic is another one or lies below it.
func within(topic, other string) bool {
	rest, ok := strings.CutPrefix(topic, other)
	return ok && (rest == "" || rest[0] == '/')
}

func (l *lot) takeAt(e *list.Element, at int) {
	b := e.Value.(*bay)
	for _, t := range topicsOf(b.calls[at]) {
		if l.topics[t]--; l.topics[t] == 0 {
			delete(l.topics, t)
		}
	}
	b.calls = slices.Delete(b.calls, at, at+1)
	l.size--
	if len(b.calls) == 0 {
		l.ring.Remove(e)
		delete(l.principals, b.principal)
	}
}

// drain takes out every call, in turn order, or only those that pass admission.
func (l *lot) drain(admittedOnly bool) []*call {
	var all, kept []*call
	for l.ring.Len() > 0 {
		e := l.ring.Front()
		c := e.Value.(*bay).calls[0]
		if admittedOnly && c.admitted == nil {
			kept = append(kept, c)
		} else {
			all = append(all, c)
		}
		l.takeAt(e, 0)
		if len(e.Value.(*bay).calls) > 0 {
			l.ring.MoveToBack(e)
		}
	}
	for _, c := range kept {
		l.add(c)
	}
	return all
}

// known are the topics that parked calls wait for, in order.
func (l *lot) known() []string { return slices.Sorted(maps.Keys(l.topics)) }

// of counts a principal's parked calls.
func (l *lot) of(principal string) int {
	if e, ok := l.principals[principal]; ok {
		return len(e.Value.(*bay).calls)
	}
	return 0
}

// topicsOf are the topics under which a call is counted; one that names none
// stands under the empty one.
func topicsOf(c *call) []string {
	if len(c.turn.topics) == 0 {
		return []string{""}
	}
	return c.turn.topics
}
