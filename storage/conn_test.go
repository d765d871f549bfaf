package storage

import (
	"fmt"
	"testing"
)

func TestPreparedStatementsAreBounded(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := s.OpenFile(t.Context(), "blue", FileOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	err = f.Write(t.Context(), func(tx *Tx) error {
		for i := range 3 * writerStmts {
			for _, sql := range []string{"SELECT 'often'", fmt.Sprintf("SELECT %d", i)} {
				if _, err := tx.Exec(sql); err != nil {
					return err
				}
			}
		}
		if got := len(tx.conn.stmts); got != writerStmts {
			t.Errorf("statements kept: got %d, want %d", got, writerStmts)
		}
		if tx.conn.stmts["SELECT 'often'"] == nil || tx.conn.stmts["SELECT 0"] != nil {
			t.Error("the statement used longest ago is not the one that was let go")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
