package storage_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
)

// list returns the files of s by name.
func list(t *testing.T, s *storage.Store) map[string]storage.FileInfo {
	t.Helper()
	files := make(map[string]storage.FileInfo)
	for info, err := range s.Files() {
		if err != nil {
			t.Fatalf("Files: %v", err)
		}
		files[info.Name] = info
	}
	return files
}

func TestWakeTimeComesBackFromTheHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	for _, tc := range []struct{ set, want time.Time }{
		{time.Time{}, time.Time{}},
		{time.Unix(1_800_000_000, 999_999_999), time.Unix(1_800_000_000, 0).UTC()},
		{time.Unix(1<<31, 0), time.Unix(1<<31, 0).UTC()}, // beyond 32 signed bits
		{time.Unix(1<<40, 0), time.Unix(1<<32-1, 0).UTC()},
		{time.Unix(-5, 0), time.Unix(1, 0).UTC()},
		{time.Time{}, time.Time{}},
	} {
		f := open(t, s, "blue", storage.FileOptions{Create: len(list(t, s)) == 0})
		f.SetWake(tc.set)
		open := storage.FileInfo{Name: "blue", Wake: tc.want}
		if diff := cmp.Diff(open, list(t, s)["blue"]); diff != "" {
			t.Errorf("while open (-want +got):\n%s", diff)
		}
		closeFile(t, f)
		closed := open
		closed.Clean = true
		if diff := cmp.Diff(closed, list(t, s)["blue"]); diff != "" {
			t.Errorf("when closed (-want +got):\n%s", diff)
		}
		f = openAgain(t, s)
		closeFile(t, f) // without setting anything
		if diff := cmp.Diff(closed, list(t, s)["blue"]); diff != "" {
			t.Errorf("when closed once more (-want +got):\n%s", diff)
		}
	}
}

func openAgain(t *testing.T, s *storage.Store) *storage.File {
	t.Helper()
	return open(t, s, "blue", storage.FileOptions{})
}

func TestFileNotClosedProperlyIsNotClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	f := create(t, s, "blue")
	f.SetWake(time.Unix(1_800_000_000, 0))
	mustInsert(t, f, 1)
	crashed := openStore(t, copyFiles(t, dir, "blue"), storage.Options{})
	if list(t, crashed)["blue"].Clean {
		t.Error("file of a crashed process is clean")
	}
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if list(t, s)["blue"].Clean {
		t.Error("aborted file is clean")
	}
	f = openAgain(t, s)
	closeFile(t, f)
	if !list(t, s)["blue"].Clean {
		t.Error("file closed properly since is not clean")
	}
}

func TestFilesAreListedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	closeFile(t, create(t, s, "blue"))
	path := diskPath(t, dir, "blue")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(path)
	var names []string // those of one folder, which sort otherwise with the suffix
	for i := 0; len(names) < 6; i++ {
		for _, name := range []string{fmt.Sprintf("n%d", i), fmt.Sprintf("n%d-x", i)} {
			if sum := sha256.Sum256([]byte(name)); hex.EncodeToString(sum[:1]) == filepath.Base(folder) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	put := func(file string, data []byte) {
		if err := os.WriteFile(filepath.Join(folder, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		put("ns-"+name+".sqlite", data)
	}
	put("ns-"+names[1]+".sqlite", []byte("text")) // broken, which does not end the list
	for _, other := range []string{"ns-blue.sqlite.bak", "blue.sqlite", "ns-..sqlite", "ns-elsewhere.sqlite"} {
		put(other, data)
	}

	var got []string
	for info, err := range s.Files() {
		if broken := info.Name == names[1]; errors.Is(err, storage.ErrCorrupt) != broken {
			t.Errorf("%q: got error %v", info.Name, err)
		}
		got = append(got, info.Name)
	}
	if diff := cmp.Diff(append([]string{"blue"}, names...), got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for range s.Files() {
		break
	}
}

// Not parallel: it counts the descriptors of the process.
func TestOpeningAndClosingLeaksNothing(t *testing.T) {
	s := openStore(t, t.TempDir(), storage.Options{})
	before, estimate := openDescriptors(t), s.Descriptors()
	const names = 20
	for i := range 300 {
		f := open(t, s, fmt.Sprintf("n%d", i%names), storage.FileOptions{Create: i < names})
		mustInsert(t, f, i)
		items(t, f)
		end := f.Close
		if i%3 == 0 {
			end = f.Abort
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	if got := openDescriptors(t); got != before {
		t.Errorf("descriptors: got %d, want %d as before", got, before)
	}
	if got := s.Descriptors(); got != estimate {
		t.Errorf("estimate of descriptors: got %d, want %d as before", got, estimate)
	}
	if got := len(list(t, s)); got != names {
		t.Errorf("files listed: got %d, want %d", got, names)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
