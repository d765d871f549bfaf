package storage

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// File is an open file: one writer goroutine, which commits queued commands as
// groups, and a few read-only connections. It is safe for concurrent use.
// Close and Abort wait for the writer, so they must not be called from an Op or
// from a function of [FileOptions].
type File struct {
	store   *Store
	name    string
	path    string
	opts    FileOptions
	queue   *queue
	readers *readers
	meter   meter

	wake    atomic.Uint32 // as in the header
	relaxed atomic.Bool   // as asked for

	done chan struct{} // closed when the writer has ended
	err  error         // of closing; read after done

	// Of the writer goroutine.
	tx       *Tx
	batch    []Op    // buffer
	results  []error // buffer
	lax      bool    // synchronous=NORMAL is in force
	headWake uint32  // what the header holds
	stuck    bool    // the last checkpoint did not work
}

func newFile(s *Store, name, path string, c *conn, o FileOptions) (*File, error) {
	f := &File{
		store:   s,
		name:    name,
		path:    path,
		opts:    o,
		queue:   newQueue(),
		readers: newReaders(s, path),
		done:    make(chan struct{}),
		tx:      c.tx(context.Background()),
	}
	var version int64 // signed in SQL
	if _, err := f.tx.QueryRow("PRAGMA user_version", nil, &version); err != nil {
		return nil, err
	}
	f.headWake = uint32(version)
	f.wake.Store(f.headWake)
	s.descriptors.Add(writerDescriptors)
	return f, nil
}

// Submit queues op. It never blocks and never settles op itself. If the file has
// failed or is closed, op is settled with the failure or [ErrClosed] on a
// goroutine of its own.
func (f *File) Submit(op Op) {
	if err := f.queue.push(op); err != nil {
		go op.Settle(err)
	}
}

// Write is WriteIn with [LaneNormal].
func (f *File) Write(ctx context.Context, fn func(*Tx) error) error {
	return f.WriteIn(ctx, LaneNormal, fn)
}

// WriteIn runs fn as a command of the lane and waits until it is settled.
// Cancelling ctx abandons the wait, not a commit already begun; fn does not run
// if ctx is done before its turn.
func (f *File) WriteIn(ctx context.Context, lane Lane, fn func(*Tx) error) error {
	op := &call{
		lane: lane,
		apply: func(tx *Tx) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return fn(tx)
		},
		settled: make(chan error, 1),
	}
	f.Submit(op)
	select {
	case err := <-op.settled:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call is the Op of WriteIn.
type call struct {
	lane    Lane
	apply   func(*Tx) error
	settled chan error
}

func (c *call) Lane() Lane         { return c.lane }
func (c *call) Apply(tx *Tx) error { return c.apply(tx) }
func (c *call) Settle(err error)   { c.settled <- err }

// Reclaim gives up to so many free pages at the end of the file back to the file
// system, and returns how many it gave. Each call is one command; call it with a
// small number until it returns zero.
func (f *File) Reclaim(ctx context.Context, pages int) (int, error) {
	freed := make(chan int, 1)
	err := f.Write(ctx, func(tx *Tx) error {
		rows, err := tx.Query(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
		if err != nil {
			return err
		}
		n := 0
		for rows.Next() {
			n++
		}
		select { // an earlier try may have left its count
		case <-freed:
		default:
		}
		freed <- n
		return rows.Err()
	})
	if err != nil {
		return 0, fmt.Errorf("reclaim pages: %w", err)
	}
	return <-freed, nil
}

// SetRelaxed makes commits, from the next one on, durable against the end of the
// process but not against power loss: they are not synced.
func (f *File) SetRelaxed(relaxed bool) { f.relaxed.Store(relaxed) }

// SetWake sets the time that [Store.Files] reports for this file. Close writes
// it, in whole seconds, rounded down. The zero time is none.
func (f *File) SetWake(t time.Time) { f.wake.Store(encodeWake(t)) }

// Stats returns counters of this File since it was opened.
func (f *File) Stats() Stats { return f.meter.read() }

// Close commits what is queued, waits for views, writes the wake time and closes
// the file so that it has no WAL. On a failed file it is like Abort. A second
// call waits for the first, and returns its error.
func (f *File) Close() error { return f.end(false) }

// Abort closes the file without running what is queued, which is settled with
// [ErrClosed], or with the failure if the file has failed. A commit already
// begun is finished and views are interrupted. The file counts as not closed
// properly.
func (f *File) Abort() error { return f.end(true) }

func (f *File) end(discard bool) error {
	f.queue.close(discard)
	if discard {
		f.readers.interrupt()
	}
	<-f.done
	return f.err
}

// shut closes the connections, on the writer goroutine.
func (f *File) shut(properly bool) error {
	f.readers.close()
	c := f.tx.conn
	var err error
	if properly {
		err = f.finish()
	}
	if properly && err == nil {
		err = c.close()
	} else {
		err = errors.Join(err, f.drop(c))
	}
	f.store.descriptors.Add(-writerDescriptors)
	if err != nil {
		return fmt.Errorf("close file %s: %w", f.name, err)
	}
	return nil
}

// drop closes c and leaves the WAL as it is, to be recovered from when the file
// is opened again. The last connection that closes would checkpoint it. After a
// failed sync that could lose data: pages that an earlier checkpoint copied may
// be neither on the disk nor dirty, and it would not copy them again. So c is
// made not to be the last one: that is a connection which cannot write.
func (f *File) drop(c *conn) error {
	last, err := f.store.dialReader(f.path)
	if err == nil {
		// It counts as a user of the WAL once it has read.
		_, err = last.tx(context.Background()).QueryRow("SELECT count(*) FROM sqlite_schema", nil, new(int64))
	}
	if err != nil {
		f.store.opts.Logger.Warn("file is checkpointed on closing", "file", f.name, "error", err)
	}
	err = errors.Join(c.keepWAL(), c.close())
	if last != nil {
		err = errors.Join(err, last.close())
	}
	return err
}

// finish writes the wake time and copies the WAL into the main file. SQLite
// would do the latter on closing, but would not say whether it failed.
func (f *File) finish() error {
	if wake := f.wake.Load(); wake != f.headWake {
		if err := f.writeHeader(wake); err != nil {
			return err
		}
	}
	_, err := f.tx.conn.checkpoint("PASSIVE")
	return err
}

// writeHeader commits the wake time to the header.
func (f *File) writeHeader(wake uint32) error {
	if err := f.tx.conn.script(fmt.Sprintf("PRAGMA user_version=%d", int32(wake))); err != nil {
		return fmt.Errorf("write header: %w", err)
	}
	f.headWake = wake
	return nil
}
