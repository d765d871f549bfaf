package namespace

import (
	"container/heap"
	"time"
)

// timeline orders the calls that wait by when their wait ends. A call stands in it
// at most once, from when its wait began until it is popped; whether its time has
// really come is judged then, so that nothing is removed from the middle.
type timeline []*call

func (t timeline) Len() int           { return len(t) }
func (t timeline) Less(i, j int) bool { return t[i].deadline.Before(t[j].deadline) }
func (t timeline) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].slot, t[j].slot = i+1, j+1
}

// Push and Pop are for container/heap.
func (t *timeline) Push(x any) {
	c := x.(*call)
	*t = append(*t, c)
	c.slot = len(*t)
}

// Pop is for container/heap.
func (t *timeline) Pop() any {
	old := *t
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	c.slot = 0
	return c
}

// put sets when the wait of a call ends.
func (t *timeline) put(c *call, at time.Time) {
	c.deadline = at
	if c.slot > 0 {
		heap.Fix(t, c.slot-1)
		return
	}
	heap.Push(t, c)
}

// due pops the first call whose time has come, or nil.
func (t *timeline) due(now time.Time) *call {
	for len(*t) > 0 {
		c := (*t)[0]
		if c.stage != stageDone && c.deadline.After(now) {
			return nil
		}
		heap.Pop(t)
		if c.stage != stageDone {
			return c
		}
	}
	return nil
}

// next is when the first wait ends, if any call waits.
func (t timeline) next() (time.Time, bool) {
	if len(t) == 0 {
		return time.Time{}, false
	}
	return t[0].deadline, true
}
