package storage_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
	"github.com/skerryhq/skerry/storage/storagetest"
)

func TestFailedSyncEndsServiceUntilReopened(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "sync")
	s := openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()})
	failed := make(chan error, 2)
	f := open(t, s, "blue", storage.FileOptions{Create: true, Failed: func(err error) { failed <- err }})
	mustInsert(t, f, 1, 2)

	p := plugIn(t, f)
	vfs.Files("-wal").FailSync(1)
	lost := inserting(storage.LaneNormal, 3)
	// Queued behind the commit that fails.
	behind := inserting(storage.LaneNormal, 4)
	lost.onSettle = func(error) { f.Submit(behind) }
	f.Submit(lost)
	p.pull()
	if err := <-lost.settled; !errors.Is(err, storage.ErrIO) || !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("command of the failed commit: got %v, want ErrIO", err)
	}
	if err := <-behind.settled; !errors.Is(err, storage.ErrIO) {
		t.Errorf("command behind it: got %v, want ErrIO", err)
	}
	if err := <-failed; !errors.Is(err, storage.ErrIO) {
		t.Errorf("Failed: got %v, want ErrIO", err)
	}
	if err := f.View(t.Context(), func(*storage.Tx) error { return nil }); !errors.Is(err, storage.ErrIO) {
		t.Errorf("view of the failed file: got %v, want ErrIO", err)
	}
	syncs := vfs.Syncs()
	if err := f.Close(); err != nil {
		t.Errorf("close failed file: %v", err)
	}
	if got := vfs.Syncs() - syncs; got != 0 {
		t.Errorf("closing the failed file synced %d times: it must not checkpoint", got)
	}
	if len(failed) != 0 || f.Stats().Failures != 1 {
		t.Errorf("Failed was called again, or Failures is %d, want 1", f.Stats().Failures)
	}

	syncs = vfs.Syncs()
	walSyncs := vfs.Files("-wal").Syncs()
	f = open(t, s, "blue", storage.FileOptions{})
	if main := vfs.Syncs() - syncs - (vfs.Files("-wal").Syncs() - walSyncs); main == 0 {
		t.Error("opening after a failed sync did not sync the main file")
	}
	if got := items(t, f); !slices.Contains(got, 1) || !slices.Contains(got, 2) || slices.Contains(got, 4) {
		t.Errorf("items when opened again: got %v, want 1 and 2, perhaps 3, not 4", got)
	}
	mustInsert(t, f, 5)
}

func TestReopeningFailsWhileTheDiskDoes(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "broken")
	s := openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()})
	f := create(t, s, "blue")
	mustInsert(t, f, 1)
	vfs.FailSyncs(true)
	if err := insert(f, 2); !errors.Is(err, storage.ErrIO) {
		t.Fatalf("insert: got %v, want ErrIO", err)
	}
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{}); !errors.Is(err, storage.ErrIO) {
		t.Fatalf("OpenFile on a broken disk: got %v, want ErrIO", err)
	}
	vfs.FailSyncs(false)
	f = open(t, s, "blue", storage.FileOptions{})
	if got := items(t, f); !slices.Contains(got, 1) {
		t.Errorf("items: got %v, want 1 among them", got)
	}
}

func TestFailedCheckpointEndsService(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "checkpoint")
	s := openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()})
	failed := make(chan error, 1)
	f := open(t, s, "blue", storage.FileOptions{Create: true, Failed: func(err error) { failed <- err }})
	// Large enough for a checkpoint to follow. Its first sync is of the WAL, the
	// second of the main file.
	p := plugIn(t, f)
	grow := newCommand(storage.LaneNormal, func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item VALUES (1, ?)", strings.Repeat("x", 5_000_000))
		return err
	})
	grow.onSettle = func(error) { vfs.FailSync(2) }
	f.Submit(grow)
	p.pull()
	if err := <-grow.settled; err != nil {
		t.Fatalf("growing command: %v", err)
	}
	if err := <-failed; !errors.Is(err, storage.ErrIO) {
		t.Errorf("Failed: got %v, want ErrIO", err)
	}
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1}, items(t, open(t, s, "blue", storage.FileOptions{}))); diff != "" {
		t.Errorf("items when opened again (-want +got):\n%s", diff)
	}
}

