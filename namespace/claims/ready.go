package claims

import "math"

// readyKinds knows for each kind a number that none of its ready verbs is below.
// A kind that it does not have has no ready verb.
//
// Bounds may be too low, which costs a look at the file, but never too high,
// which would hide a verb. Lowering one is therefore always safe, even if what
// caused it is rolled back. Raising one is not, so the bounds as they were before
// are kept, and restored after a rollback. They can be kept for as long as one
// likes, because an old bound is a true one.
type readyKinds struct {
	bound  map[string]int64
	raised map[string]int64
}

func newReadyKinds() readyKinds {
	return readyKinds{bound: map[string]int64{}, raised: map[string]int64{}}
}

// add notes that a verb has become ready.
func (r readyKinds) add(kind string, id int64) {
	if bound, ok := r.bound[kind]; !ok || id < bound {
		r.bound[kind] = id
	}
}

// raise notes that no ready verb of the kind is below bound.
func (r readyKinds) raise(kind string, bound int64) {
	old, ok := r.bound[kind]
	if !ok || old >= bound {
		return
	}
	r.keep(kind, old)
	r.bound[kind] = bound
}

// remove notes that the kind has no ready verb.
func (r readyKinds) remove(kind string) {
	if old, ok := r.bound[kind]; ok {
		r.keep(kind, old)
		delete(r.bound, kind)
	}
}

func (r readyKinds) keep(kind string, bound int64) {
	if kept, ok := r.raised[kind]; !ok || bound < kept {
		r.raised[kind] = bound
	}
}

// restore takes back every raise since the last restore.
func (r readyKinds) restore() {
	for kind, bound := range r.raised {
		r.add(kind, bound)
	}
	clear(r.raised)
}

// of is the kind's bound, math.MaxInt64 if it has no ready verb.
func (r readyKinds) of(kind string) int64 {
	if bound, ok := r.bound[kind]; ok {
		return bound
	}
	return math.MaxInt64
}
