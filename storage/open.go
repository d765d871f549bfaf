package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// FileOptions configures a [File]. The functions run on the writer goroutine and
// must neither block nor close the File.
type FileOptions struct {
	Create   bool   // make the file, which must not be there
	Lines    []Line // migrations, applied in this order
	MaxBatch int    // commands in one commit; 0: 128
	// Flushed is called after all commands of one commit, or of a commit that
	// failed, have been settled.
	Flushed func()
	// RolledBack is called when a savepoint or the transaction has been rolled
	// back, before another command runs, so that memory that mirrors rows can be
	// read again.
	RolledBack func()
	// Failed is called once if the file stops serving by itself, after everything
	// queued has been settled. The owner then aborts the File and opens it again.
	// After a panic, the error is the *PanicError.
	Failed func(error)
}

// OpenFile opens the file of name, or creates it, and brings its schema up to
// date. The caller must close the File. Among the errors are [ErrNotExist],
// [ErrExist], [ErrOpen], [ErrNewerSchema], [ErrSchemaMismatch] and [ErrCorrupt];
// a file that is refused for its content has not been written to.
func (s *Store) OpenFile(ctx context.Context, name string, o FileOptions) (*File, error) {
	if err := ValidName(name); err != nil {
		return nil, err
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = 128
	}
	migrations, err := load(o.Lines)
	if err != nil {
		return nil, err
	}
	release, err := s.hold(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open file %s: %w", name, err)
	}
	defer release()
	f, err := s.openHeld(ctx, name, o, migrations)
	if errors.Is(err, ErrDiskFull) && !o.Create && s.reserve.give() {
		// Even reading a file takes a little room, for the index of its WAL.
		f, err = s.openHeld(ctx, name, o, migrations)
	}
	if err != nil {
		return nil, fmt.Errorf("open file %s: %w", name, err)
	}
	return f, nil
}

func (s *Store) openHeld(ctx context.Context, name string, o FileOptions, migrations []migration) (*File, error) {
	if s.opened(name) != nil {
		return nil, ErrOpen
	}
	path := s.path(name)
	there, err := present(path)
	switch {
	case err != nil:
		return nil, classifyOS(err)
	case there && o.Create:
		return nil, ErrExist
	case !there && !o.Create:
		return nil, ErrNotExist
	case o.Create && !s.reserve.held():
		return nil, ErrDiskFull
	}
	var todo []migration
	if o.Create {
		err = s.build(ctx, path, migrations)
	} else {
		todo, err = s.inspect(path, o.Lines, migrations)
	}
	if err != nil {
		return nil, err
	}
	c, err := s.connect(ctx, name, path, todo)
	if err != nil {
		return nil, err
	}
	f, err := newFile(s, name, path, c, o)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	s.remember(name, f, false)
	go f.run()
	return f, nil
}

// build makes a new file with its whole schema under another name, syncs it, and
// renames it. Nothing is synced before, so that creating costs two syncs.
func (s *Store) build(ctx context.Context, path string, todo []migration) error {
	if err := classifyOS(s.makeFolder(path)); err != nil {
		return err
	}
	if err := classifyOS(unlink(leftovers(path)...)); err != nil {
		return err
	}
	fresh := strings.TrimSuffix(path, fileSuffix) + newSuffix
	err := s.fill(ctx, fresh, todo)
	if err == nil {
		err = classifyOS(publish(fresh, path))
	}
	if err != nil {
		return errors.Join(err, classifyOS(unlink(withCompanions(fresh)...)))
	}
	return nil
}

func (s *Store) fill(ctx context.Context, path string, todo []migration) error {
	c, err := dial(path, s.opts.VFS, s.opts.CacheKiB, writerStmts, url.Values{
		"mode":          {"rwc"},
		"_auto_vacuum":  {"incremental"},
		"_journal_mode": {"MEMORY"},
		"_synchronous":  {"OFF"},
	})
	if err != nil {
		return err
	}
	err = c.script(schemaSQL)
	if err == nil {
		err = migrate(ctx, c, todo)
	}
	if err == nil {
		err = c.script("PRAGMA journal_mode=WAL")
	}
	return errors.Join(err, c.close())
}

// publish gives a finished file its name, durably.
func publish(fresh, path string) error {
	if err := syncFile(fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// inspect returns the migrations that an existing file still needs, or an error
// if this program must not touch it. It looks through a connection that cannot
// write. A file that was closed properly is read as immutable, as a WAL database
// would otherwise get a WAL beside it by being read. If there is a WAL, it holds
// part of the content; reading it leaves it as it is.
func (s *Store) inspect(path string, lines []Line, migrations []migration) ([]migration, error) {
	if _, err := readHeader(path); err != nil {
		return nil, err
	}
	dirty, err := present(path + "-wal")
	if err != nil {
		return nil, classifyOS(err)
	}
	query := url.Values{"mode": {"ro"}, "_query_only": {"1"}}
	if !dirty {
		query.Set("immutable", "1")
	}
	c, err := dial(path, s.opts.VFS, s.opts.CacheKiB, readerStmts, query)
	if err != nil {
		return nil, err
	}
	done, err := applied(c)
	if err := errors.Join(err, c.close()); err != nil {
		return nil, err
	}
	return pending(migrations, lines, done)
}

// connect opens the writing connection and makes sure that what it will serve is
// on the disk.
//
// When a sync fails, the kernel may mark the pages it could not write as clean:
// they read back well from memory, no later sync writes them, and a power loss
// takes them away with everything that was appended after them. A WAL that a
// crash or a failure left is therefore copied into the main file and synced
// there before anything builds on it. After a failure in this process the
// content is checked as well.
func (s *Store) connect(ctx context.Context, name, path string, todo []migration) (*conn, error) {
	dirty, err := present(path + "-wal")
	if err != nil {
		return nil, classifyOS(err)
	}
	c, err := s.dialWriter(path)
	if err != nil {
		return nil, err
	}
	suspect := s.isSuspect(name)
	if dirty || suspect {
		err = c.checkpointAll()
	}
	if err == nil && suspect {
		err = c.quickCheck(ctx)
	}
	if err == nil {
		err = migrate(ctx, c, todo)
	}
	if err == nil {
		return c, nil
	}
	if damaged(err) {
		s.remember(name, nil, true)
	}
	// The file was not closed properly before, and still is not.
	return nil, errors.Join(err, c.keepWAL(), c.close())
}

// quickCheck reads every page of the file.
func (c *conn) quickCheck(ctx context.Context) error {
	t := c.tx(ctx)
	var verdict string
	if _, err := t.QueryRow("PRAGMA quick_check(1)", nil, &verdict); err != nil {
		return fmt.Errorf("check file: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("check file: %w", ErrCorrupt)
	}
	return nil
}
