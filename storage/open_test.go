package storage_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/storage"
)

func TestOpenFileTellsWhatIsThere(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), storage.Options{})
	if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{}); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("open absent file: got %v, want ErrNotExist", err)
	}
	if ok, err := s.Exists("blue"); ok || err != nil {
		t.Errorf("Exists before: got %v, %v", ok, err)
	}
	f := create(t, s, "blue")
	if ok, err := s.Exists("blue"); !ok || err != nil {
		t.Errorf("Exists after: got %v, %v", ok, err)
	}
	if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{}); !errors.Is(err, storage.ErrOpen) {
		t.Errorf("open twice: got %v, want ErrOpen", err)
	}
	closeFile(t, f)
	if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{Create: true}); !errors.Is(err, storage.ErrExist) {
		t.Errorf("create again: got %v, want ErrExist", err)
	}
}

func TestSettingsAreInForce(t *testing.T) {
	t.Parallel()
	// Characters that mean something in a URI must reach the disk as they are.
	dir := filepath.Join(t.TempDir(), "data?mode=memory#1 %41")
	s := openStore(t, dir, storage.Options{CacheKiB: 300})
	f := create(t, s, "blue")
	pragmas := func(got map[string]string) func(*storage.Tx) error {
		return func(tx *storage.Tx) error {
			for name := range got {
				rows, err := tx.Query("PRAGMA " + name)
				if err != nil {
					return err
				}
				for rows.Next() {
					var number int
					var text string
					if rows.Scan(&number) == nil {
						text = strconv.Itoa(number)
					} else if err := rows.Scan(&text); err != nil {
						return err
					}
					got[name] = text
				}
			}
			return nil
		}
	}
	writer := map[string]string{
		"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "cache_size": "-300",
		"temp_store": "2", "auto_vacuum": "2", "wal_autocheckpoint": "0", "query_only": "0", "busy_timeout": "5000",
	}
	reader := map[string]string{"journal_mode": "wal", "cache_size": "-300", "query_only": "1"}
	got := map[string]map[string]string{"writer": blank(writer), "reader": blank(reader)}
	if err := f.Write(t.Context(), pragmas(got["writer"])); err != nil {
		t.Fatal(err)
	}
	if err := f.View(t.Context(), pragmas(got["reader"])); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]map[string]string{"writer": writer, "reader": reader}, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	diskPath(t, dir, "blue")
}

// blank returns the keys of m with no values.
func blank(m map[string]string) map[string]string {
	m = maps.Clone(m)
	for k := range m {
		m[k] = ""
	}
	return m
}

func TestMigrationsRunOnce(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), storage.Options{})
	second := `CREATE TABLE log (n INTEGER) STRICT; -- a comment; and another statement
		INSERT INTO log VALUES (1);
		-- the end`
	two := []storage.Line{
		itemLine(second),
		{Name: "other", FS: fstest.MapFS{"001_other.sql": {Data: []byte("INSERT INTO log VALUES (10)")}, "README.md": {}}},
	}
	closeFile(t, create(t, s, "blue"))
	for range 2 {
		f := open(t, s, "blue", storage.FileOptions{Lines: two})
		var sum int
		err := f.View(t.Context(), func(tx *storage.Tx) error {
			_, err := tx.QueryRow("SELECT sum(n) FROM log", nil, &sum)
			return err
		})
		if err != nil || sum != 11 {
			t.Errorf("sum of log: got %d, %v, want 11", sum, err)
		}
		closeFile(t, f)
	}
	// Lines of the file that the program does not name are left alone.
	closeFile(t, open(t, s, "blue", storage.FileOptions{Lines: two[:1]}))
}

func TestFailingMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	bad := storage.FileOptions{Lines: []storage.Line{itemLine("CREATE TABLE half (n INTEGER); INSERT INTO nowhere VALUES (1)")}}
	create := bad
	create.Create = true
	if _, err := s.OpenFile(t.Context(), "new", create); err == nil || !strings.Contains(err.Error(), "002_more") {
		t.Errorf("create: got %v, want an error that names the migration", err)
	}
	if ok, _ := s.Exists("new"); ok {
		t.Error("a file whose creation failed exists")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "namespaces", "*", "*")); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}

	old, err := s.OpenFile(t.Context(), "old", storage.FileOptions{Create: true, Lines: []storage.Line{itemLine()}})
	if err != nil {
		t.Fatal(err)
	}
	closeFile(t, old)
	if _, err := s.OpenFile(t.Context(), "old", bad); err == nil {
		t.Error("open with a failing migration: got no error")
	}
	f := open(t, s, "old", storage.FileOptions{Lines: []storage.Line{itemLine("CREATE TABLE half (n INTEGER)")}})
	mustInsert(t, f, 1)
}

