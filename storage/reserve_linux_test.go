package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skerryhq/skerry/storage"
)

// smallDisk mounts a file system of so many MiB.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small file system needs more rights: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillUp takes all the room there is in dir, until the file is removed.
func fillUp(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = file.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	return path
}

// putLarge inserts a row of a few thousand bytes.
func putLarge(f *storage.File, id int) error {
	return f.Write(context.Background(), func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item VALUES (?, ?)", id, strings.Repeat("x", 3000))
		return err
	})
}

func writeIn(f *storage.File, lane storage.Lane, sql string, args ...any) error {
	return f.WriteIn(context.Background(), lane, func(tx *storage.Tx) error {
		_, err := tx.Exec(sql, args...)
		return err
	})
}

// On a disk without any room left, not even for the main file to take over what
// is in the WAL, work can be ended but not begun, until there is room again.
func TestFullDiskLetsWorkEnd(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "8m")
	s := openStore(t, filepath.Join(dir, "data"), storage.Options{})
	closeFile(t, create(t, s, "passive"))
	closeFile(t, create(t, s, "doomed"))
	f := create(t, s, "blue")
	acknowledged := 0
	for ; acknowledged < 200; acknowledged++ {
		if err := putLarge(f, acknowledged); err != nil {
			t.Fatal(err)
		}
	}
	filler := fillUp(t, dir)
	for putLarge(f, acknowledged) == nil {
		acknowledged++
	}
	for id := range 100 {
		if err := writeIn(f, storage.LaneFinish, "DELETE FROM item WHERE id = ?", id); err != nil {
			t.Fatalf("delete %d on a full disk: %v", id, err)
		}
		if err := putLarge(f, 5000+id); !errors.Is(err, storage.ErrDiskFull) {
			t.Fatalf("insert on a full disk: got %v, want ErrDiskFull", err)
		}
	}
	if err := writeIn(f, storage.LaneNormal, "DELETE FROM item WHERE id = 9999"); err != nil {
		t.Errorf("a command that changes nothing: got %v, want it to need no room", err)
	}
	if _, err := s.OpenFile(t.Context(), "new", storage.FileOptions{Create: true}); !errors.Is(err, storage.ErrDiskFull) {
		t.Errorf("create on a full disk: got %v, want ErrDiskFull", err)
	}
	passive := open(t, s, "passive", storage.FileOptions{})
	if err := writeIn(passive, storage.LaneUrgent, "INSERT INTO item VALUES (1, 'awake')"); err != nil {
		t.Errorf("urgent command of a file opened on a full disk: %v", err)
	}
	closeFile(t, passive)
	if err := s.Remove(t.Context(), "doomed"); err != nil {
		t.Errorf("remove a file on a full disk: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := putLarge(f, 9000); err != nil {
		t.Errorf("insert when there is room again: %v", err)
	}
	if got, want := len(items(t, f)), acknowledged-100+1; got != want {
		t.Errorf("items: got %d, want %d", got, want)
	}
	closeFile(t, f)
}
