package claims

import (
	"testing"

	"pgregory.net/rapid"
)

// The bounds must never be above the first ready verb, whatever is committed and
// whatever is rolled back.
func TestReadyKindsNeverHideAVerb(t *testing.T) {
	t.Parallel()
	kinds := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		r := newReadyKinds()
		committed := map[string]map[int64]bool{"a": {}, "b": {}, "c": {}}
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			working := map[string]map[int64]bool{}
			for k, ids := range committed {
				working[k] = map[int64]bool{}
				for id := range ids {
					working[k][id] = true
				}
			}
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				kind := rapid.SampledFrom(kinds).Draw(t, "kind")
				switch rapid.IntRange(0, 2).Draw(t, "step") {
				case 0:
					id := rapid.Int64Range(1, 50).Draw(t, "id")
					working[kind][id] = true
					r.add(kind, id)
				case 1: // deal the first
					if first := least(working[kind]); first != 0 {
						delete(working[kind], first)
						r.raise(kind, first+1)
					}
				case 2: // look for the first
					if first := least(working[kind]); first != 0 {
						r.raise(kind, first)
					} else {
						r.remove(kind)
					}
				}
			}
			if rapid.Bool().Draw(t, "rolled back") {
				r.restore()
			} else {
				committed = working
			}
			for _, kind := range kinds {
				if first := least(committed[kind]); first != 0 && r.of(kind) > first {
					t.Fatalf("kind %s: bound %d hides verb %d", kind, r.of(kind), first)
				}
			}
		}
	})
}

func least(ids map[int64]bool) int64 {
	var first int64
	for id := range ids {
		if first == 0 || id < first {
			first = id
		}
	}
	return first
}
