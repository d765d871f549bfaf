package namespace

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Calls that are put, put again earlier or later, and answered meanwhile come out
// each once, in the order of their last deadlines.
func TestTimelineGivesEachCallAtItsLastDeadline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		epoch := time.Unix(1000, 0)
		var line timeline
		now := 0
		calls := make([]*call, 8)
		deadlines := map[*call]int{} // of those that wait
		for n := range calls {
			calls[n] = &call{stage: stageDeferred}
		}
		waiting := func(t *rapid.T) *call { return rapid.SampledFrom(calls).Draw(t, "call") }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				c, at := waiting(t), now+rapid.IntRange(0, 20).Draw(t, "in")
				if c.stage == stageDone {
					t.Skip("answered")
				}
				line.put(c, epoch.Add(time.Duration(at)*time.Second))
				deadlines[c] = at
			},
			"answer": func(t *rapid.T) {
				c := waiting(t)
				c.stage = stageDone
				delete(deadlines, c)
			},
			"pass": func(t *rapid.T) {
				now += rapid.IntRange(1, 10).Draw(t, "seconds")
				last := -1
				for c := line.due(epoch.Add(time.Duration(now) * time.Second)); c != nil; c = line.due(epoch.Add(time.Duration(now) * time.Second)) {
					at, ok := deadlines[c]
					if !ok || at > now || at < last {
						t.Fatalf("at %d s came one that waits %v until %d s, after one of %d s", now, ok, at, last)
					}
					last = at
					delete(deadlines, c)
				}
				for _, at := range deadlines {
					if at <= now {
						t.Fatalf("one of %d s has not come at %d s", at, now)
					}
				}
			},
			"": func(t *rapid.T) {
				for n, c := range line {
					if c.slot != n+1 || slices.Index(line, c) != n {
						t.Fatalf("the call at place %d says place %d", n, c.slot-1)
					}
				}
				// The first wait is known, but for those that were answered.
				earliest := -1
				for _, at := range deadlines {
					if earliest < 0 || at < earliest {
						earliest = at
					}
				}
				next, ok := line.next()
				if earliest >= 0 && (!ok || next.After(epoch.Add(time.Duration(earliest)*time.Second))) {
					t.Fatalf("the next is said to be %v, %v; want %d s or earlier", next, ok, earliest)
				}
			},
		})
	})
}
