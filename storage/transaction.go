package storage

import (
	"errors"
	"fmt"
)

// attempt runs ops in one transaction and returns nil if that is committed;
// results then holds the error of each op. Otherwise the transaction was rolled
// back, and results holds the failure for each op.
func (f *File) attempt(ops []Op, results []error) error {
	f.tx.reset()
	err := f.begin()
	// What is left of a full disk is for those who may use the reserve, who stand
	// first in ops. Who writes nothing needs no room.
	spare := !essential(ops[len(ops)-1]) && !f.store.reserve.held()
	var before, after int64
	if err == nil && spare {
		before, err = f.changes()
	}
	for i := 0; i < len(ops) && err == nil; {
		n := neighbours(ops[i:])
		err = f.apply(ops[i:i+n], results[i:i+n])
		i += n
	}
	if err == nil && spare {
		if after, err = f.changes(); err == nil && after != before {
			err = ErrDiskFull
		}
	}
	if err == nil {
		err = f.commitTx()
	}
	if err == nil {
		return nil
	}
	f.abandon(results, err)
	return err
}

// changes counts the rows that the writer has changed since it was opened.
func (f *File) changes() (n int64, err error) {
	if _, err := f.tx.QueryRow("SELECT total_changes()", nil, &n); err != nil {
		return 0, fmt.Errorf("count changes: %w", err)
	}
	return n, nil
}

// begin starts a transaction that takes the write lock at once, in the mode of
// syncing that is asked for, which cannot change inside a transaction.
func (f *File) begin() error {
	if relaxed := f.relaxed.Load(); relaxed != f.lax {
		if err := f.setSync(relaxed); err != nil {
			return err
		}
	}
	if _, err := f.tx.Exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	return nil
}

func (f *File) setSync(relaxed bool) error {
	mode := "FULL"
	if relaxed {
		mode = "NORMAL"
	}
	if err := f.tx.conn.script("PRAGMA synchronous=" + mode); err != nil {
		return fmt.Errorf("set synchronous: %w", err)
	}
	f.lax = relaxed
	return nil
}

// apply runs one group: together if it has more than one member, and one by one
// if that does not work. The error it returns ends the transaction.
func (f *File) apply(group []Op, results []error) error {
	if len(group) > 1 {
		err, broken := f.savepoint(group)
		if broken != nil {
			results[0] = broken
			return broken
		}
		if err == nil {
			clear(results)
			return nil
		}
	}
	for i := range group {
		var broken error
		if results[i], broken = f.savepoint(group[i : i+1]); broken != nil {
			results[i] = broken
			return broken
		}
	}
	return nil
}

// savepoint runs one command, or one batch, in a savepoint. The first error is
// the command's own and has been rolled back. The second one says that the
// transaction cannot go on.
func (f *File) savepoint(group []Op) (err, broken error) {
	t := f.tx
	if _, err := t.Exec("SAVEPOINT command"); err != nil {
		return nil, err
	}
	p := guard(func() {
		if len(group) > 1 {
			err = group[0].(Batcher).ApplyAll(t, group)
		} else {
			err = group[0].Apply(t)
		}
	})
	t.closeRows()
	switch {
	case p != nil:
		return nil, p
	case t.fault != nil:
		return nil, t.fault
	case err == nil:
		_, broken = t.Exec("RELEASE command")
		return nil, broken
	}
	if _, broken := t.Exec("ROLLBACK TO command"); broken != nil {
		return nil, broken
	}
	if _, broken := t.Exec("RELEASE command"); broken != nil {
		return nil, broken
	}
	return err, f.rolledBack()
}

// commitTx commits, and syncs if the mode or a command asks for it.
func (f *File) commitTx() error {
	if _, err := f.tx.Exec("COMMIT"); err != nil {
		return fmt.Errorf("commit transaction: %w", err)
	}
	if !f.tx.sync || !f.lax {
		return nil
	}
	// The commit is in the WAL, not yet synced, and a checkpoint syncs the WAL only
	// if views let it copy something. A second commit, of one page, with full
	// syncing syncs the whole WAL. If it fails, nobody knows what the disk holds,
	// and the commands must not be run again: that is an ErrIO whatever the cause.
	err := f.setSync(false)
	if err == nil {
		err = f.writeHeader(f.headWake)
	}
	if err == nil {
		err = f.setSync(true)
	}
	if err != nil {
		return fmt.Errorf("%w: sync commit: %v", ErrIO, err)
	}
	return nil
}

// abandon rolls the transaction back and gives the reason to each of its
// commands. Beside one that panicked, the others were aborted.
func (f *File) abandon(results []error, why error) {
	f.tx.closeRows()
	if err := f.tx.conn.rollback(); err != nil {
		f.fail(fmt.Errorf("%w: roll back transaction: %v", ErrIO, err))
	}
	if err := f.rolledBack(); err != nil {
		f.fail(err)
	}
	others := why
	if p := (*PanicError)(nil); errors.As(why, &p) {
		others = ErrAborted
	}
	for i := range results {
		if others == why || results[i] != why {
			results[i] = others
		}
	}
}

// rolledBack tells the owner of a rollback.
func (f *File) rolledBack() error {
	if f.opts.RolledBack == nil {
		return nil
	}
	if p := guard(f.opts.RolledBack); p != nil {
		return p
	}
	return nil
}

// tend looks at the WAL after a commit has been settled, and copies it into the
// main file when it has grown to the usual size.
func (f *File) tend() {
	c := f.tx.conn
	w, err := c.checkpoint("NOOP")
	if err == nil && w.frames >= checkpointFrom && w.written < w.frames {
		w, err = c.checkpoint("PASSIVE")
	}
	stuck := f.stuck
	f.stuck = err != nil
	switch {
	case err == nil:
		f.meter.wal(w.frames)
	case fatal(err):
		f.fail(err)
	case !stuck: // said once, not after every commit
		// Without room in the main file the WAL keeps growing until there is some.
		f.store.opts.Logger.Warn("checkpoint failed", "file", f.name, "error", err)
	}
}
