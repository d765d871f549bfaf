package namespace

import (
	"slices"
	"sync"
)

// registry holds the names of the namespaces on disk, in order. Only listing,
// creating and deleting use it; no other request does. It is safe for concurrent
// use.
type registry struct {
	mu    sync.RWMutex
	names []string
	dirty bool // names were appended out of order
}

func (r *registry) put(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirty = r.dirty || len(r.names) > 0 && r.names[len(r.names)-1] > name
	r.names = append(r.names, name)
}

func (r *registry) drop(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sort()
	if at, ok := slices.BinarySearch(r.names, name); ok {
		r.names = slices.Delete(r.names, at, at+1)
	}
}

// sort is put off until somebody asks, so that filling costs no order.
func (r *registry) sort() {
	if r.dirty {
		slices.Sort(r.names)
		r.dirty = false
	}
}

// page gives up to limit names behind after, and whether there are more. An
// empty after is the beginning.
func (r *registry) page(after string, desc bool, limit int) ([]string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sort()
	at, found := slices.BinarySearch(r.names, after)
	if !desc {
		if found {
			at++
		}
		end := min(at+limit, len(r.names))
		return slices.Clone(r.names[at:end]), end < len(r.names)
	}
	if after == "" {
		at = len(r.names)
	}
	begin := max(at-limit, 0)
	page := slices.Clone(r.names[begin:at])
	slices.Reverse(page)
	return page, begin > 0
}

func (r *registry) len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.names)
}
