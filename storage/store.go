package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a [Store]. The zero value is ready to use.
type Options struct {
	Logger     *slog.Logger     // nil: nothing is logged
	VFS        string           // name of a registered SQLite VFS; empty: the default one
	CacheKiB   int              // page cache of each connection; 0: 256
	MaxReaders int              // read connections of each file; 0: 2
	Now        func() time.Time // measures commits for Stats; nil: they are not measured
}

// Store is a locked directory of SQLite files. It is safe for concurrent use.
type Store struct {
	dir         string
	opts        Options
	lock        *os.File
	reserve     *reserve
	descriptors atomic.Int64

	mu      sync.Mutex
	closed  bool
	open    map[string]*File
	held    map[string]chan struct{} // names on whose files someone works; closed when let go
	suspect map[string]struct{}      // names whose file failed and has not been checked since
}

// Open locks dir, which is made if absent, and clears away what a crash left of
// files being created or removed. If another Store holds dir, in this process or
// another, the error wraps [ErrDirInUse] and names the directory and the process.
func Open(dir string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CacheKiB <= 0 {
		o.CacheKiB = 256
	}
	if o.MaxReaders <= 0 {
		o.MaxReaders = 2
	}
	if err := stablePlans(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, filesDir), 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{
		dir:     dir,
		opts:    o,
		lock:    lock,
		open:    make(map[string]*File),
		held:    make(map[string]chan struct{}),
		suspect: make(map[string]struct{}),
		reserve: openReserve(dir, o.Logger),
	}
	s.descriptors.Store(1)
	if err := errors.Join(s.clearLeftovers(), s.clearProbes()); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), lock.Close())
	}
	return s, nil
}

// Close unlocks the directory. It is an error, and does nothing, while a File is
// open. A second call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if n := len(s.open) + len(s.held); n > 0 {
		return fmt.Errorf("close store: %d files are in use", n)
	}
	s.closed = true
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// Exists reports whether a file of that name is there.
func (s *Store) Exists(name string) (bool, error) {
	if err := ValidName(name); err != nil {
		return false, err
	}
	ok, err := present(s.path(name))
	if err != nil {
		return false, fmt.Errorf("look up file %s: %w", name, err)
	}
	return ok, nil
}

// Descriptors estimates the file descriptors that the Store and its files hold.
func (s *Store) Descriptors() int64 { return s.descriptors.Load() }

// hold makes the caller the only one who works on the files of name, until it
// calls release. It waits for an earlier holder, as long as ctx allows.
func (s *Store) hold(ctx context.Context, name string) (release func(), err error) {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, ErrClosed
		}
		busy, ok := s.held[name]
		if !ok {
			done := make(chan struct{})
			s.held[name] = done
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.held, name)
				s.mu.Unlock()
				close(done)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// opened returns the open File of name, or nil.
func (s *Store) opened(name string) *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[name]
}

// remember records what became of a file: whether it is open (f is not nil), and
// whether it must be checked before it serves again.
func (s *Store) remember(name string, f *File, suspect bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f != nil {
		s.open[name] = f
	} else {
		delete(s.open, name)
	}
	if suspect {
		s.suspect[name] = struct{}{}
	} else {
		delete(s.suspect, name)
	}
}

func (s *Store) isSuspect(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.suspect[name]
	return ok
}
