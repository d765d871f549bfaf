package namespace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// fill fills the event log of a stream with n events of 4 KiB.
func fill(n int) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		for range n {
			if _, err := t.Append("bulk", "filler", string(make([]byte, 1024))); err != nil {
				return namespace.Answer{}, err
			}
		}
		return namespace.Answer{}, nil
	}
}

func TestPassivationGivesFreedSpaceBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(fill(500)))
	w.restart(true)
	full := w.sizeOnDisk()
	w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
		return namespace.Answer{}, t.DropEvents("bulk")
	})))
	w.restart(true)
	if empty := w.sizeOnDisk(); empty > full/4 {
		t.Errorf("the file has %d bytes after its content was deleted, and had %d", empty, full)
	}
}

// sizeOnDisk is the size of the only namespace's file.
func (w *world) sizeOnDisk() int64 {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "namespaces", "*", "*.sqlite"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("files on disk: %v, %v, want one", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return info.Size()
}

func TestBackupIsTheNamespaceAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(put("kept", 2)))
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	if err := w.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := w.Backup(t.Context(), path); err == nil {
		t.Error("a second backup to the same path succeeded, want an error")
	}
	w.must(call(put("later", 1)))
	files, err := filepath.Glob(filepath.Join(w.dir, "namespaces", "*", "*.sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files on disk: %v, %v, want one", files, err)
	}
	if err := w.runtime.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, files[0]); err != nil {
		t.Fatal(err)
	}
	w.open()
	for _, i := range w.items() {
		if i.Kind != "kept" {
			t.Errorf("the restored namespace holds %+v, want only what stood before the backup", i)
		}
	}
	if len(w.items()) != 2 {
		t.Errorf("the restored namespace holds %d items, want 2", len(w.items()))
	}
	wantCode(t, w.runtime.Namespace("absent").Backup(t.Context(), path), api.NotFound)
}
