package storage

import (
	"errors"
	"fmt"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// ErrUnavailable is matched by every error that comes from the state of the
// storage rather than from what was asked of it. The same request may succeed
// later.
var ErrUnavailable = errors.New("storage unavailable")

// Classes of storage trouble. Each also matches [ErrUnavailable].
var (
	// ErrDiskFull says that there was no room. The transaction was rolled back and
	// the file goes on.
	ErrDiskFull = fmt.Errorf("%w: disk full", ErrUnavailable)
	// ErrIO says that reading, writing or syncing failed. On the writer it fails
	// the file.
	ErrIO = fmt.Errorf("%w: input/output error", ErrUnavailable)
	// ErrCorrupt says that the file is damaged, or is not one of this program's.
	ErrCorrupt = fmt.Errorf("%w: corrupt file", ErrUnavailable)
	// ErrBusy says that another process held the SQLite file locked for too long.
	ErrBusy = fmt.Errorf("%w: file is locked by another process", ErrUnavailable)
	// ErrClosed says that the File or the Store is closed.
	ErrClosed = fmt.Errorf("%w: closed", ErrUnavailable)
	// ErrAborted says that a command was rolled back, or never run, because another
	// command of the same file panicked.
	ErrAborted = fmt.Errorf("%w: aborted", ErrUnavailable)
)

// Errors of what was asked.
var (
	// ErrInvalidName says that a name does not satisfy [ValidName].
	ErrInvalidName = errors.New("invalid name")
	// ErrNotExist says that no file has the name.
	ErrNotExist = errors.New("file does not exist")
	// ErrExist says that a file to be created is there already.
	ErrExist = errors.New("file exists")
	// ErrOpen says that the file is open in this Store.
	ErrOpen = errors.New("file is open")
	// ErrDirInUse says that another Store, here or in another process, holds the
	// directory.
	ErrDirInUse = errors.New("data directory is in use")
	// ErrNewerSchema says that the file was migrated further than this program
	// knows.
	ErrNewerSchema = errors.New("schema is newer than this program")
	// ErrSchemaMismatch says that a migration applied to the file differs from the
	// one of the same number in this program.
	ErrSchemaMismatch = errors.New("applied migration differs from this program's")
	// ErrConstraint says that a statement violated a constraint of the schema.
	ErrConstraint = errors.New("constraint violated")
)

// PanicError is what a command that panicked is settled with.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // the stack of the writer goroutine at the panic
}

// Error does not print Value, which may hold a caller's data.
func (e *PanicError) Error() string { return "command panicked" }

// classify wraps an error of the driver in its class. Other errors, and those
// that are a mistake in the SQL, come back as they are.
func classify(err error) error {
	var e sqlite3.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	class := ErrUnavailable
	switch e.Code {
	case sqlite3.ErrFull:
		class = ErrDiskFull
	case sqlite3.ErrIoErr:
		class = classifyIO(e)
	case sqlite3.ErrReadonly:
		// A file system that became read-only, or a file moved from under the
		// connection: nothing can be written any more.
		class = ErrIO
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		class = ErrCorrupt
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		class = ErrBusy
	case sqlite3.ErrConstraint:
		class = ErrConstraint
	case sqlite3.ErrNomem, sqlite3.ErrCantOpen, sqlite3.ErrProtocol, sqlite3.ErrPerm, sqlite3.ErrInternal:
	default:
		return err
	}
	return fmt.Errorf("%w: %w", class, e)
}

// classifyIO tells a full disk from a broken one. SQLite reports ENOSPC as
// SQLITE_FULL only where it writes; quotas and the shared-memory file come as
// input/output errors. A failed sync is never mere lack of room: after it
// nobody knows which pages are on the disk.
func classifyIO(e sqlite3.Error) error {
	switch {
	case e.ExtendedCode == sqlite3.ErrIoErrNoMem:
		return ErrUnavailable
	case e.ExtendedCode == sqlite3.ErrIoErrFsync, e.ExtendedCode == sqlite3.ErrIoErrDirFsync:
		return ErrIO
	case noSpace(e.SystemErrno):
		return ErrDiskFull
	}
	return ErrIO
}

func noSpace(e syscall.Errno) bool { return e == syscall.ENOSPC || e == syscall.EDQUOT }

// classifyOS wraps an error of the operating system in its class.
func classifyOS(err error) error {
	if err == nil {
		return nil
	}
	class := ErrUnavailable
	if e := syscall.Errno(0); errors.As(err, &e) {
		switch {
		case noSpace(e):
			class = ErrDiskFull
		case e == syscall.EIO:
			class = ErrIO
		}
	}
	return fmt.Errorf("%w: %w", class, err)
}

// damaged reports whether err leaves it open what the file holds.
func damaged(err error) bool { return errors.Is(err, ErrIO) || errors.Is(err, ErrCorrupt) }

// fatal reports whether err ends the service of the file it came from.
func fatal(err error) bool {
	var p *PanicError
	return damaged(err) || errors.As(err, &p)
}