func TestPanickingCommandFailsTheFile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		op   func() *command
		// What the command itself and its neighbour in the commit get.
		own, neighbour func(error) bool
		ids            []int
	}{
		{
			name: "in Apply",
			op: func() *command {
				return newCommand(storage.LaneNormal, func(tx *storage.Tx) error { panic("secret") })
			},
			own:       isPanic,
			neighbour: func(err error) bool { return errors.Is(err, storage.ErrAborted) && !isPanic(err) },
			ids:       []int{1},
		},
		{
			name: "in Settle",
			op: func() *command {
				c := inserting(storage.LaneNormal, 3)
				c.onSettle = func(error) { panic("secret") }
				return c
			},
			own:       func(err error) bool { return err == nil },
			neighbour: func(err error) bool { return err == nil },
			ids:       []int{1, 2, 3},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, t.TempDir(), storage.Options{})
			failed := make(chan error, 1)
			rolledBack := 0
			f := open(t, s, "blue", storage.FileOptions{
				Create:     true,
				Failed:     func(err error) { failed <- err },
				RolledBack: func() { rolledBack++ },
			})
			mustInsert(t, f, 1)
			p := plugIn(t, f)
			neighbour, bad := inserting(storage.LaneNormal, 2), tc.op()
			f.Submit(neighbour)
			f.Submit(bad)
			p.pull()
			if err := <-bad.settled; !tc.own(err) {
				t.Errorf("panicking command: got %v", err)
			} else if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error prints the value of the panic: %v", err)
			}
			if err := <-neighbour.settled; !tc.neighbour(err) {
				t.Errorf("neighbour: got %v", err)
			}
			if err := <-failed; !isPanic(err) {
				t.Errorf("Failed: got %v, want a PanicError", err)
			}
			if err := insert(f, 9); !errors.Is(err, storage.ErrAborted) || isPanic(err) {
				t.Errorf("later command: got %v, want ErrAborted", err)
			}
			if err := f.Abort(); err != nil {
				t.Fatal(err)
			}
			if len(bad.settled) != 0 {
				t.Error("panicking command was settled twice")
			}
			if wantRollback := len(tc.ids) == 1; (rolledBack > 0) != wantRollback {
				t.Errorf("RolledBack called %d times", rolledBack)
			}
			if diff := cmp.Diff(tc.ids, items(t, open(t, s, "blue", storage.FileOptions{}))); diff != "" {
				t.Errorf("items when opened again (-want +got):\n%s", diff)
			}
		})
	}
}

func isPanic(err error) bool {
	var p *storage.PanicError
	return errors.As(err, &p) && p.Value == "secret" && len(p.Stack) > 0
}

func TestPanicInBatchIsTheFirstCommands(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
	p := plugIn(t, f)
	var all []*adder
	for id := range 3 {
		a := &adder{command: inserting(storage.LaneNormal, id), key: 1, id: id}
		a.group = func(*storage.Tx, []int) error { panic("secret") }
		all = append(all, a)
		f.Submit(a)
	}
	p.pull()
	for i, a := range all {
		err := <-a.settled
		if i == 0 && !isPanic(err) || i > 0 && !errors.Is(err, storage.ErrAborted) {
			t.Errorf("command %d: got %v", i, err)
		}
	}
}

