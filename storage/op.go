package storage

// Lane orders the commands inside one commit, and decides which of them go
// first when more are queued than one commit takes.
type Lane uint8

// The lanes, first to last. The first two may use the reserve when the disk is
// full.
const (
	LaneUrgent   Lane = iota // what keeps things alive, such as heartbeats
	LaneFinish               // what ends work: submit, fail, release, cancel
	LaneNormal               // everything else
	LaneAdmitted             // what takes on new work
	lanes
)

// An Op is one command for the writer of a [File]. Its methods are called on
// the writer goroutine only, and must neither block nor close the File.
type Op interface {
	// Lane returns the same lane each time it is called.
	Lane() Lane
	// Apply runs the command in a savepoint of its own. An error rolls back this
	// command alone. Apply may be called more than once: everything an earlier
	// call wrote has been rolled back by then.
	Apply(tx *Tx) error
	// Settle is called exactly once. A nil error means that the command is
	// durable. An error of Apply comes through as it is, unless the commit failed:
	// then all of its commands get the failure, because what Apply saw may be gone.
	Settle(err error)
}

// A Batcher is an [Op] that can run together with its like. Neighbours in one
// commit whose Batch values are equal and not nil are passed, in their order, to
// ApplyAll of the first of them, in one savepoint. If ApplyAll fails, the
// savepoint is rolled back and the commands are applied one by one.
type Batcher interface {
	Op
	// Batch returns a comparable value, or nil to run alone.
	Batch() any
	// ApplyAll applies ops, of which the receiver is the first. It must not keep
	// the slice.
	ApplyAll(tx *Tx, ops []Op) error
}

// neighbours returns how many of ops, from the first on, form one group.
func neighbours(ops []Op) int {
	first, ok := ops[0].(Batcher)
	if !ok {
		return 1
	}
	key := first.Batch()
	if key == nil {
		return 1
	}
	for n := 1; n < len(ops); n++ {
		if next, ok := ops[n].(Batcher); !ok || next.Batch() != key {
			return n
		}
	}
	return len(ops)
}
