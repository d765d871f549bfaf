package namespace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// path is where the file of a namespace lies.
func (w *world) path(name string) string {
	w.t.Helper()
	var found string
	err := filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "ns-"+name+".sqlite" {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		w.t.Fatalf("no file of %s: %v", name, err)
	}
	return found
}

func TestBrokenFileFailsItsNamespaceAlone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(content []byte) []byte{
		"no header": func(c []byte) []byte { clear(c[:100]); return c },
		"empty":     func([]byte) []byte { return nil },
		"cut off":   func(c []byte) []byte { return c[:50] },
		"garbage":   func(c []byte) []byte { return []byte(strings.Repeat("garbage ", len(c)/8)) },
		"a page":    func(c []byte) []byte { copy(c[100:], strings.Repeat("\xff", 300)); return c },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create("b")
			w.must(call(put("k", 1)))
			if err := w.runtime.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			path := w.path("a")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			broken := spoil(content)
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			w.open()
			for range 2 {
				e := w.fails(call(put("k", 1)), api.NamespaceUnavailable)
				if e.RetryAfter == 0 || strings.Contains(e.Error(), w.dir) {
					t.Errorf("got %v, retry after %v; want an advice, and no path", e, e.RetryAfter)
				}
			}
			if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
				t.Errorf("the other namespace: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(broken) {
				t.Errorf("the file was touched (%v)", err)
			}
			// It is listed, and can be deleted and made anew.
			if listed, _ := w.active("a"); !listed {
				t.Error("it is not listed")
			}
			if created, err := w.runtime.Create(t.Context(), "a"); created || err != nil {
				t.Errorf("create: got %v, %v; want false", created, err)
			}
			if err := w.runtime.Delete(t.Context(), "a"); err != nil {
				t.Fatalf("delete: %v", err)
			}
			w.create("a")
			w.must(call(put("k", 1)))
		})
	}
}

func TestNewerFileIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := depot(nil)
	files := fstest.MapFS{"002_more.sql": {Data: []byte(`CREATE TABLE depot_more (x INTEGER) STRICT;`)}}
	for name, file := range newer.Migrations.(fstest.MapFS) {
		files[name] = file
	}
	newer.Migrations = files
	w.create("b")
	w.options.Classes = []namespace.Class{newer}
	w.restart(true)
	w.must(call(put("k", 1)))
	w.options.Classes = []namespace.Class{depot(nil)}
	if err := w.runtime.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(w.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	w.open()
	w.fails(call(put("k", 1)), api.NamespaceUnavailable)
	if after, err := os.ReadFile(w.path("a")); err != nil || string(after) != string(before) {
		t.Errorf("the file was touched (%v)", err)
	}
	if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
		t.Errorf("a file that is not newer: %v", err)
	}
	w.options.Classes = []namespace.Class{newer}
	w.restart(true)
	if got := len(w.items()); got != 1 {
		t.Errorf("got %d items, want 1", got)
	}
}

// Whoever creates a namespace may die between making its file and giving it an
// identity.
func TestFileWithoutIdentityGetsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
		_, err := t.Exec(`DELETE FROM ns_meta`)
		return namespace.Answer{}, err
	})))
	w.restart(false)
	w.must(call(put("k", 1)))
	key := w.key("p")
	w.restart(true)
	if _, err := w.Authenticate(t.Context(), key.Secret); err != nil {
		t.Errorf("authenticate: %v", err)
	}
	if got := w.describe(); got.Epoch != 2 || got.CreatedAt.IsZero() {
		t.Errorf("got epoch %d, created at %v; want 2, and a time", got.Epoch, got.CreatedAt)
	}
}

func TestClassNamesAreHeldToTheirRule(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"ns"}, {""}, {"Depot"}, {"1a"}, {"a_b"}, {"a", "b", "a"}} {
		var classes []namespace.Class
		for _, n := range names {
			classes = append(classes, namespace.Class{Name: n})
		}
		dir := t.TempDir()
		if r, err := namespace.Open(t.Context(), dir, namespace.Options{Classes: classes}); err == nil {
			r.Close()
			t.Errorf("a runtime with the classes %q opened", names)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("it left %v in the directory (%v)", entries, err)
		}
	}
}

func TestDirectoryIsHeldByOneRuntime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r, err := namespace.Open(t.Context(), w.dir, w.options); err == nil {
		r.Close()
		t.Error("a second runtime opened the directory")
	}
	w.must(call(put("k", 1)))
	if diff := cmp.Diff(w.holders(), []string{""}); diff != "" {
		t.Errorf("items (-got +want):\n%s", diff)
	}
}
