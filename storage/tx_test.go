package storage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
)

// write runs fn in a command and fails the test if it errs.
func write(t *testing.T, f *storage.File, fn func(*storage.Tx) error) {
	t.Helper()
	if err := f.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func newFile(t *testing.T) *storage.File {
	t.Helper()
	return create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	write(t, f, func(tx *storage.Tx) error {
		const echo = "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?"
		var (
			i     int
			i64   int64
			truth bool
			text  string
			blob  []byte
			real  float64
			null  *string
			there *int64
			none  = []byte("x")
		)
		for range 2 { // prepared, and from the cache
			found, err := tx.QueryRow(echo, []any{-7, int64(1) << 62, true, "a\x00\xff", []byte{0, 1}, 1.5, nil, int64(9), []byte(nil)},
				&i, &i64, &truth, &text, &blob, &real, &null, &there, &none)
			if err != nil || !found {
				return fmt.Errorf("found %v: %w", found, err)
			}
			got := []any{i, i64, truth, text, blob, real, null, *there, none}
			want := []any{-7, int64(1) << 62, true, "a\x00\xff", []byte{0, 1}, 1.5, (*string)(nil), int64(9), []byte(nil)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		}
		var empty string
		var emptyBlob []byte
		var whole float64
		if _, err := tx.QueryRow("SELECT ?, ?, ?", []any{"", []byte{}, 3}, &empty, &emptyBlob, &whole); err != nil {
			return err
		}
		if empty != "" || emptyBlob == nil || len(emptyBlob) != 0 || whole != 3 {
			t.Errorf("got %q, %v, %v, want an empty text, an empty blob that is not NULL, and 3", empty, emptyBlob, whole)
		}
		return nil
	})
}

func TestMistakesAreErrorsWithoutValues(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	for name, fn := range map[string]func(*storage.Tx) error{
		"too few arguments": func(tx *storage.Tx) error { _, err := tx.Exec("SELECT ?, ?", "secret"); return err },
		"too many arguments": func(tx *storage.Tx) error {
			_, err := tx.Query("SELECT ?", "secret", "secret")
			return err
		},
		"argument type": func(tx *storage.Tx) error { _, err := tx.Exec("SELECT ?", struct{ s string }{"secret"}); return err },
		"NULL into int": func(tx *storage.Tx) error { _, err := tx.QueryRow("SELECT NULL", nil, new(int)); return err },
		"text into int": func(tx *storage.Tx) error { _, err := tx.QueryRow("SELECT 'secret'", nil, new(int)); return err },
		"destinations":  func(tx *storage.Tx) error { _, err := tx.QueryRow("SELECT 'secret'", nil); return err },
		"destination":   func(tx *storage.Tx) error { _, err := tx.QueryRow("SELECT 'secret'", nil, new(uint8)); return err },
		"syntax":        func(tx *storage.Tx) error { _, err := tx.Exec("SELEC 1"); return err },
	} {
		err := f.Write(t.Context(), fn)
		if err == nil || strings.Contains(err.Error(), "secret") || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: got %v, want an error of the caller's that holds no value", name, err)
		}
	}
}

func TestExecCountsChanges(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	write(t, f, func(tx *storage.Tx) error {
		// Above and below the number of arguments where the path changes, and with
		// rows returned, more than once so that both ways of running are taken.
		for round := range 3 {
			for _, n := range []int{1, 6, 7, 40} {
				var args []any
				for i := range n {
					args = append(args, 1000*round+100*n+i, "x")
				}
				values := strings.TrimSuffix(strings.Repeat("(?, ?), ", n), ", ")
				for _, sql := range []string{"INSERT INTO item VALUES " + values, "INSERT OR REPLACE INTO item VALUES " + values + " RETURNING id"} {
					changes, err := tx.Exec(sql, args...)
					if err != nil {
						return err
					}
					if last := args[2*n-2].(int); changes != int64(n) || tx.LastInsertID() != int64(last) {
						t.Errorf("%d rows: got %d changes, last id %d, want last id %d", n, changes, tx.LastInsertID(), last)
					}
				}
			}
		}
		if changes, err := tx.Exec("DELETE FROM item WHERE id < 0"); err != nil || changes != 0 {
			t.Errorf("DELETE of nothing: got %d, %v", changes, err)
		}
		return nil
	})
}

func TestRowsLeftOpenDoNotHoldUpTheCommit(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	mustInsert(t, f, 1, 2, 3)
	var left *storage.Rows
	write(t, f, func(tx *storage.Tx) error {
		var err error
		left, err = tx.Query("DELETE FROM item RETURNING id")
		if err == nil && !left.Next() {
			err = errors.New("no row")
		}
		return err
	})
	if err := left.Scan(new(int)); err == nil || left.Next() {
		t.Error("rows are still open after their command")
	}
	if got := items(t, f); len(got) != 0 {
		t.Errorf("items: got %v, want none", got)
	}
}

func TestQueriesOfOneTextNest(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	mustInsert(t, f, 1, 2, 3)
	write(t, f, func(tx *storage.Tx) error {
		n := 0
		outer, err := tx.Query("SELECT id FROM item")
		if err != nil {
			return err
		}
		for outer.Next() {
			inner, err := tx.Query("SELECT id FROM item")
			if err != nil {
				return err
			}
			for inner.Next() {
				n++
			}
			if err := errors.Join(inner.Err(), inner.Close()); err != nil {
				return err
			}
		}
		if n != 9 {
			t.Errorf("inner rows: got %d, want 9", n)
		}
		return outer.Err()
	})
}

func TestStatementsBeyondTheCacheWork(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	write(t, f, func(tx *storage.Tx) error {
		rows, err := tx.Query("SELECT 1 UNION ALL SELECT 2")
		if err != nil {
			return err
		}
		for i := range 400 {
			var n int
			if _, err := tx.QueryRow(fmt.Sprintf("SELECT %d", i), nil, &n); err != nil || n != i {
				return fmt.Errorf("statement %d: got %d, %w", i, n, err)
			}
		}
		n := 0
		for rows.Next() {
			n++
		}
		if n != 2 {
			t.Errorf("rows of a statement in use all along: got %d, want 2", n)
		}
		return rows.Err()
	})
}

func TestIgnoredStorageTroubleFailsTheCommand(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	p := plugIn(t, f)
	neighbour := inserting(storage.LaneNormal, 1)
	careless := newCommand(storage.LaneNormal, func(tx *storage.Tx) error {
		_, _ = tx.Exec("PRAGMA max_page_count=1") // no growth from here on
		_, _ = tx.Exec("INSERT INTO item VALUES (2, ?)", strings.Repeat("x", 100_000))
		return nil
	})
	f.Submit(neighbour)
	f.Submit(careless)
	p.pull()
	for name, c := range map[string]*command{"careless": careless, "neighbour": neighbour} {
		if err := <-c.settled; !errors.Is(err, storage.ErrDiskFull) {
			t.Errorf("%s command: got %v, want ErrDiskFull", name, err)
		}
	}
	if got := items(t, f); len(got) != 0 {
		t.Errorf("items: got %v, want none", got)
	}
}
