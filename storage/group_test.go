package storage_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
	"github.com/skerryhq/skerry/storage/storagetest"
)

func TestSettledWriteSurvivesACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	f := create(t, s, "blue")
	for id := 1; id <= 5; id++ {
		mustInsert(t, f, id)
		crashed := openStore(t, copyFiles(t, dir, "blue"), storage.Options{})
		copied := open(t, crashed, "blue", storage.FileOptions{})
		if got := items(t, copied); len(got) != id {
			t.Fatalf("after a crash behind insert %d: got items %v", id, got)
		}
		closeFile(t, copied)
	}
}

func TestFailingCommandRollsBackAlone(t *testing.T) {
	t.Parallel()
	rolledBack := 0
	s := openStore(t, t.TempDir(), storage.Options{})
	f := open(t, s, "blue", storage.FileOptions{Create: true, RolledBack: func() { rolledBack++ }})
	refused := errors.New("refused")
	p := plugIn(t, f)
	good1, good2 := inserting(storage.LaneNormal, 1), inserting(storage.LaneNormal, 3)
	bad := newCommand(storage.LaneNormal, func(tx *storage.Tx) error {
		if _, err := tx.Exec("INSERT INTO item (id, body) VALUES (2, 'x')"); err != nil {
			return err
		}
		return refused
	})
	duplicate := inserting(storage.LaneNormal, 1)
	for _, c := range []*command{good1, bad, duplicate, good2} {
		f.Submit(c)
	}
	p.pull()
	if err := <-bad.settled; err != refused {
		t.Errorf("bad command: got %v, want its own error", err)
	}
	if err := <-duplicate.settled; !errors.Is(err, storage.ErrConstraint) || errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("duplicate: got %v, want ErrConstraint alone", err)
	}
	if err := errors.Join(<-good1.settled, <-good2.settled); err != nil {
		t.Errorf("good commands: %v", err)
	}
	if diff := cmp.Diff([]int{1, 3}, items(t, f)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	closeFile(t, f)
	if rolledBack != 2 {
		t.Errorf("RolledBack called %d times, want 2", rolledBack)
	}
}

func TestLanesOrderOneCommit(t *testing.T) {
	t.Parallel()
	var applied []string
	var flushes []int
	f := open(t, openStore(t, t.TempDir(), storage.Options{}), "blue", storage.FileOptions{
		Create:   true,
		MaxBatch: 3,
		Flushed:  func() { flushes = append(flushes, len(applied)) },
	})
	p := plugIn(t, f)
	var all []*command
	for i, lane := range []storage.Lane{storage.LaneAdmitted, storage.LaneNormal, storage.LaneFinish, storage.LaneUrgent, storage.LaneAdmitted, storage.LaneFinish, storage.LaneUrgent} {
		c := newCommand(lane, func(*storage.Tx) error {
			applied = append(applied, fmt.Sprintf("%d:%d", lane, i))
			return nil
		})
		all = append(all, c)
		f.Submit(c)
	}
	p.pull()
	closeFile(t, f)
	for _, c := range all {
		if err := <-c.settled; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"0:3", "0:6", "1:2", "1:5", "2:1", "3:0", "3:4"}, applied); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 3, 6, 7}, flushes); diff != "" {
		t.Errorf("commands applied at each flush (-want +got):\n%s", diff)
	}
}

func TestQueuedCommandsShareASync(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "group")
	f := create(t, openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()}), "blue")
	mustInsert(t, f, 1000) // the first frame of a WAL costs syncs of its own
	p := plugIn(t, f)
	before := vfs.Syncs()
	var all []*command
	for id := range 32 {
		all = append(all, inserting(storage.LaneNormal, id))
		f.Submit(all[id])
	}
	p.pull()
	for _, c := range all {
		if err := <-c.settled; err != nil {
			t.Fatal(err)
		}
	}
	if got := vfs.Syncs() - before; got != 1 {
		t.Errorf("syncs for 32 queued commands: got %d, want 1", got)
	}
	st := f.Stats()
	if st.Batches[5] != 1 || st.Ops != 34 || st.Commits != 3 {
		t.Errorf("stats: got %+v, want one batch of 32 among 3 commits of 34 commands", st)
	}
}

