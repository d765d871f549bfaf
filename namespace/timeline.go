package namespace

import (
	"container/heap"
	"time"
)

// timeline orders the calls that wait for work by when their wait ends. A call
// stands in it once, from its first parking until it is popped; whether its
// time has really come is judged then, so that nothing is removed from the
// middle.
type timeline []*call

func (t timeline) Len() int           { return len(t) }
func (t timeline) Less(i, j int) bool { return t[i].deadline.Before(t[j].deadline) }
func (t timeline) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push and Pop are for container/heap.
func (t *timeline) Push(x any) { *t = append(*t, x.(*call)) }

// Pop is for container/heap.
func (t *timeline) Pop() any {
	old := *t
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return c
}

// add puts a call in with the end of its wait.
func (t *timeline) add(c *call, at time.Time) {
	c.deadline = at
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
