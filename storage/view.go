package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Descriptors that SQLite holds: the file, its WAL and the shared memory, of
// which all connections of a file share the last.
const (
	writerDescriptors = 3
	readerDescriptors = 2
)

// View runs fn on the calling goroutine with a read-only Tx whose statements all
// see one state of the file: that of the first of them, which holds every write
// settled before View was called. If all read connections are in use, it waits
// for one. When ctx is done, a running statement is interrupted. A long view
// keeps the WAL from starting over.
func (f *File) View(ctx context.Context, fn func(*Tx) error) error {
	if err := f.queue.refused(); err != nil {
		return err
	}
	r, err := f.readers.take(ctx)
	if err != nil {
		return err
	}
	defer f.readers.give(r)
	t := r.conn.tx(r.ctx)
	err = r.view(t, fn)
	if errors.Is(t.fault, ErrCorrupt) {
		f.fail(t.fault)
	}
	if err != nil && context.Cause(r.ctx) == ErrClosed {
		return ErrClosed // interrupted by Abort
	}
	return err
}

// readers are the read-only connections of a file, opened when first needed. It
// is safe for concurrent use.
type readers struct {
	store *Store
	path  string
	slots chan struct{} // holds one value for each reader in use

	mu     sync.Mutex
	idle   []*conn
	active map[*reader]struct{}
	ended  error // why views are no longer let in
}

// reader is a connection in use by one view.
type reader struct {
	conn   *conn
	ctx    context.Context // of the view
	cancel context.CancelCauseFunc
	broken bool // the connection must not be used again
}

func newReaders(s *Store, path string) *readers {
	return &readers{
		store:  s,
		path:   path,
		slots:  make(chan struct{}, s.opts.MaxReaders),
		active: make(map[*reader]struct{}),
	}
}

// take returns a reader, which the caller must give back.
func (rs *readers) take(ctx context.Context) (*reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case rs.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := &reader{}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	err := rs.admit(r)
	if err == nil && r.conn == nil {
		r.conn, err = rs.store.dialReader(rs.path)
		if err == nil {
			rs.store.descriptors.Add(readerDescriptors)
		}
	}
	if err != nil {
		rs.give(r)
		return nil, err
	}
	return r, nil
}

// admit counts r as active and gives it an idle connection if there is one.
func (rs *readers) admit(r *reader) error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.ended != nil {
		return rs.ended
	}
	rs.active[r] = struct{}{}
	if n := len(rs.idle); n > 0 {
		r.conn, rs.idle = rs.idle[n-1], rs.idle[:n-1]
	}
	return nil
}

// give takes r back.
func (rs *readers) give(r *reader) {
	r.cancel(nil)
	if r.conn != nil && r.broken {
		rs.hangUp(r.conn)
		r.conn = nil
	}
	rs.mu.Lock()
	delete(rs.active, r)
	if r.conn != nil {
		rs.idle = append(rs.idle, r.conn)
	}
	rs.mu.Unlock()
	<-rs.slots
}

// trim closes the connections not in use.
func (rs *readers) trim() {
	rs.mu.Lock()
	idle := rs.idle
	rs.idle = nil
	rs.mu.Unlock()
	for _, c := range idle {
		rs.hangUp(c)
	}
}

// interrupt ends the views under way with ErrClosed.
func (rs *readers) interrupt() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.ended = ErrClosed
	for r := range rs.active {
		r.cancel(ErrClosed)
	}
}

// close lets no more views in, waits for those under way, and closes all
// connections.
func (rs *readers) close() {
	rs.mu.Lock()
	rs.ended = ErrClosed
	rs.mu.Unlock()
	for range cap(rs.slots) {
		rs.slots <- struct{}{}
	}
	rs.trim()
	for range cap(rs.slots) {
		<-rs.slots // for views that come too late to learn so
	}
}

// hangUp closes a read connection. What it holds has been read already, so an
// error would be of no use to anybody.
func (rs *readers) hangUp(c *conn) {
	_ = c.close()
	rs.store.descriptors.Add(-readerDescriptors)
}

// view runs fn in a read transaction of r. If that cannot be ended, or if fn
// panics, the connection is not used again.
func (r *reader) view(t *Tx, fn func(*Tx) error) error {
	r.broken = true
	if err := r.conn.script("BEGIN"); err != nil {
		return fmt.Errorf("begin view: %w", err)
	}
	err := fn(t)
	t.closeRows()
	if ended := r.conn.rollback(); ended != nil {
		return errors.Join(err, fmt.Errorf("end view: %w", ended))
	}
	r.broken = false
	return err
}
