package actors

import (
	"fmt"
	"time"
)

// Instance is one activation of a name. The directory calls Receive, Drain,
// Idle and Panicked in the instance's turn: never two of them at a time, so they
// may use the instance's state without a lock. They must not block on anything
// slower than memory, or every message behind them waits.
type Instance interface {
	// Receive handles one message. A panic in it fails the instance.
	Receive(msg any)
	// Drain asks the instance to come to an end: park nothing any more and
	// answer what is parked. Work that is outstanding goes on, and Receive is
	// still called. It is called at most once, and not when the instance fails.
	Drain(why Reason)
	// Idle reports that nothing is outstanding, nothing parked and no stream
	// open. A draining instance that reports it is closed.
	Idle() bool
	// Refuse is given a message that Receive will never see, and answers its
	// sender. It is called in any goroutine, also while a turn runs and after
	// Close. err wraps ErrRestarted, ErrShuttingDown or ErrClosed.
	Refuse(msg any, err error)
	// Panicked says that Receive(msg) panicked with v, or ended its goroutine
	// (v is then an error that says so). It answers the sender of msg. The
	// instance then fails; its state is not to be trusted. The directory has
	// logged the panic already.
	Panicked(msg, v any, stack []byte)
	// Close releases everything, answers whoever is still waiting, and returns
	// only when a successor may be activated. It may block. It is called
	// exactly once, when no turn runs. err is nil after a drain; otherwise it is
	// what the instance failed with, or wraps ErrShuttingDown when the
	// directory did not wait for a drain.
	Close(err error)
	// IdleTimeout is how long the instance may be without use before it is
	// passivated. Zero means the directory's, a negative value never. It is
	// called in any goroutine.
	IdleTimeout() time.Duration
}

// Reason says why an instance is asked to drain.
type Reason int

// The reasons of a drain.
const (
	ReasonIdle     Reason = iota + 1 // without use for its idle timeout
	ReasonEvicted                    // least recently used of too many
	ReasonShutdown                   // the directory shuts down
	ReasonRemoved                    // the name is to be changed or removed, see Directory.Exclusive
)

// String returns the reason in one lower-case word.
func (r Reason) String() string {
	switch r {
	case ReasonIdle:
		return "idle"
	case ReasonEvicted:
		return "evicted"
	case ReasonShutdown:
		return "shutdown"
	case ReasonRemoved:
		return "removed"
	}
	return fmt.Sprintf("Reason(%d)", int(r))
}
