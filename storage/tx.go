package storage

import (
	"context"
	"database/sql/driver"
	"errors"
)

// execArgs is the number of arguments up to which the driver's Exec, which
// crosses into C once per argument and brings the number of changes along, is
// cheaper than its Query, which binds all arguments in one crossing but needs a
// second statement to learn the changes.
const execArgs = 12

// Tx runs statements in the transaction of a command or a view. Prepared
// statements are kept by their SQL text, so the text should be constant. A Tx is
// used by one goroutine, and only until the function that received it returns.
//
// The arguments of statements are nil, int, int64, bool, string, []byte and
// float64; a nil []byte is NULL. They are copied.
type Tx struct {
	conn *conn
	// ctx interrupts the statements of a view. It lives as long as the one call of
	// View that made the Tx; the writer's is the background context, which is half
	// the cost of one that can be cancelled.
	ctx    context.Context
	open   []*Rows
	lastID int64
	fault  error // the first storage trouble, even if the command ignored it
	sync   bool
}

// Exec runs one statement and returns how many rows it inserted, updated or
// deleted. Rows that the statement returns are dropped.
func (t *Tx) Exec(sql string, args ...any) (changes int64, err error) {
	s, err := t.conn.prepare(sql)
	if err != nil {
		return 0, t.note(err)
	}
	defer t.conn.done(s)
	bound, err := s.bind(args)
	if err != nil {
		return 0, err
	}
	// The driver's Exec leaves a statement that returned a row open. Whether it
	// returns rows is known once it ran through Query.
	if s.columns == 0 && len(args) <= execArgs {
		res, err := s.raw.ExecContext(t.ctx, bound)
		if err != nil {
			return 0, t.note(classify(err))
		}
		changes, _ = res.RowsAffected()
		t.lastID, _ = res.LastInsertId()
		return changes, nil
	}
	rows, err := s.raw.QueryContext(t.ctx, bound)
	if err != nil {
		return 0, t.note(classify(err))
	}
	s.columns = len(rows.Columns())
	if err := rows.Close(); err != nil {
		return 0, t.note(classify(err))
	}
	_, err = t.QueryRow("SELECT changes(), last_insert_rowid()", nil, &changes, &t.lastID)
	return changes, err
}

// LastInsertID returns the rowid of the last row inserted, as of the latest Exec.
func (t *Tx) LastInsertID() int64 { return t.lastID }

// Query runs one statement that returns rows. A statement with a RETURNING clause
// has made all its changes when Query returns. The Rows are closed at the latest
// when the command or view ends.
func (t *Tx) Query(sql string, args ...any) (*Rows, error) {
	s, err := t.conn.prepare(sql)
	if err != nil {
		return nil, t.note(err)
	}
	bound, err := s.bind(args)
	if err != nil {
		t.conn.done(s)
		return nil, err
	}
	rows, err := s.raw.QueryContext(t.ctx, bound)
	if err != nil {
		t.conn.done(s)
		return nil, t.note(classify(err))
	}
	s.columns = len(rows.Columns())
	if cap(s.row) < s.columns {
		s.row = make([]driver.Value, s.columns)
	}
	r := &Rows{tx: t, stmt: s, rows: rows, row: s.row[:s.columns]}
	t.open = append(t.open, r)
	return r, nil
}

// QueryRow runs one statement and scans its first row into dest. It returns
// false if there is none.
func (t *Tx) QueryRow(sql string, args []any, dest ...any) (found bool, err error) {
	rows, err := t.Query(sql, args...)
	if err != nil {
		return false, err
	}
	if found = rows.Next(); found {
		err = rows.Scan(dest...)
	}
	return found && err == nil, errors.Join(err, rows.Close())
}

// RequireSync makes the commit of this command wait for the disk even if the
// file is relaxed.
func (t *Tx) RequireSync() { t.sync = true }

// note remembers storage trouble. SQLite may have rolled back the whole
// transaction because of it, so the command must not be taken for applied even
// if it goes on.
func (t *Tx) note(err error) error {
	if t.fault == nil && errors.Is(err, ErrUnavailable) {
		t.fault = err
	}
	return err
}

// closeRows closes the Rows that were left open, which would keep the
// transaction from ending.
func (t *Tx) closeRows() {
	for len(t.open) > 0 {
		_ = t.open[len(t.open)-1].Close() // its error is noted
	}
}

// reset makes t ready for another transaction.
func (t *Tx) reset() {
	t.closeRows()
	t.fault, t.sync, t.lastID = nil, false, 0
}
