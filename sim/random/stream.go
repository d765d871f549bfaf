package random

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Stream is a sequence of pseudo-random numbers: xoshiro256++ of Blackman and Vigna,
// "Scrambled linear pseudorandom number generators" (ACM TOMS 47, 2021). Make one with
// New; the zero value gives zeros for ever. It is not safe for concurrent use.
type Stream struct {
	s0, s1, s2, s3 uint64
}

// New makes the stream of a seed with the name that path spells. Streams of different
// seeds or paths have nothing to do with each other, and so whoever draws from one, or
// stops to, changes no draw of another. The path ("a", "b") is another one than ("ab").
func New(seed uint64, path ...string) *Stream {
	// The state is a cryptographic hash of both, in which each name stands behind its
	// length: different paths are different texts, and those have different states.
	text := binary.LittleEndian.AppendUint64(nil, seed)
	for _, name := range path {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(name)))
		text = append(text, name...)
	}
	state := sha256.Sum256(text)
	return &Stream{
		s0: binary.LittleEndian.Uint64(state[0:]),
		s1: binary.LittleEndian.Uint64(state[8:]),
		s2: binary.LittleEndian.Uint64(state[16:]),
		s3: binary.LittleEndian.Uint64(state[24:]),
	}
}

// Uint64 draws 64 bits.
func (s *Stream) Uint64() uint64 {
	s0, s1, s2, s3 := s.s0, s.s1, s.s2, s.s3
	drawn := bits.RotateLeft64(s0+s3, 23) + s0
	s2 ^= s0
	s3 ^= s1
	s.s1 = s1 ^ s2
	s.s0 = s0 ^ s3
	s.s2 = s2 ^ s1<<17
	s.s3 = bits.RotateLeft64(s3, 45)
	return drawn
}

// Float64 draws evenly from [0, 1), in steps of 2⁻⁵³.
func (s *Stream) Float64() float64 {
	return float64(float64(s.Uint64()>>11) * 0x1p-53)
}

// open draws evenly from (0, 1): from the middles of 2⁵² equal parts.
func (s *Stream) open() float64 {
	return float64((float64(s.Uint64()>>12) + 0.5) * 0x1p-52)
}

// Intn draws evenly from [0, n). It panics if n is not above 0.
//
// It is the multiplication of Lemire, "Fast random integer generation in an interval"
// (ACM TOMACS 29, 2019), without bias.
func (s *Stream) Intn(n int) int {
	if n <= 0 {
		panic("random: Intn of a number that is not above 0")
	}
	bound := uint64(n)
	high, low := bits.Mul64(s.Uint64(), bound)
	if low < bound {
		for least := -bound % bound; low < least; {
			high, low = bits.Mul64(s.Uint64(), bound)
		}
	}
	return int(high)
}

// Shuffle brings n things into an order, each being as likely as another. The function
// swaps two of them.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.Intn(i+1))
	}
}

// Perm draws an order of the numbers from 0 to n-1, each being as likely as another.
func (s *Stream) Perm(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	s.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
