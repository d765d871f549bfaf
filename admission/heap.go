package admission

// entry is an item in a heap under its key: the lower major first, then the
// lower minor. The heap keeps *place equal to the entry's index, so that an item
// can be moved or taken out without a search.
type entry[T any] struct {
	major int64
	minor uint64
	place *int
	item  T
}

func (e *entry[T]) before(f *entry[T]) bool {
	if e.major != f.major {
		return e.major < f.major
	}
	return e.minor < f.minor
}

// heap is a binary min-heap. Keys lie in the entries, not behind their items: a
// comparison then costs no cache miss, which is most of the time in a queue of
// thousands.
type heap[T any] struct {
	entries []entry[T]
}

func (h *heap[T]) len() int { return len(h.entries) }

func (h *heap[T]) root() *entry[T] { return &h.entries[0] }

func (h *heap[T]) push(e entry[T]) {
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, e)
}

// fix gives the entry at index i a new key.
func (h *heap[T]) fix(i int, major int64, minor uint64) {
	e := h.entries[i]
	e.major, e.minor = major, minor
	h.settle(i, e)
}

// remove takes the entry at index i out.
func (h *heap[T]) remove(i int) {
	last := len(h.entries) - 1
	moved := h.entries[last]
	h.entries[last] = entry[T]{}
	h.entries = h.entries[:last]
	if i < last {
		h.settle(i, moved)
	}
}

// settle stores e at index i, or where its key puts it from there.
func (h *heap[T]) settle(i int, e entry[T]) {
	if i > 0 && e.before(&h.entries[(i-1)/2]) {
		h.up(i, e)
		return
	}
	h.down(i, e)
}

func (h *heap[T]) up(i int, e entry[T]) {
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h.entries[parent]) {
			break
		}
		h.put(i, h.entries[parent])
		i = parent
	}
	h.put(i, e)
}

func (h *heap[T]) down(i int, e entry[T]) {
	for {
		child := 2*i + 1
		if child >= len(h.entries) {
			break
		}
		if right := child + 1; right < len(h.entries) && h.entries[right].before(&h.entries[child]) {
			child = right
		}
		if !h.entries[child].before(&e) {
			break
		}
		h.put(i, h.entries[child])
		i = child
	}
	h.put(i, e)
}

func (h *heap[T]) put(i int, e entry[T]) {
	h.entries[i] = e
	*e.place = i
}
