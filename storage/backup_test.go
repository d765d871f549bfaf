package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
)

func TestBackupIsAFileThatOpens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	f := create(t, s, "blue")
	f.SetWake(time.Unix(2_000_000_000, 0))
	mustInsert(t, f, 1, 2)
	dest := filepath.Join(t.TempDir(), "it's a copy.sqlite")
	if err := f.Backup(t.Context(), dest); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, f, 3)
	if err := f.Backup(t.Context(), dest); !errors.Is(err, storage.ErrExist) {
		t.Errorf("second backup to the same place: got %v, want ErrExist", err)
	}
	if left, _ := filepath.Glob(filepath.Dir(dest) + "/*"); len(left) != 1 {
		t.Errorf("beside the backup: got %v", left)
	}
	closeFile(t, f)
	if err := os.Rename(dest, diskPath(t, dir, "blue")); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s)["blue"]; !got.Clean || got.Wake != time.Unix(1, 0).UTC() {
		t.Errorf("restored file: got %+v, want a wake time that has passed", got)
	}
	if diff := cmp.Diff([]int{1, 2}, items(t, open(t, s, "blue", storage.FileOptions{}))); diff != "" {
		t.Errorf("items of the backup (-want +got):\n%s", diff)
	}
}

func TestCancelledBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	dest := filepath.Join(t.TempDir(), "copy")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Backup(ctx, dest); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup: got %v, want context.Canceled", err)
	}
	if left, _ := filepath.Glob(filepath.Dir(dest) + "/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestReclaimGivesPagesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	f := create(t, s, "blue")
	write(t, f, func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item VALUES (1, ?)", strings.Repeat("x", 400_000))
		return err
	})
	write(t, f, func(tx *storage.Tx) error {
		_, err := tx.Exec("DELETE FROM item")
		return err
	})
	total := 0
	for {
		n, err := f.Reclaim(t.Context(), 30)
		if err != nil || n > 30 {
			t.Fatalf("Reclaim(30): got %d, %v", n, err)
		}
		if n == 0 {
			break
		}
		total += n
	}
	closeFile(t, f)
	info, err := os.Stat(diskPath(t, dir, "blue"))
	if err != nil || total < 97 || info.Size() > 100_000 {
		t.Errorf("reclaimed %d pages, file has %d bytes, %v", total, info.Size(), err)
	}
}
