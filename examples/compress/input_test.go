package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInputFilesAreThoseThatCanBeNouns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int{
		"b/c.txt": 3, "a": maxFile, "large": maxFile + 1, "empty": 0, strings.Repeat("@", 200): 1,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "dir")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	files, notes, err := inputFiles(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, f := range files {
		got[f.name] = f.size
	}
	// The name of 200 signs is 600 bytes long once they are encoded.
	if diff := cmp.Diff(got, map[string]int64{"a": maxFile, "b/c.txt": 3, "empty": 0}); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
	if len(notes) != 1 || !strings.HasSuffix(notes[0], ": 2") {
		t.Errorf("notes %q, want one that tells of 2 files", notes)
	}
	if _, _, err := inputFiles(t.Context(), t.TempDir()); err == nil {
		t.Error("no error for an empty folder")
	}
}

func TestInputIsCutWhereItWouldTakeTooLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxFiles + 1 {
		name := filepath.Join(dir, strings.Repeat("x", 1+i%100)+strings.Repeat("y", i/100))
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, notes, err := inputFiles(t.Context(), dir)
	if err != nil || len(files) != maxFiles || len(notes) != 1 || !strings.HasPrefix(notes[0], "took the first ") {
		t.Errorf("%d files, notes %q, %v, want %d and a note", len(files), notes, err, maxFiles)
	}
}

func TestInputIsThePackageNetOfGoUnlessSaidOtherwise(t *testing.T) {
	t.Parallel()
	files, _, err := inputFiles(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		if strings.Contains(f.name, "/") || filepath.Ext(f.name) != ".go" {
			t.Errorf("%s is not a Go file of the package", f.name)
		}
	}
	if all := " " + strings.Join(names, " ") + " "; !strings.Contains(all, " dial.go ") || !strings.Contains(all, " dial_test.go ") {
		t.Errorf("dial.go and its test are not among %d files", len(names))
	}
}

func TestKeyPartEncodesWhatAKeyMayNotHold(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"net/dial.go": "net/dial.go",
		"größe 1.txt": "größe 1.txt",
		"a@1":         "a%401",
		"a?b#c%d":     "a%3Fb%23c%25d",
		"a\nb\x7f":    "a%0Ab%7F",
		"a\u0085":     "a%C2%85",
		"a\xffb\xc3":  "a%FFb%C3",
		"a\ufffdb":    "a\ufffdb",
	} {
		if got := keyPart(name); got != want {
			t.Errorf("keyPart(%q) = %q, want %q", name, got, want)
		}
	}
}
