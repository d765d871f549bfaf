package schedule

import "iter"

// ascending yields a heap's elements in order without changing it. To yield n costs
// n log n: only children of what was yielded can be next.
func (h *heap[T]) ascending() iter.Seq[T] {
	return func(yield func(T) bool) {
		if h.empty() {
			return
		}
		places := map[int]*int{0: new(int)}
		next := heap[int]{
			less:  func(a, b int) bool { return h.less(h.items[a], h.items[b]) },
			place: func(i int) *int { return places[i] },
		}
		next.put(0)
		for !next.empty() {
			i := next.top()
			next.remove(i)
			if !yield(h.items[i]) {
				return
			}
			for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
				places[child] = new(int)
				next.put(child)
			}
		}
	}
}
