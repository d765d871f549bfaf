package figure

import (
	"cmp"
	"slices"
)

// Jain is the index of Jain, Chiu and Hawe (1984) of how evenly values that are not
// negative are spread: 1 if all are equal, 1/n if one has everything. It is 1 for no
// values, and if all of them are 0.
func Jain(values []float64) float64 {
	var sum, squares float64
	for _, v := range values {
		sum += v
		squares += float64(v * v)
	}
	if squares == 0 {
		return 1
	}
	return float64(sum*sum) / float64(float64(len(values))*squares)
}

// MaxMin divides a capacity by max-min fairness, in the order of the demands: nobody
// gets more than he demands, and nobody could get more but at the cost of one who has no
// more than he. Demands and capacity must not be negative.
func MaxMin(demands []float64, capacity float64) []float64 {
	order := make([]int, len(demands))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(demands[a], demands[b]) })
	shares := make([]float64, len(demands))
	for n, i := range order {
		shares[i] = min(demands[i], capacity/float64(len(order)-n))
		capacity = max(capacity-shares[i], 0)
	}
	return shares
}

// Starvation follows for how long principals are passed over: the longest time in which
// one had a request waiting and none of its own was started, while those of others were.
// Such a time begins when its first request waits, or the last of its own was started,
// and lasts up to the last start of another in it: while nothing is started at all,
// nobody is passed over. Principals are numbers from 0. The zero value is ready to use.
// Times must not run backwards. It is not safe for concurrent use.
type Starvation struct {
	principals []hunger
	last       int64 // when the last start was
}

type hunger struct {
	waiting int
	since   int64
	longest int64
}

// Wait says that a request of a principal waits.
func (s *Starvation) Wait(now int64, principal int) {
	for len(s.principals) <= principal {
		s.principals = append(s.principals, hunger{})
	}
	p := &s.principals[principal]
	if p.waiting == 0 {
		p.since = now
	}
	p.waiting++
}

// Start says that a request of a principal that waited was started.
func (s *Starvation) Start(now int64, principal int) {
	p := &s.principals[principal]
	p.longest = s.longest(p)
	s.last = now
	p.waiting--
	p.since = now
}

// Leave says that a request of a principal waits no more and was not started: it was
// refused, or withdrawn.
func (s *Starvation) Leave(principal int) {
	p := &s.principals[principal]
	p.longest = s.longest(p)
	p.waiting--
}

// Longest is the longest such time of a principal up to now, in nanoseconds.
func (s *Starvation) Longest(principal int) int64 {
	if principal >= len(s.principals) {
		return 0
	}
	return s.longest(&s.principals[principal])
}

// longest counts in the time that is not over. Every start since it began was that of
// another, for one of its own would have ended it; if there was none, the last start was
// no later than that, and the difference counts for nothing.
func (s *Starvation) longest(p *hunger) int64 {
	if p.waiting == 0 {
		return p.longest
	}
	return max(p.longest, s.last-p.since)
}
