package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
)

func TestRemovedFileIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	if err := s.Remove(t.Context(), "blue"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("remove absent file: got %v, want ErrNotExist", err)
	}
	f := create(t, s, "blue")
	if err := s.Remove(t.Context(), "blue"); !errors.Is(err, storage.ErrOpen) {
		t.Errorf("remove open file: got %v, want ErrOpen", err)
	}
	mustInsert(t, f, 1)
	if err := f.Abort(); err != nil { // leaves a WAL
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "blue"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "namespaces", "*", "*")); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
	if got := items(t, create(t, s, "blue")); len(got) != 0 {
		t.Errorf("items of the new file: %v", got)
	}
}

func TestNewFileNeverSeesTheWALOfAnOldOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	f := create(t, s, "blue")
	mustInsert(t, f, 1)
	path := diskPath(t, dir, "blue")
	wal, err := os.ReadFile(path + "-wal")
	if err != nil || len(wal) == 0 {
		t.Fatalf("WAL: %d bytes, %v", len(wal), err)
	}
	closeFile(t, f)
	main, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A crash in the middle of Remove, and one in the middle of creation.
	leave := func() {
		t.Helper()
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		base := path[:len(path)-len(".sqlite")]
		for name, data := range map[string][]byte{
			path + "-wal": wal, path + "-shm": nil, base + ".sqlite.removed": main, base + ".sqlite.new": main[:5000], base + ".sqlite.new-journal": wal,
		} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}

	leave()
	if ok, err := s.Exists("blue"); ok || err != nil {
		t.Errorf("Exists after half a removal: got %v, %v", ok, err)
	}
	if got := list(t, s); len(got) != 0 {
		t.Errorf("Files after half a removal: got %v", got)
	}
	f = create(t, s, "blue")
	if got := items(t, f); len(got) != 0 {
		t.Errorf("items of the new file: %v", got)
	}
	closeFile(t, f)
	if got, _ := filepath.Glob(filepath.Join(dir, "namespaces", "*", "*")); len(got) != 1 {
		t.Errorf("on disk: got %v, want the new file alone", got)
	}

	leave()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir, storage.Options{})
	got, _ := filepath.Glob(filepath.Join(dir, "namespaces", "*", "*"))
	if diff := cmp.Diff([]string(nil), got); diff != "" {
		t.Errorf("on disk after opening the store (-want +got):\n%s", diff)
	}
}
