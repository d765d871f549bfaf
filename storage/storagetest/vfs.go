package storagetest

/*
#cgo CFLAGS: -std=gnu11
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"sync"
	"testing"
	"time"
	"unsafe"

	_ "github.com/skerryhq/skerry/storage" // brings the SQLite that the shim is linked with
)

// VFS is a SQLite VFS with faults. Its own faults are those of all files. It is
// safe for concurrent use.
type VFS struct {
	*Faults
	name string
	shim *C.shim

	mu    sync.Mutex
	files map[string]*Faults
}

// Faults are the faults of the files whose path holds a pattern. The zero state
// is none. It is safe for concurrent use; a change takes effect from the next
// call of SQLite on.
type Faults struct{ rule *C.shim_rule }

// NewVFS registers a VFS whose name is made from name and that of the test. It
// is there until the test ends; by then every file opened with it must be
// closed.
func NewVFS(t testing.TB, name string) *VFS {
	t.Helper()
	v := &VFS{name: name + "@" + t.Name(), files: make(map[string]*Faults)}
	cname := C.CString(v.name)
	defer C.free(unsafe.Pointer(cname))
	if v.shim = C.shim_new(cname); v.shim == nil {
		t.Fatal("register VFS: SQLite has no default VFS, or no memory")
	}
	t.Cleanup(func() { C.shim_free(v.shim) })
	v.Faults = v.Files("")
	return v
}

// Name returns the name under which the VFS is registered.
func (v *VFS) Name() string { return v.name }

// Files returns the faults of the files whose path holds pattern, such as "-wal"
// or "ns-blue.sqlite". They come on top of those of other patterns. It panics
// beyond seven patterns.
func (v *VFS) Files(pattern string) *Faults {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.files[pattern]; f != nil {
		return f
	}
	cpattern := C.CString(pattern)
	defer C.free(unsafe.Pointer(cpattern))
	rule := C.shim_add_rule(v.shim, cpattern)
	if rule == nil {
		panic("storagetest: too many patterns")
	}
	f := &Faults{rule}
	v.files[pattern] = f
	return f
}

// SyncDelay makes every sync take at least d, in whole microseconds.
func (f *Faults) SyncDelay(d time.Duration) {
	C.shim_set_sync_delay(f.rule, C.longlong(d.Microseconds()))
}

// FailSyncs makes every sync fail with an input/output error, or none.
func (f *Faults) FailSyncs(fail bool) {
	nth := 0
	if fail {
		nth = -1
	}
	C.shim_set_fail_sync(f.rule, C.longlong(nth))
}

// FailSync makes the n-th sync from now fail, counted from 1, and only that one.
func (f *Faults) FailSync(n int) { C.shim_set_fail_sync(f.rule, C.longlong(n)) }

// Full makes every write fail that would make a file longer, as on a full disk,
// or none.
func (f *Faults) Full(full bool) {
	n := 0
	if full {
		n = 1
	}
	C.shim_set_full(f.rule, C.int(n))
}

// Syncs returns how many syncs SQLite has asked for, failed ones included.
func (f *Faults) Syncs() int64 { return int64(C.shim_syncs(f.rule)) }
