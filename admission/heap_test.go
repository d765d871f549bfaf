package admission

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHeapKeepsTheLowestAtItsRoot(t *testing.T) {
	t.Parallel()
	type item struct {
		major int64
		minor uint64
		place int
	}
	rapid.Check(t, func(t *rapid.T) {
		var h heap[*item]
		var all []*item
		major := rapid.Int64Range(-3, 3)
		for minor := range uint64(rapid.IntRange(1, 100).Draw(t, "steps")) {
			switch do := rapid.IntRange(0, 3).Draw(t, "do"); {
			case do < 2 || len(all) == 0:
				it := &item{major: major.Draw(t, "major"), minor: minor}
				all = append(all, it)
				h.push(entry[*item]{major: it.major, minor: it.minor, place: &it.place, item: it})
			case do == 2:
				it := all[rapid.IntRange(0, len(all)-1).Draw(t, "fixed")]
				it.major, it.minor = major.Draw(t, "major"), minor
				h.fix(it.place, it.major, it.minor)
			default:
				i := rapid.IntRange(0, len(all)-1).Draw(t, "removed")
				h.remove(all[i].place)
				all = slices.Delete(all, i, i+1)
			}
			if h.len() != len(all) {
				t.Fatalf("length %d, want %d", h.len(), len(all))
			}
			for _, it := range all {
				if h.entries[it.place].item != it {
					t.Fatalf("%+v is not at its place", *it)
				}
			}
			lowest := func(a, b *item) int {
				return cmp.Or(cmp.Compare(a.major, b.major), cmp.Compare(a.minor, b.minor))
			}
			if len(all) > 0 && h.root().item != slices.MinFunc(all, lowest) {
				t.Fatalf("root %+v is not the lowest", *h.root().item)
			}
		}
	})
}
