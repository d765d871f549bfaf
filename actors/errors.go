package actors

import (
	"errors"
	"fmt"
	"runtime"
)

var (
	// ErrShuttingDown reports that the directory takes no new work because
	// Shutdown or Close was called.
	ErrShuttingDown = errors.New("directory shutting down")

	// ErrRestarted reports that the instance failed with the message in its
	// mailbox. The next request activates the name anew, so it may be sent
	// again.
	ErrRestarted = errors.New("actor restarted")

	// ErrClosed reports a message that an instance told itself, or that was
	// told through a released pin, after the instance had come to its end.
	ErrClosed = errors.New("actor closed")
)

var (
	// errGoexit stands for the panic value when instance code ended its
	// goroutine instead of returning.
	errGoexit = errors.New("goroutine exited in a turn")

	// errLeaving reports a wake-up that found the name on its way out.
	errLeaving = errors.New("name is being closed")
)

// panicError describes a panic without printing its value, which may hold a
// payload. Errors of the Go runtime (a nil pointer, an index) hold none.
func panicError(during string, v any) error {
	if err, ok := v.(runtime.Error); ok {
		return fmt.Errorf("panic during %s: %w", during, err)
	}
	return fmt.Errorf("panic during %s: %T", during, v)
}
