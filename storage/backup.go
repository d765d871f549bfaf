package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// Backup writes a copy of the file, as of now, to dest, which must not exist.
// Commits go on meanwhile. A file at dest is always whole: it is built beside it
// as dest.partial, synced and renamed. The wake time of the copy is long past,
// so that a copy put back into a data directory is opened and looked at.
func (f *File) Backup(ctx context.Context, dest string) error {
	if err := f.backup(ctx, dest); err != nil {
		return fmt.Errorf("back up file %s: %w", f.name, err)
	}
	return nil
}

func (f *File) backup(ctx context.Context, dest string) error {
	dest, err := filepath.Abs(dest)
	if err != nil {
		return err
	}
	there, err := present(dest)
	if err != nil {
		return classifyOS(err)
	}
	if there {
		return fmt.Errorf("%w: %s", ErrExist, dest)
	}
	partial := dest + ".partial"
	if err := classifyOS(unlink(withCompanions(partial)...)); err != nil {
		return err
	}
	err = f.View(ctx, func(*Tx) error { return f.copyTo(ctx, partial) })
	if err == nil {
		err = f.store.stampCopy(partial)
	}
	if err == nil {
		err = classifyOS(publish(partial, dest))
	}
	if err != nil {
		return errors.Join(err, classifyOS(unlink(withCompanions(partial)...)))
	}
	return nil
}

// copyTo runs inside a view, for its place among the readers: VACUUM INTO needs
// a connection of its own, without query_only and outside a transaction.
func (f *File) copyTo(ctx context.Context, dest string) error {
	c, err := dial(f.path, f.store.opts.VFS, f.store.opts.CacheKiB, 1, url.Values{"mode": {"ro"}})
	if err != nil {
		return err
	}
	f.store.descriptors.Add(readerDescriptors)
	defer f.store.descriptors.Add(-readerDescriptors)
	_, err = c.tx(ctx).Exec("VACUUM INTO ?", dest)
	return errors.Join(err, c.close())
}

// stampCopy makes the wake time of a copy one that has passed.
func (s *Store) stampCopy(path string) error {
	c, err := dial(path, s.opts.VFS, s.opts.CacheKiB, 1, url.Values{"mode": {"rw"}, "_synchronous": {"OFF"}})
	if err != nil {
		return err
	}
	return errors.Join(c.script("PRAGMA user_version=1"), c.close())
}
