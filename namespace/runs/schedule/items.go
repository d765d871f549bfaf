package schedule

import "math/bits"

// set is a set of item indexes.
type set struct {
	words []uint64
	count int
	// low is a word below which there is nothing.
	low int
}

func newSet(n int) set { return set{words: make([]uint64, (n+63)/64)} }

func (s *set) has(i int) bool { return s.words[i>>6]&(1<<(i&63)) != 0 }

func (s *set) add(i int) {
	if s.has(i) {
		return
	}
	s.words[i>>6] |= 1 << (i & 63)
	s.count++
	s.low = min(s.low, i>>6)
}

// drop takes i out and reports whether it was in.
func (s *set) drop(i int) bool {
	if i < 0 || i>>6 >= len(s.words) || !s.has(i) {
		return false
	}
	s.words[i>>6] &^= 1 << (i & 63)
	s.count--
	return true
}

// lowest is the lowest index of a set that is not empty.
func (s *set) lowest() int {
	for s.words[s.low] == 0 {
		s.low++
	}
	return s.low<<6 + bits.TrailingZeros64(s.words[s.low])
}

func (s *set) clear() {
	clear(s.words)
	s.count = 0
}
