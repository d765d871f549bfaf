package event

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func byTimeThenOrder(a, b Event) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq))
}

// TestQueueIsASortedList steps a queue and a list that is sorted after every push.
func TestQueueIsASortedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var list []Event
		// Few times, so that many events share one.
		times := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64())
		pushes := rapid.IntRange(0, 3)
		var seq uint64
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if pushes.Draw(t, "push") > 0 {
				seq++
				e := Event{
					At: times.Draw(t, "at"), Seq: seq, Kind: rapid.Uint8().Draw(t, "kind"),
					Actor: rapid.Int32().Draw(t, "actor"), Arg: rapid.Int64().Draw(t, "arg"),
				}
				q.Push(e.At, e.Kind, e.Actor, e.Arg)
				list = append(list, e)
				slices.SortFunc(list, byTimeThenOrder)
			} else {
				list = popBoth(t, &q, list)
			}
			if q.Len() != len(list) {
				t.Fatalf("length %d, want %d", q.Len(), len(list))
			}
		}
		for len(list) > 0 {
			list = popBoth(t, &q, list)
		}
		popBoth(t, &q, nil)
	})
}

// popBoth pops the first event of both and compares it with what was to be seen before.
func popBoth(t *rapid.T, q *Queue, list []Event) []Event {
	seen, there := q.Peek()
	got, ok := q.Pop()
	if got != seen || ok != there {
		t.Fatalf("popped %+v, %t, having seen %+v, %t", got, ok, seen, there)
	}
	if len(list) == 0 {
		if ok || got != (Event{}) {
			t.Fatalf("popped %+v, %t of an empty queue", got, ok)
		}
		return nil
	}
	if !ok || got != list[0] {
		t.Fatalf("popped %+v, %t, want %+v", got, ok, list[0])
	}
	return list[1:]
}

func TestEventsAtOneTimeComeInTheOrderOfTheirPushes(t *testing.T) {
	t.Parallel()
	var q Queue
	for i := range int64(100) {
		q.Push(7, 0, 0, i)
	}
	for i := range int64(100) {
		e, _ := q.Pop()
		if e.Arg != i {
			t.Fatalf("event %d came as number %d", e.Arg, i)
		}
		// What is pushed in between comes behind all that were there.
		q.Push(7, 0, 0, 100+i)
	}
	if e, _ := q.Pop(); e.Arg != 100 || e.Seq != 101 {
		t.Errorf("got %+v, want the first of the second hundred", e)
	}
}

func TestQueueAllocatesNothingOnceItHasGrown(t *testing.T) {
	// Not parallel: allocations are counted for the whole process.
	var q Queue
	fill(&q, 1000)
	gaps := gapsOf()
	i := 0
	allocs := testing.AllocsPerRun(10_000, func() {
		turn(&q, gaps[i&(len(gaps)-1)])
		i++
	})
	if allocs != 0 {
		t.Errorf("%v allocations a push and pop, want 0", allocs)
	}
}

// gapsOf are scrambled times to the next event of an actor.
func gapsOf() []int64 {
	gaps := make([]int64, 4096)
	x := uint64(1)
	for i := range gaps {
		x = x*6364136223846793005 + 1442695040888963407
		gaps[i] = int64(x >> 44)
	}
	return gaps
}

func fill(q *Queue, n int) {
	gaps := gapsOf()
	for i := range n {
		q.Push(gaps[i&(len(gaps)-1)], 1, int32(i), 0)
	}
}

// turn pops an event and pushes its actor's next one.
func turn(q *Queue, gap int64) {
	e, _ := q.Pop()
	q.Push(e.At+gap, e.Kind, e.Actor, e.Arg)
}

func BenchmarkQueue(b *testing.B) {
	for _, bench := range []struct {
		name string
		n    int
	}{{"10 queued", 10}, {"1000 queued", 1000}, {"100000 queued", 100_000}} {
		b.Run(bench.name, func(b *testing.B) {
			var q Queue
			fill(&q, bench.n)
			gaps := gapsOf()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				turn(&q, gaps[i&(len(gaps)-1)])
				i++
			}
		})
	}
}
