package figure

import (
	"iter"
	"math"
	"math/bits"
)

// Each octave, the values with the same highest bit, is cut into so many buckets of
// one width. What is said of a bucket is its middle, which is at most a 128th off.
const (
	perOctaveBits = 6
	perOctave     = 1 << perOctaveBits
	octaves       = 64 - perOctaveBits
)

// Histogram counts spans of time in nanoseconds. Values below 128 are kept exactly,
// others to 0.8 %; count, sum, least and greatest are exact. The zero value is empty and
// ready to use. It takes memory only for the octaves that it has values in. It is not
// safe for concurrent use, and a copy shares its buckets.
type Histogram struct {
	octave   [octaves]*[perOctave]int64
	count    int64
	sum      int64
	min, max int64
}

// Record counts one value. It panics if the value is negative.
func (h *Histogram) Record(ns int64) { h.add(ns, 1) }

func (h *Histogram) add(ns, n int64) {
	o, b := bucket(ns)
	if h.octave[o] == nil {
		h.octave[o] = new([perOctave]int64)
	}
	h.octave[o][b] += n
	if h.count == 0 || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	h.count += n
	h.sum += ns * n
}

// bucket finds where a value is counted. The first octave is that of all values below
// the number of buckets.
func bucket(ns int64) (octave, index int) {
	if ns < 0 {
		panic("figure: a negative span of time")
	}
	octave = max(bits.Len64(uint64(ns))-perOctaveBits, 0)
	return octave, int(ns>>max(octave-1, 0)) & (perOctave - 1)
}

// edges are the least and the greatest value of a bucket.
func edges(octave, index int) (least, greatest int64) {
	if octave == 0 {
		return int64(index), int64(index)
	}
	shift := octave - 1
	least = int64(perOctave|index) << shift
	return least, least + (1<<shift - 1)
}

// Count is how many values there are.
func (h *Histogram) Count() int64 { return h.count }

// Sum is that of all values.
func (h *Histogram) Sum() int64 { return h.sum }

// Min is the least value, 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max is the greatest value, 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Mean is that of all values, 0 if there is none.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.count)
}

// Quantile gives the value of nearest rank: the least that at least the share q of all
// values does not exceed. q is 0 to 1; an empty histogram gives 0.
func (h *Histogram) Quantile(q float64) int64 {
	// 0.07 times 100 is a little above 7 in binary, and must still be the seventh.
	const tiny = 1e-12
	rank := int64(math.Ceil(q * float64(h.count) * (1 - tiny)))
	switch {
	case h.count == 0:
		return 0
	case rank <= 1:
		return h.min
	case rank >= h.count:
		return h.max
	}
	for upTo, n := range h.Cumulative() {
		if n >= rank {
			o, b := bucket(upTo)
			least, greatest := edges(o, b)
			return min(max(least+(greatest-least)/2, h.min), h.max)
		}
	}
	return h.max
}

// Cumulative gives, bucket by bucket from the least, how many values there are up to the
// greatest that the bucket can hold, or that there is. Empty buckets are left out.
func (h *Histogram) Cumulative() iter.Seq2[int64, int64] {
	return func(yield func(upTo, n int64) bool) {
		var n int64
		for o, counts := range h.octave {
			if counts == nil {
				continue
			}
			for b, c := range counts {
				if c == 0 {
					continue
				}
				n += c
				_, greatest := edges(o, b)
				if !yield(min(greatest, h.max), n) {
					return
				}
			}
		}
	}
}

// Merge adds the values of another histogram, which stays as it is.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.count += other.count
	h.sum += other.sum
	for o, counts := range other.octave {
		if counts == nil {
			continue
		}
		if h.octave[o] == nil {
			h.octave[o] = new([perOctave]int64)
		}
		for b, c := range counts {
			h.octave[o][b] += c
		}
	}
}

// Reset takes all values out and keeps the memory.
func (h *Histogram) Reset() {
	for _, counts := range h.octave {
		if counts != nil {
			*counts = [perOctave]int64{}
		}
	}
	h.count, h.sum, h.min, h.max = 0, 0, 0, 0
}
