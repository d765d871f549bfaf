package claims

import (
	"math"

	"github.com/skerryhq/skerry/namespace"
)

// maxShelf bounds how many verbs of a kind are read at a time.
const maxShelf = 64

// shelf holds ready verbs of one kind that have been read and not dealt, oldest
// first.
type shelf struct {
	verbs []*verb
	// last is the newest verb that has been read.
	last int64
}

// shelves deals the ready verbs of a namespace oldest first, reading no more
// than it has use for.
type shelves struct {
	view  *namespace.View
	ready readyKinds
	kinds map[string]*shelf
	// wanted is how many verbs may still be dealt.
	wanted int
}

// deal gives each demand one verb in turn until each has its max or there is no
// more for it.
func deal(c *change, demands []*demand, quota *anonymousQuota) error {
	s := &shelves{view: &c.View, ready: c.m.ready, kinds: map[string]*shelf{}}
	for _, d := range demands {
		s.wanted += d.claim.max
	}
	for dealt := true; dealt; {
		dealt = false
		for _, d := range demands {
			got, err := s.serve(d, quota)
			if err != nil {
				return err
			}
			dealt = dealt || got
		}
	}
	refuseUnserved(demands, quota)
	return nil
}

// serve deals one verb to a demand that can take it, and reports whether it did.
func (s *shelves) serve(d *demand, quota *anonymousQuota) (bool, error) {
	if d.sated || len(d.verbs) == d.claim.max {
		return false, nil
	}
	shelf, err := s.oldest(d.claim.kinds)
	if err != nil {
		return false, err
	}
	if shelf == nil || !quota.take(d.turn) {
		d.sated = true
		return false, nil
	}
	b := shelf.verbs[0]
	shelf.verbs = shelf.verbs[1:]
	s.ready.raise(b.kind, b.id+1)
	s.wanted--
	d.verbs = append(d.verbs, b)
	return true, nil
}

// oldest finds the shelf whose first verb is the oldest of the kinds, any kind if
// none is named; nil if there is none. A kind's bound stands for its first verb
// until the shelf has to be filled, so that most kinds are never read.
func (s *shelves) oldest(kinds []string) (*shelf, error) {
	for {
		kind, first := "", int64(math.MaxInt64)
		consider := func(k string) {
			if at := s.first(k); at < first {
				kind, first = k, at
			}
		}
		for _, k := range kinds {
			consider(k)
		}
		if len(kinds) == 0 {
			for k := range s.ready.bound {
				consider(k)
			}
		}
		if kind == "" {
			return nil, nil
		}
		if held := s.kinds[kind]; held != nil && len(held.verbs) > 0 {
			return held, nil
		}
		if err := s.fill(kind); err != nil {
			return nil, err
		}
	}
}

// first is a number that no ready verb of the kind is below: that of the first
// one on the shelf if there is one.
func (s *shelves) first(kind string) int64 {
	if held := s.kinds[kind]; held != nil && len(held.verbs) > 0 {
		return held.verbs[0].id
	}
	return s.ready.of(kind)
}

// fill reads the next verbs of a kind, and notes it if there are none.
func (s *shelves) fill(kind string) error {
	held := s.kinds[kind]
	if held == nil {
		held = &shelf{last: s.ready.of(kind) - 1}
		s.kinds[kind] = held
	}
	verbs, err := readVerbs(s.view, sqlShelf, kind, held.last, min(s.wanted, maxShelf))
	if err != nil {
		return err
	}
	if len(verbs) == 0 {
		s.ready.remove(kind)
		return nil
	}
	held.verbs, held.last = verbs, verbs[len(verbs)-1].id
	s.ready.raise(kind, verbs[0].id)
	return nil
}

// refuseUnserved refuses the anonymous claims that got nothing because others in
// the same batch took the last lease there was. Those others are not refused.
func refuseUnserved(demands []*demand, quota *anonymousQuota) {
	for _, d := range demands {
		if len(d.verbs) == 0 {
			d.err = quota.admit(d.turn)
		}
	}
}
