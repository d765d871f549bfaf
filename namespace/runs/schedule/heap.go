package schedule

// heap is a binary heap whose elements know their places, so that any of them can be
// moved or removed. The zero value lacks its functions.
type heap[T any] struct {
	items []T
	less  func(a, b T) bool
	// place is where an element keeps its place, counted from 1; 0 is not in the
	// heap.
	place func(T) *int
}

func (h *heap[T]) empty() bool { return len(h.items) == 0 }

// top is the least element of a heap that is not empty.
func (h *heap[T]) top() T { return h.items[0] }

// put adds an element, or moves one whose order has changed.
func (h *heap[T]) put(x T) {
	at := *h.place(x)
	if at == 0 {
		h.items = append(h.items, x)
		at = len(h.items)
		*h.place(x) = at
	}
	if !h.up(at - 1) {
		h.down(at - 1)
	}
}

// remove takes an element out, if it is in the heap.
func (h *heap[T]) remove(x T) {
	at := *h.place(x)
	if at == 0 {
		return
	}
	last := len(h.items) - 1
	h.swap(at-1, last)
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	*h.place(x) = 0
	if at-1 < last && !h.up(at-1) {
		h.down(at - 1)
	}
}

func (h *heap[T]) up(i int) (moved bool) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			break
		}
		h.swap(i, parent)
		i, moved = parent, true
	}
	return moved
}

func (h *heap[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h.items) {
			return
		}
		if right := least + 1; right < len(h.items) && h.less(h.items[right], h.items[least]) {
			least = right
		}
		if !h.less(h.items[least], h.items[i]) {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h *heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]), *h.place(h.items[j]) = i+1, j+1
}