func TestBadMigrationLinesAreRefused(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), storage.Options{})
	file := func(names ...string) storage.Line {
		files := fstest.MapFS{}
		for _, name := range names {
			files[name] = &fstest.MapFile{Data: []byte("SELECT 1")}
		}
		return storage.Line{Name: "line", FS: files}
	}
	for name, lines := range map[string][]storage.Line{
		"gap":      {file("001_a.sql", "003_b.sql")},
		"from 002": {file("002_a.sql")},
		"twice":    {file("001_a.sql", "001_b.sql")},
		"form":     {file("1_a.sql")},
		"no name":  {{FS: fstest.MapFS{}}},
		"two of a": {file("001_a.sql"), file("001_a.sql")},
	} {
		if f, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{Create: true, Lines: lines}); err == nil {
			t.Errorf("%s: got no error", name)
			f.Abort()
		}
	}
}

func TestFileThatIsNotUnderstoodIsNotTouched(t *testing.T) {
	t.Parallel()
	newer := []storage.Line{itemLine("CREATE TABLE later (n INTEGER) STRICT")}
	changed := []storage.Line{{Name: "items", FS: fstest.MapFS{"001_item.sql": {Data: []byte("CREATE TABLE item (id INTEGER) STRICT")}}}}
	for _, tc := range []struct {
		name    string
		written []storage.Line // by the program that made the file
		crash   bool           // which did not close it
		damage  func([]byte) []byte
		want    error
	}{
		{name: "newer", written: newer, want: storage.ErrNewerSchema},
		{name: "newer with a WAL", written: newer, crash: true, want: storage.ErrNewerSchema},
		{name: "changed", written: changed, want: storage.ErrSchemaMismatch},
		{name: "changed with a WAL", written: changed, crash: true, want: storage.ErrSchemaMismatch},
		{name: "not SQLite", damage: func([]byte) []byte { return []byte(strings.Repeat("text ", 2000)) }, want: storage.ErrCorrupt},
		{name: "empty", damage: func([]byte) []byte { return nil }, want: storage.ErrCorrupt},
		{name: "cut in the header", damage: func(b []byte) []byte { return b[:50] }, want: storage.ErrCorrupt},
		{name: "cut behind the header", damage: func(b []byte) []byte { return b[:200] }, want: storage.ErrCorrupt},
		{name: "schema page overwritten", damage: func(b []byte) []byte { return append(b[:100:100], bytes.Repeat([]byte{0xa5}, len(b)-100)...) }, want: storage.ErrCorrupt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, dir, storage.Options{})
			f := open(t, s, "blue", storage.FileOptions{Create: true, Lines: tc.written})
			err := f.Write(t.Context(), func(tx *storage.Tx) error {
				_, err := tx.Exec("CREATE TABLE extra (n INTEGER) STRICT")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if tc.crash {
				dir = copyFiles(t, dir, "blue")
				s = openStore(t, dir, storage.Options{})
			}
			closeFile(t, f)
			path := diskPath(t, dir, "blue")
			if tc.damage != nil {
				data, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path, tc.damage(data), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := folderContent(t, path)
			if _, ok := before["ns-blue.sqlite-wal"]; ok != tc.crash {
				t.Fatalf("WAL there: %v, want %v", ok, tc.crash)
			}
			_, err = s.OpenFile(t.Context(), "blue", storage.FileOptions{Lines: []storage.Line{itemLine()}})
			if !errors.Is(err, tc.want) {
				t.Errorf("OpenFile: got %v, want %v", err, tc.want)
			}
			if diff := cmp.Diff(before, folderContent(t, path)); diff != "" {
				t.Errorf("files changed (-before +after):\n%.300s", diff)
			}
		})
	}
}

func TestDatabaseOfAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, storage.Options{})
	f := create(t, s, "blue")
	err := f.Write(context.Background(), func(tx *storage.Tx) error {
		_, err := tx.Exec("DROP TABLE skerry_migration")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	closeFile(t, f)
	if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("OpenFile: got %v, want ErrCorrupt", err)
	}
}

// folderContent returns the files beside path and what they hold, except for
// shared memory, which is rebuilt whenever a file is opened.
func folderContent(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	content := make(map[string]string)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-shm") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[e.Name()] = string(data)
	}
	return content
}