func TestCommandsThatWriteNothingCostNoSync(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "quiet")
	f := create(t, openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()}), "blue")
	mustInsert(t, f, 1)
	before := vfs.Syncs()
	err := f.Write(t.Context(), func(tx *storage.Tx) error {
		_, err := tx.Exec("UPDATE item SET body = 'x' WHERE id = 99")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := vfs.Syncs() - before; got != 0 {
		t.Errorf("syncs: got %d, want 0", got)
	}
}

func TestRelaxedFileSyncsOnlyWhatAsksForIt(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "relaxed")
	f := create(t, openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()}), "blue")
	mustInsert(t, f, 1)
	wal := vfs.Files("-wal")
	steps := []struct {
		name    string
		relaxed bool
		require bool
		want    int64
	}{
		{"full", false, false, 1},
		{"full and required", false, true, 1},
		{"relaxed", true, false, 0},
		{"relaxed and required", true, true, 1},
		{"relaxed again", true, false, 0},
		{"full again", false, false, 1},
	}
	for i, step := range steps {
		f.SetRelaxed(step.relaxed)
		before := wal.Syncs()
		err := f.Write(t.Context(), func(tx *storage.Tx) error {
			if step.require {
				tx.RequireSync()
			}
			_, err := tx.Exec("INSERT INTO item VALUES (?, 'x')", 10+i)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := wal.Syncs() - before; got != step.want {
			t.Errorf("%s: got %d syncs, want %d", step.name, got, step.want)
		}
	}
}

func TestRequiredSyncWorksUnderAView(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "pinned")
	f := create(t, openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()}), "blue")
	mustInsert(t, f, 1)
	f.SetRelaxed(true)
	err := f.View(t.Context(), func(tx *storage.Tx) error {
		if _, err := tx.QueryRow("SELECT count(*) FROM item", nil, new(int)); err != nil {
			return err
		}
		before := vfs.Files("-wal").Syncs()
		err := f.Write(t.Context(), func(tx *storage.Tx) error {
			tx.RequireSync()
			_, err := tx.Exec("INSERT INTO item VALUES (2, 'x')")
			return err
		})
		if got := vfs.Files("-wal").Syncs() - before; err == nil && got != 1 {
			err = fmt.Errorf("got %d syncs of the WAL, want 1", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// adder is a Batcher that inserts its id.
type adder struct {
	*command
	key   any
	id    int
	group func(tx *storage.Tx, ids []int) error
}

func (a *adder) Batch() any { return a.key }

func (a *adder) ApplyAll(tx *storage.Tx, ops []storage.Op) error {
	var ids []int
	for _, op := range ops {
		ids = append(ids, op.(*adder).id)
	}
	return a.group(tx, ids)
}

func TestNeighboursAreAppliedTogether(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		groups error // of ApplyAll
		want   []string
	}{
		{"together", nil, []string{"[1 2 3]", "4", "[5 6]", "7", "8"}},
		{"one by one after a failure", errors.New("no"), []string{"[1 2 3]", "1", "2", "3", "4", "[5 6]", "5", "6", "7", "8"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var runs []string
			f := create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
			put := func(tx *storage.Tx, id int) error {
				_, err := tx.Exec("INSERT INTO item VALUES (?, 'x')", id)
				return err
			}
			p := plugIn(t, f)
			var all []*adder
			for i, key := range []any{"a", "a", "a", nil, "b", "b", "a", nil} {
				id := i + 1
				a := &adder{key: key, id: id}
				a.command = newCommand(storage.LaneNormal, func(tx *storage.Tx) error {
					runs = append(runs, fmt.Sprint(id))
					return put(tx, id)
				})
				a.group = func(tx *storage.Tx, ids []int) error {
					runs = append(runs, fmt.Sprint(ids))
					for _, id := range ids {
						if err := put(tx, id); err != nil {
							return err
						}
					}
					return tc.groups
				}
				all = append(all, a)
				f.Submit(a)
			}
			p.pull()
			for _, a := range all {
				if err := <-a.settled; err != nil {
					t.Errorf("command %d: %v", a.id, err)
				}
			}
			if diff := cmp.Diff(tc.want, runs); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if got := items(t, f); len(got) != 8 {
				t.Errorf("items: got %v, want 1 to 8", got)
			}
		})
	}
}

func TestCloseCommitsAndAbortDropsTheQueue(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func(*storage.File) error
		want error
		ids  []int
	}{
		{"close", (*storage.File).Close, nil, []int{1, 2}},
		{"abort", (*storage.File).Abort, storage.ErrClosed, []int{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, t.TempDir(), storage.Options{})
			f := create(t, s, "blue")
			mustInsert(t, f, 1)
			p := plugIn(t, f)
			queued := inserting(storage.LaneNormal, 2)
			f.Submit(queued)
			ended := make(chan error)
			go func() { ended <- tc.end(f) }()
			for f.View(t.Context(), func(*storage.Tx) error { return nil }) == nil {
				runtime.Gosched() // until the end has begun
			}
			p.pull()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if err := <-queued.settled; !errors.Is(err, tc.want) {
				t.Errorf("queued command: got %v, want %v", err, tc.want)
			}
			after := inserting(storage.LaneNormal, 4)
			f.Submit(after)
			if err := <-after.settled; !errors.Is(err, storage.ErrClosed) || !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("after the end: got %v, want ErrClosed", err)
			}
			if err := f.View(t.Context(), func(*storage.Tx) error { return nil }); !errors.Is(err, storage.ErrClosed) {
				t.Errorf("view after the end: got %v, want ErrClosed", err)
			}
			if got := items(t, open(t, s, "blue", storage.FileOptions{})); !slices.Equal(got, tc.ids) {
				t.Errorf("items when opened again: got %v, want %v", got, tc.ids)
			}
		})
	}
}

func TestCancelledWriteIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
	p := plugIn(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := f.Write(ctx, func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item VALUES (1, 'x')")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Write: got %v, want context.Canceled", err)
	}
	p.pull()
	mustInsert(t, f, 2)
	if got := items(t, f); !slices.Equal(got, []int{2}) {
		t.Errorf("items: got %v, want [2]", got)
	}
}

func TestStatsMeasureCommitsWithTheGivenClock(t *testing.T) {
	t.Parallel()
	tick := time.Unix(0, 0)
	now := func() time.Time { tick = tick.Add(time.Second); return tick }
	f := create(t, openStore(t, t.TempDir(), storage.Options{Now: now}), "blue")
	mustInsert(t, f, 1, 2)
	closeFile(t, f)
	st := f.Stats()
	if st.CommitTime != 2*time.Second || st.WALBytes == 0 {
		t.Errorf("stats: got %+v, want 2 s of commits and a WAL in use", st)
	}
}
