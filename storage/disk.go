package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// present reports whether there is a file at path.
func present(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// unlink removes files, of which any may be absent.
func unlink(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// withCompanions returns path and the paths of what SQLite may have beside it.
// The order is that of safe removal: a WAL must be gone before its file is.
func withCompanions(path string) []string {
	var all []string
	for _, c := range companions {
		all = append(all, path+c)
	}
	return append(all, path)
}

// syncFile makes the content of a file, or the entries of a folder, durable.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// makeFolder makes the folder of a file, and makes it durable.
func (s *Store) makeFolder(path string) error {
	dir := filepath.Dir(path)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// The folder above may be new as well; it costs one sync per folder.
	return errors.Join(syncFile(filepath.Dir(dir)), syncFile(s.dir))
}
