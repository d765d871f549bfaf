package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/skerryhq/skerry/storage"
)

// lockDirEnv makes the test binary another process that opens a store.
const lockDirEnv = "STORAGE_TEST_LOCK_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockDirEnv); dir != "" {
		_, err := storage.Open(dir, storage.Options{})
		fmt.Print(err)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// itemLine is the schema of most tests.
func itemLine(migrations ...string) storage.Line {
	files := fstest.MapFS{
		"001_item.sql": {Data: []byte(`CREATE TABLE item (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;`)},
	}
	for i, sql := range migrations {
		files[fmt.Sprintf("%03d_more.sql", i+2)] = &fstest.MapFile{Data: []byte(sql)}
	}
	return storage.Line{Name: "items", FS: files}
}

func openStore(t testing.TB, dir string, o storage.Options) *storage.Store {
	t.Helper()
	s, err := storage.Open(dir, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close store: %v", err)
		}
	})
	return s
}

// open opens or creates a file with the item schema; the test's end aborts it.
func open(t testing.TB, s *storage.Store, name string, o storage.FileOptions) *storage.File {
	t.Helper()
	if o.Lines == nil {
		o.Lines = []storage.Line{itemLine()}
	}
	f, err := s.OpenFile(t.Context(), name, o)
	if err != nil {
		t.Fatalf("OpenFile(%s): %v", name, err)
	}
	t.Cleanup(func() { f.Abort() })
	return f
}

func create(t testing.TB, s *storage.Store, name string) *storage.File {
	t.Helper()
	return open(t, s, name, storage.FileOptions{Create: true})
}

func closeFile(t testing.TB, f *storage.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func insert(f *storage.File, id int) error {
	return f.Write(context.Background(), func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item (id, body) VALUES (?, ?)", id, "body")
		return err
	})
}

func mustInsert(t testing.TB, f *storage.File, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if err := insert(f, id); err != nil {
			t.Fatalf("insert %d: %v", id, err)
		}
	}
}

// items returns the ids in the file.
func items(t testing.TB, f *storage.File) []int {
	t.Helper()
	var ids []int
	err := f.View(context.Background(), func(tx *storage.Tx) error {
		rows, err := tx.Query("SELECT id FROM item ORDER BY id")
		if err != nil {
			return err
		}
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("View: %v", err)
	}
	return ids
}

// command is an Op made of functions.
type command struct {
	lane     storage.Lane
	apply    func(*storage.Tx) error
	onSettle func(error)
	settled  chan error
}

func newCommand(lane storage.Lane, apply func(*storage.Tx) error) *command {
	return &command{lane: lane, apply: apply, settled: make(chan error, 2)}
}

func inserting(lane storage.Lane, id int) *command {
	return newCommand(lane, func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item (id, body) VALUES (?, ?)", id, "body")
		return err
	})
}

func (c *command) Lane() storage.Lane         { return c.lane }
func (c *command) Apply(tx *storage.Tx) error { return c.apply(tx) }
func (c *command) Settle(err error) {
	c.settled <- err
	if c.onSettle != nil {
		c.onSettle(err)
	}
}

// plug keeps the writer busy until it is pulled, so that a queue can form.
type plug struct {
	*command
	running, pulled chan struct{}
	once            sync.Once
}

func plugIn(t testing.TB, f *storage.File) *plug {
	t.Helper()
	p := &plug{running: make(chan struct{}), pulled: make(chan struct{})}
	p.command = newCommand(storage.LaneNormal, func(*storage.Tx) error {
		p.once.Do(func() { close(p.running) })
		<-p.pulled
		return nil
	})
	f.Submit(p)
	<-p.running
	return p
}

func (p *plug) pull() { close(p.pulled) }

// diskPath finds the main file of name.
func diskPath(t testing.TB, dir, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "namespaces", "*", "ns-"+name+".sqlite"))
	if err != nil || len(found) != 1 {
		t.Fatalf("main file of %s: found %v, %v", name, found, err)
	}
	return found[0]
}

// copyFiles copies the main file of name and its WAL into a store directory of
// their own, as a crash at this moment would leave them.
func copyFiles(t testing.TB, dir, name string) string {
	t.Helper()
	from := diskPath(t, dir, name)
	rel, err := filepath.Rel(dir, from)
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	to := filepath.Join(copied, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return copied
}
