package admission

// history is a first-in first-out queue of instants in a circular buffer. Its
// capacity is zero or a power of two, and at most twice its highest length.
type history struct {
	buffer []int64
	first  int
	length int
}

func (h *history) len() int { return h.length }

// at returns the i-th oldest instant.
func (h *history) at(i int) int64 {
	return h.buffer[(h.first+i)&(len(h.buffer)-1)]
}

// last returns the newest instant of a history that is not empty.
func (h *history) last() int64 { return h.at(h.length - 1) }

func (h *history) push(t int64) {
	if h.length == len(h.buffer) {
		h.grow()
	}
	h.buffer[(h.first+h.length)&(len(h.buffer)-1)] = t
	h.length++
}

// dropUntil drops the instants up to and including t.
func (h *history) dropUntil(t int64) {
	for h.length > 0 && h.at(0) <= t {
		h.first = (h.first + 1) & (len(h.buffer) - 1)
		h.length--
	}
}

func (h *history) grow() {
	larger := make([]int64, max(1, 2*len(h.buffer)))
	for i := range h.length {
		larger[i] = h.at(i)
	}
	h.buffer, h.first = larger, 0
}
