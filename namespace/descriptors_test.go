package namespace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// However many namespaces are used one after another, only as many files are open
// as may be active, and nothing of what a passive one holds is lost.
func TestNamespacesInRotationKeepFewFilesOpen(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not list a process's descriptors")
	}
	const many, active = 150, 5
	w := newWorld(t, func(o *namespace.Options) { o.MaxActive = active })
	for n := range many {
		w.create(fmt.Sprintf("n%d", n))
	}
	most := 0
	for range 2 {
		for n := range many {
			w.Namespace = w.runtime.Namespace(fmt.Sprintf("n%d", n))
			w.must(call(put("k", 1)))
			w.items() // opens a reader
			most = max(most, openBelow(t, w.dir))
		}
	}
	// An evicted namespace may still be closing while the next is used.
	const perNamespace, closing = 7, 16
	if most > (active+closing)*perNamespace {
		t.Errorf("%d files were open at once, want at most %d", most, (active+closing)*perNamespace)
	}
	for n := range many {
		w.Namespace = w.runtime.Namespace(fmt.Sprintf("n%d", n))
		if got := len(w.items()); got != 2 {
			t.Fatalf("n%d holds %d items, want 2", n, got)
		}
	}
}

// openBelow counts this process's descriptors of files below dir.
func openBelow(t *testing.T, dir string) int {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		// One that was closed meanwhile has no target.
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && strings.HasPrefix(target, dir+string(filepath.Separator)) {
			n++
		}
	}
	return n
}