func TestFullDiskKeepsServing(t *testing.T) {
	t.Parallel()
	vfs := storagetest.NewVFS(t, "full")
	s := openStore(t, t.TempDir(), storage.Options{VFS: vfs.Name()})
	failed := make(chan error, 1)
	f := open(t, s, "blue", storage.FileOptions{Create: true, Failed: func(err error) { failed <- err }})
	mustInsert(t, f, 1, 2, 3)

	p := plugIn(t, f)
	vfs.Full(true)
	grow := newCommand(storage.LaneNormal, func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item VALUES (100, ?)", strings.Repeat("x", 100_000))
		return err
	})
	finish := newCommand(storage.LaneFinish, func(tx *storage.Tx) error {
		_, err := tx.Exec("DELETE FROM item WHERE id = 2")
		return err
	})
	f.Submit(grow)
	f.Submit(finish)
	p.pull()
	if err := <-grow.settled; !errors.Is(err, storage.ErrDiskFull) || !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("growing command: got %v, want ErrDiskFull", err)
	}
	if err := <-finish.settled; err != nil {
		t.Errorf("finishing command: got %v, want it done in the space of the WAL", err)
	}
	if diff := cmp.Diff([]int{1, 3}, items(t, f)); diff != "" {
		t.Errorf("items on a full disk (-want +got):\n%s", diff)
	}
	vfs.Full(false)
	mustInsert(t, f, 4)
	closeFile(t, f)
	if len(failed) != 0 {
		t.Errorf("file failed: %v", <-failed)
	}
	if diff := cmp.Diff([]int{1, 3, 4}, items(t, open(t, s, "blue", storage.FileOptions{}))); diff != "" {
		t.Errorf("items when opened again (-want +got):\n%s", diff)
	}
}

func TestDamagedPageFailsTheFileThatReadsIt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		read func(*storage.File) error
	}{
		{"command", func(f *storage.File) error {
			return f.Write(t.Context(), func(tx *storage.Tx) error {
				_, err := tx.Exec("DELETE FROM item WHERE id > 0")
				return err
			})
		}},
		{"view", func(f *storage.File) error {
			return f.View(t.Context(), func(tx *storage.Tx) error {
				_, err := tx.QueryRow("SELECT sum(length(body)) FROM item", nil, new(int))
				return err
			})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, dir, storage.Options{})
			f := create(t, s, "blue")
			for id := range 50 {
				mustInsert(t, f, id+1)
			}
			err := f.Write(t.Context(), func(tx *storage.Tx) error {
				_, err := tx.Exec("UPDATE item SET body = ?", strings.Repeat("x", 1000))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			closeFile(t, f)
			damagePages(t, diskPath(t, dir, "blue"))

			failed := make(chan error, 1)
			f = open(t, s, "blue", storage.FileOptions{Failed: func(err error) { failed <- err }})
			if err := tc.read(f); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("reading: got %v, want ErrCorrupt", err)
			}
			if err := <-failed; !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("Failed: got %v, want ErrCorrupt", err)
			}
			if err := insert(f, 1000); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("later command: got %v, want ErrCorrupt", err)
			}
			if err := f.Abort(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{}); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("opening again: got %v, want ErrCorrupt from the check", err)
			}
		})
	}
}

// damagePages overwrites all pages behind those of the schema.
func damagePages(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 6 * 4096; i < len(data); i++ {
		data[i] = 0xa5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWALOfACrashIsWrittenOutBeforeServing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := create(t, openStore(t, dir, storage.Options{}), "blue")
	mustInsert(t, f, 1)
	crashed := copyFiles(t, dir, "blue")
	vfs := storagetest.NewVFS(t, "crash")
	wal := vfs.Files("-wal")
	s := openStore(t, crashed, storage.Options{VFS: vfs.Name()})
	open(t, s, "blue", storage.FileOptions{})
	if main := vfs.Syncs() - wal.Syncs(); main == 0 {
		t.Error("opening after a crash did not sync the main file")
	}
	if info, err := os.Stat(diskPath(t, crashed, "blue") + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("WAL after opening: got %v, %v, want an empty one", info, err)
	}
}
