package storage_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/storage"
)

// planned is a command of the model: it inserts id, unless id is there, or it
// refuses after having inserted it.
type planned struct {
	lane    storage.Lane
	id      int
	refuses bool
}

var errRefused = errors.New("refused")

func (p planned) command() *command {
	c := inserting(p.lane, p.id)
	if p.refuses {
		insert := c.apply
		c.apply = func(tx *storage.Tx) error { return errors.Join(insert(tx), errRefused) }
	}
	return c
}

// outcome runs plan as the model does, one command after the other by lane, and
// returns the ids that remain and which commands fail.
func outcome(plan []planned) (ids []int, fails map[int]bool) {
	order := make([]int, len(plan))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(plan[a].lane, plan[b].lane) })
	fails = make(map[int]bool)
	for _, i := range order {
		p := plan[i]
		if p.refuses || slices.Contains(ids, p.id) {
			fails[i] = true
		} else {
			ids = append(ids, p.id)
		}
	}
	slices.Sort(ids)
	return ids, fails
}

func TestQueuedCommandsBehaveLikeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), storage.Options{})
	closeFile(t, create(t, s, "blue"))
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) planned {
			return planned{
				lane:    storage.Lane(rapid.IntRange(0, 3).Draw(rt, "lane")),
				id:      rapid.IntRange(0, 9).Draw(rt, "id"),
				refuses: rapid.IntRange(0, 3).Draw(rt, "refuses") == 0,
			}
		}), 0, 20).Draw(rt, "plan")
		f := open(t, s, "blue", storage.FileOptions{MaxBatch: rapid.IntRange(1, 8).Draw(rt, "MaxBatch")})
		write(t, f, func(tx *storage.Tx) error {
			_, err := tx.Exec("DELETE FROM item")
			return err
		})
		gate := plugIn(t, f)
		var commands []*command
		for _, p := range plan {
			commands = append(commands, p.command())
			f.Submit(commands[len(commands)-1])
		}
		gate.pull()
		want, fails := outcome(plan)
		for i, c := range commands {
			if err := <-c.settled; (err != nil) != fails[i] {
				rt.Errorf("command %d: got %v, want failure %v", i, err, fails[i])
			}
		}
		if diff := gocmp.Diff(want, items(t, f)); diff != "" {
			rt.Errorf("items (-want +got):\n%s", diff)
		}
		closeFile(t, f)
	})
}
