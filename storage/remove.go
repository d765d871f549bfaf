package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Remove deletes the file of name, which must not be open. The name is free as
// soon as the main file has been renamed, durably, out of the way; whatever a
// crash leaves after that is cleared when the Store opens, or when the name is
// created again, so that no new file ever meets the WAL of an old one.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := ValidName(name); err != nil {
		return err
	}
	release, err := s.hold(ctx, name)
	if err != nil {
		return fmt.Errorf("remove file %s: %w", name, err)
	}
	defer release()
	if s.opened(name) != nil {
		return fmt.Errorf("remove file %s: %w", name, ErrOpen)
	}
	if err := s.remove(s.path(name)); err != nil {
		return fmt.Errorf("remove file %s: %w", name, err)
	}
	s.remember(name, nil, false)
	return nil
}

func (s *Store) remove(path string) error {
	tombstone := strings.TrimSuffix(path, fileSuffix) + removedSuffix
	err := os.Rename(path, tombstone)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotExist
	}
	if err == nil {
		err = syncFile(filepath.Dir(path))
	}
	if err == nil {
		err = unlink(leftovers(path)...)
	}
	return classifyOS(err)
}

// leftovers returns the paths that may be there although no main file is at path.
func leftovers(path string) []string {
	base := strings.TrimSuffix(path, fileSuffix)
	paths := withCompanions(base + newSuffix)
	for _, c := range companions {
		paths = append(paths, path+c)
	}
	return append(paths, base+removedSuffix)
}

// clearLeftovers removes what a crash left of files being created or removed.
func (s *Store) clearLeftovers() error {
	root := filepath.Join(s.dir, filesDir)
	folders, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, dir := range folders {
		if err := s.clearFolder(filepath.Join(root, dir.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) clearFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
	}
	for _, e := range entries {
		if !leftover(e.Name(), there) {
			continue
		}
		s.opts.Logger.Info("remove leftover file", "file", e.Name())
		if err := unlink(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// leftover reports whether the file called base has no place in a folder that
// holds the files there.
func leftover(base string, there map[string]bool) bool {
	if !strings.HasPrefix(base, filePrefix) {
		return false
	}
	if strings.HasSuffix(base, removedSuffix) || strings.HasSuffix(base, newSuffix) {
		return true
	}
	for _, c := range companions {
		if main, ok := strings.CutSuffix(base, c); ok {
			return strings.HasSuffix(main, newSuffix) || strings.HasSuffix(main, fileSuffix) && !there[main]
		}
	}
	return false
}
