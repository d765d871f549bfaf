package storagetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/storage"
	"github.com/skerryhq/skerry/storage/storagetest"
)

// files creates the files blue and red on a VFS with faults.
func files(t *testing.T) (vfs *storagetest.VFS, blue, red *storage.File) {
	t.Helper()
	vfs = storagetest.NewVFS(t, "faulty")
	s, err := storage.Open(t.TempDir(), storage.Options{VFS: vfs.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	open := func(name string) *storage.File {
		f, err := s.OpenFile(t.Context(), name, storage.FileOptions{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Abort() })
		return f
	}
	blue, red = open("blue"), open("red")
	for _, f := range []*storage.File{blue, red} {
		if err := exec(f, "CREATE TABLE line (text TEXT) STRICT"); err != nil {
			t.Fatal(err)
		}
	}
	return vfs, blue, red
}

func exec(f *storage.File, sql string, args ...any) error {
	return f.Write(context.Background(), func(tx *storage.Tx) error {
		_, err := tx.Exec(sql, args...)
		return err
	})
}

func add(f *storage.File, n int) error {
	return exec(f, "INSERT INTO line VALUES (?)", strings.Repeat("x", n))
}

func TestFaultsKeepToTheirFiles(t *testing.T) {
	t.Parallel()
	vfs, blue, red := files(t)
	faults := vfs.Files("ns-blue")
	all, ofBlue := vfs.Syncs(), faults.Syncs()
	if err := errors.Join(add(blue, 1), add(red, 1)); err != nil {
		t.Fatal(err)
	}
	if vfs.Syncs()-all != 2 || faults.Syncs()-ofBlue != 1 {
		t.Errorf("syncs: got %d, of blue %d, want 2 and 1", vfs.Syncs()-all, faults.Syncs()-ofBlue)
	}

	faults.Full(true)
	if err := add(blue, 100_000); !errors.Is(err, storage.ErrDiskFull) {
		t.Errorf("write to the full file: got %v, want ErrDiskFull", err)
	}
	if err := add(red, 100_000); err != nil {
		t.Errorf("write to the other file: %v", err)
	}
	faults.Full(false)
	if err := add(blue, 100_000); err != nil {
		t.Errorf("write with room again: %v", err)
	}

	faults.FailSyncs(true)
	if err := add(blue, 1); !errors.Is(err, storage.ErrIO) {
		t.Errorf("write with failing syncs: got %v, want ErrIO", err)
	}
	if err := add(red, 1); err != nil {
		t.Errorf("write to the other file: %v", err)
	}
}

func TestOneSyncFails(t *testing.T) {
	t.Parallel()
	vfs, blue, _ := files(t)
	vfs.FailSync(3)
	for i := range 3 {
		if err := add(blue, 1); errors.Is(err, storage.ErrIO) != (i == 2) {
			t.Errorf("write %d: got %v", i+1, err)
		}
	}
}

func TestSyncsAreSlow(t *testing.T) {
	t.Parallel()
	vfs, blue, _ := files(t)
	const delay = 30 * time.Millisecond
	vfs.SyncDelay(delay)
	start := time.Now()
	if err := add(blue, 1); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < delay {
		t.Errorf("write took %v, want at least %v", took, delay)
	}
}
