package storage

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestValidNameKeepsNamesOnDiskHarmless(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", "0", "blue", "a.b", "a-b_c.d", "con", "nul.txt", "x.sqlite", "x.sqlite-wal", "00000000-0000-4000-8000-000000000000",
		strings.Repeat("a", 63),
	} {
		if err := ValidName(name); err != nil {
			t.Errorf("ValidName(%q): got %v, want nil", name, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "../a", "a/b", `a\b`, "%2e%2e%2f", "a\x00b", "CON", "A", "x.", ".x", "-x", "x-", "_", " ", "a b", ":memory:", "file:x?mode=memory",
		"\xff", "é", "e\u0301", "\U0001f600", "\u202ea", "a\n", strings.Repeat("a", 64), strings.Repeat("a", 300),
	} {
		if err := ValidName(name); !errors.Is(err, ErrInvalidName) {
			t.Errorf("ValidName(%q): got %v, want ErrInvalidName", name, err)
		}
	}
}

func TestEveryMethodChecksTheName(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const name = "../../outside"
	_, errExists := s.Exists(name)
	_, errOpen := s.OpenFile(t.Context(), name, FileOptions{Create: true})
	for method, err := range map[string]error{"Exists": errExists, "OpenFile": errOpen, "Remove": s.Remove(t.Context(), name)} {
		if !errors.Is(err, ErrInvalidName) {
			t.Errorf("%s: got %v, want ErrInvalidName", method, err)
		}
	}
}

func FuzzNameStaysInItsFolder(f *testing.F) {
	for _, seed := range []string{"blue", "..", "a/b", "x.sqlite", "a\x00", "A", "x.sqlite.removed", ""} {
		f.Add(seed)
	}
	s := &Store{dir: filepath.FromSlash("/data")}
	f.Fuzz(func(t *testing.T, name string) {
		if ValidName(name) != nil {
			return
		}
		path := s.path(name)
		rel, err := filepath.Rel(s.dir, path)
		if err != nil || filepath.Clean(path) != path || strings.Count(filepath.ToSlash(rel), "/") != 2 || !strings.HasPrefix(rel, filesDir) {
			t.Errorf("path of %q is %q, want three levels under %q", name, path, s.dir)
		}
		if got, ok := nameOf(filepath.Base(path)); !ok || got != name {
			t.Errorf("name of %q: got %q, %v, want %q", path, got, ok, name)
		}
		if leftover(filepath.Base(path), map[string]bool{}) {
			t.Errorf("main file of %q is taken for a leftover", name)
		}
		for _, p := range leftovers(path) {
			if _, ok := nameOf(filepath.Base(p)); ok || !leftover(filepath.Base(p), map[string]bool{}) {
				t.Errorf("leftover %q of %q is not taken for one", p, name)
			}
		}
	})
}
