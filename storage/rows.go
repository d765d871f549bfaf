package storage

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Rows is the result of a query, read row by row on the goroutine of its [Tx].
type Rows struct {
	tx   *Tx
	stmt *stmt // nil when closed
	rows driver.Rows
	row  []driver.Value
	err  error
}

// Next moves to the next row. It returns false after the last one, or on an
// error, which Err returns; the Rows are then closed.
func (r *Rows) Next() bool {
	if r.stmt == nil {
		return false
	}
	err := r.rows.Next(r.row)
	if err == nil {
		return true
	}
	if !errors.Is(err, io.EOF) {
		r.err = r.tx.note(classify(err))
	}
	_ = r.Close() // its error is kept in r.err
	return false
}

// Err returns the error that ended the rows, if any.
func (r *Rows) Err() error { return r.err }

// Close ends the query and returns the error that Err returns. It may be called
// more than once.
func (r *Rows) Close() error {
	if r.stmt == nil {
		return r.err
	}
	// Resetting a statement repeats the error of its last step.
	if err := r.rows.Close(); err != nil && r.err == nil {
		r.err = r.tx.note(classify(err))
	}
	t := r.tx
	if i := slices.Index(t.open, r); i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	}
	clear(r.row)
	t.conn.done(r.stmt)
	r.stmt = nil
	return r.err
}

// Scan copies the columns of the current row into dest: *int64, *int, *string,
// *[]byte, *bool and *float64, or a pointer to a pointer to one of these, which
// is set to nil for NULL. A *[]byte is set to nil for NULL as well. Text and
// blobs convert into each other, integers into floating point and booleans.
func (r *Rows) Scan(dest ...any) error {
	if r.stmt == nil {
		return errors.New("scan row: rows are closed")
	}
	if len(dest) != len(r.row) {
		return fmt.Errorf("scan row: %d columns into %d destinations", len(r.row), len(dest))
	}
	for i, d := range dest {
		if !scan(d, r.row[i]) {
			return fmt.Errorf("scan column %d: %T into %T", i+1, r.row[i], d)
		}
	}
	return nil
}

// scan stores v in what dest points to, and reports whether it fits.
func scan(dest any, v driver.Value) bool {
	switch d := dest.(type) {
	case *int64:
		return set(d, v, toInt64)
	case *int:
		return set(d, v, toInt)
	case *string:
		return set(d, v, toString)
	case *[]byte:
		*d = nil
		return v == nil || set(d, v, toBytes)
	case *bool:
		return set(d, v, toBool)
	case *float64:
		return set(d, v, toFloat64)
	case **int64:
		return setOrNil(d, v, toInt64)
	case **int:
		return setOrNil(d, v, toInt)
	case **string:
		return setOrNil(d, v, toString)
	case **[]byte:
		return setOrNil(d, v, toBytes)
	case **bool:
		return setOrNil(d, v, toBool)
	case **float64:
		return setOrNil(d, v, toFloat64)
	}
	return false
}

func set[T any](dest *T, v driver.Value, convert func(driver.Value) (T, bool)) bool {
	x, ok := convert(v)
	if ok {
		*dest = x
	}
	return ok
}

func setOrNil[T any](dest **T, v driver.Value, convert func(driver.Value) (T, bool)) bool {
	if v == nil {
		*dest = nil
		return true
	}
	x := new(T)
	if !set(x, v, convert) {
		return false
	}
	*dest = x
	return true
}

func toInt64(v driver.Value) (int64, bool) {
	x, ok := v.(int64)
	return x, ok
}

func toInt(v driver.Value) (int, bool) {
	x, ok := v.(int64)
	return int(x), ok && int64(int(x)) == x
}

func toString(v driver.Value) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case []byte:
		return string(x), true
	}
	return "", false
}

func toBytes(v driver.Value) ([]byte, bool) {
	switch x := v.(type) {
	case []byte:
		return x, true // a copy already, made by the driver for this row
	case string:
		return []byte(x), true
	}
	return nil, false
}

func toBool(v driver.Value) (bool, bool) {
	switch x := v.(type) {
	case int64:
		return x != 0, true
	case bool: // the driver's reading of a column declared BOOLEAN
		return x, true
	}
	return false, false
}

func toFloat64(v driver.Value) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	}
	return 0, false
}
