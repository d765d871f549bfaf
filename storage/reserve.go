package storage

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	reserveName = "reserve"
	reserveSize = 2 << 20
	// reserveMargin is what must be free beyond the reserve before it is taken
	// again, so that it does not take the very last room from what is under way.
	reserveMargin = 256 << 10
)

// reserve is room in the data directory for what must still work when the disk
// is full: commands that keep things alive or end work. Even a file that only
// shrinks needs some, as its WAL can start over only once the main file has
// grown to hold what is in it. The room is that of a file of zeros, which is cut
// to nothing when the first such command does not fit. As long as it is gone,
// nothing else is written. It is safe for concurrent use.
type reserve struct {
	path   string
	logger *slog.Logger
	gone   atomic.Bool
	mu     sync.Mutex // held while the reserve changes
}

// openReserve takes the reserve of a data directory. A disk that has no room for
// it is no error.
func openReserve(dir string, logger *slog.Logger) *reserve {
	r := &reserve{path: filepath.Join(dir, reserveName), logger: logger}
	if info, err := os.Lstat(r.path); err == nil && info.Size() == reserveSize {
		return r
	}
	if err := r.fill(); err != nil {
		r.gone.Store(true)
		logger.Warn("no room for the reserve: the disk is full", "error", err)
	}
	return r
}

// held reports whether the reserve is there, and takes it again if it can.
func (r *reserve) held() bool {
	if !r.gone.Load() {
		return true
	}
	if !r.mu.TryLock() {
		return false // somebody is at it
	}
	defer r.mu.Unlock()
	if !r.gone.Load() {
		return true
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(r.path), &disk); err != nil || disk.Bavail*uint64(disk.Bsize) < reserveSize+reserveMargin {
		return false
	}
	if r.fill() != nil {
		return false
	}
	r.gone.Store(false)
	r.logger.Info("disk has room again")
	return true
}

// give gives the reserve up, and reports whether it was there.
func (r *reserve) give() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone.Load() {
		return false
	}
	// Nothing else may be written from now on; the room is there a moment later.
	r.gone.Store(true)
	if err := os.Truncate(r.path, 0); err != nil {
		r.logger.Error("reserve cannot be given up", "error", err)
		return false
	}
	r.logger.Warn("disk is full: the reserve is used for what ends work")
	return true
}

// fill writes the reserve's file. It leaves nothing behind if it fails.
func (r *reserve) fill() error {
	file, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, zeros{}, reserveSize)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Truncate(r.path, 0) // the first error says what is wrong
	}
	return err
}

// zeros is an endless source of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
