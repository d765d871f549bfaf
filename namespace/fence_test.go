package namespace_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// drawn draws n tokens, and stores the last.
func drawn(n int) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		tokens := make([]int64, n)
		for k := range tokens {
			f, err := t.Fence()
			if err != nil {
				return namespace.Answer{}, err
			}
			tokens[k] = f
		}
		_, err := t.Exec(`INSERT INTO depot_item (kind, fence) VALUES ('fence', ?)`, tokens[n-1])
		return namespace.Answer{Body: tokens}, err
	}
}

// fencesOf draws tokens in a way and returns those that were acknowledged.
func (w *world) fencesOf(c act) []int64 {
	w.t.Helper()
	tokens, err := namespace.Document[[]int64](w.must(call(c)).Answer)
	if err != nil {
		w.t.Fatal(err)
	}
	return tokens
}

func TestFencesRiseAcrossEverything(t *testing.T) {
	t.Parallel()
	w, vfs := onFaultyDisk(t)
	var all []int64
	draw := func() { all = append(all, w.fencesOf(drawn(3))...) }
	for range 2 {
		draw()
		w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) { // rolled back
			_, err := drawn(5)(t)
			return namespace.Answer{}, errors.Join(err, api.Errorf(api.Conflict, "no"))
		})), api.Conflict)
		draw()
		w.restart(true)
		draw()
		w.restart(false)
		draw()
		w.fails(call(act(panicking)), api.Internal)
		w.recovered()
		draw()
		vfs.Files("ns-a.sqlite-wal").FailSync(1)
		w.fails(call(drawn(5)), api.StorageUnavailable)
		w.recovered()
		draw()
		// As another process would find the files.
		copied := &world{t: t, dir: w.crashCopy(), options: w.options}
		copied.open()
		if got := copied.fencesOf(drawn(1)); got[0] <= all[len(all)-1] {
			t.Errorf("after a kill: got %d behind %d", got[0], all[len(all)-1])
		}
		if err := copied.runtime.Close(); err != nil {
			t.Error(err)
		}
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("the tokens do not rise strictly: %v", all)
	}
	if last := all[len(all)-1]; last >= 1<<53 || all[0] <= 0 {
		t.Errorf("tokens from %d to %d; want them within 1 and 2^53", all[0], last)
	}
}

func TestFencesAreDrawnOnceByMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(func(s *namespace.Settings) { s.Durability = "relaxed" }))
	tokens := make(chan int64, 400)
	many(8, func() {
		for range 50 {
			out, err := w.Do(t.Context(), call(drawn(1)))
			if err != nil {
				t.Errorf("draw: %v", err)
				return
			}
			tokens <- out.Answer.Body.([]int64)[0]
		}
	})
	close(tokens)
	seen := map[int64]bool{}
	for f := range tokens {
		if seen[f] {
			t.Fatalf("token %d was given twice", f)
		}
		seen[f] = true
	}
}
