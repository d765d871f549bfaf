package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const lockName = "LOCK"

// lockDir takes the lock of dir. The lock is flock's, which belongs to the open
// file: a second Open of the same process is refused like another process's, and
// the kernel lets go of it when the process ends, however it ends. The lock file
// is never unlinked, as two processes could then hold two files of one name.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("%w: %s is held by process %s", ErrDirInUse, dir, holder(file)), file.Close())
	}
	if err == nil {
		err = recordHolder(file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file, nil
}

// holder returns the process id in the lock file, for people to read.
func holder(file *os.File) string {
	var buf [20]byte
	n, _ := file.ReadAt(buf[:], 0)
	pid := strings.TrimSpace(string(buf[:n]))
	if _, err := strconv.Atoi(pid); err != nil {
		return "of unknown id"
	}
	return pid
}

func recordHolder(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
