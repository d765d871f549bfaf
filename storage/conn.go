package storage

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	sqlite3 "github.com/mattn/go-sqlite3"
)

const (
	busyTimeout    = "5000" // milliseconds that a statement waits for another process's lock
	writerStmts    = 128    // prepared statements kept by the writer
	readerStmts    = 32     // and by each reader
	checkpointFrom = 1000   // WAL frames from which the writer checkpoints, SQLite's own default
	// walLimit is the size in bytes to which a WAL that a burst, or a long view,
	// made larger is cut when it starts over.
	walLimit = 16 << 20
)

// conn is one raw SQLite connection and its prepared statements. It is used by
// one goroutine at a time. The driver is used without database/sql, whose pool,
// locks and conversions cost more than the statements.
type conn struct {
	raw   *sqlite3.SQLiteConn
	stmts map[string]*stmt
	limit int // how many statements are kept
	tick  uint64
}

// stmt is a prepared statement with the buffers for its arguments and rows.
type stmt struct {
	raw     *sqlite3.SQLiteStmt
	args    []driver.NamedValue
	row     []driver.Value
	columns int // -1 until it ran once
	busy    bool
	kept    bool   // in conn.stmts
	used    uint64 // tick of the last use
}

// dial opens a connection to the file at path. The query parameters are the
// driver's and SQLite's own.
func dial(path, vfs string, cacheKiB, stmts int, query url.Values) (*conn, error) {
	query.Set("_mutex", "no") // one goroutine at a time; interrupting needs no mutex
	query.Set("_busy_timeout", busyTimeout)
	query.Set("_foreign_keys", "1")
	query.Set("_cache_size", strconv.Itoa(-cacheKiB))
	if vfs != "" {
		query.Set("vfs", vfs)
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	raw, err := (&sqlite3.SQLiteDriver{}).Open(dsn.String())
	if err != nil {
		return nil, classify(err)
	}
	return &conn{raw: raw.(*sqlite3.SQLiteConn), stmts: make(map[string]*stmt), limit: stmts}, nil
}

// dialWriter opens the writing connection of an existing file. The driver opens
// WAL files with synchronous=NORMAL unless told otherwise, so what matters for
// durability is read back.
func (s *Store) dialWriter(path string) (*conn, error) {
	c, err := dial(path, s.opts.VFS, s.opts.CacheKiB, writerStmts, url.Values{
		"mode":          {"rw"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
	})
	if err != nil {
		return nil, err
	}
	// The writer checkpoints by itself, after it has settled a commit. SQLite's
	// automatic checkpoint runs inside COMMIT and swallows its errors.
	// The fullfsync pragmas matter on macOS, where a plain fsync does not empty the
	// disk's own cache.
	err = c.script(fmt.Sprintf("PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=%d; "+
		"PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1", walLimit))
	if err == nil {
		err = c.verifyDurable()
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *conn) verifyDurable() error {
	t := c.tx(context.Background())
	var journal string
	var synchronous, foreignKeys int
	for _, p := range []struct {
		pragma string
		dest   any
	}{
		{"PRAGMA journal_mode", &journal},
		{"PRAGMA synchronous", &synchronous},
		{"PRAGMA foreign_keys", &foreignKeys},
	} {
		if _, err := t.QueryRow(p.pragma, nil, p.dest); err != nil {
			return err
		}
	}
	if journal != "wal" || synchronous != 2 || foreignKeys != 1 {
		return fmt.Errorf("%w: settings not in force: journal_mode %s, synchronous %d, foreign_keys %d",
			ErrUnavailable, journal, synchronous, foreignKeys)
	}
	return nil
}

// dialReader opens a connection that can only read.
func (s *Store) dialReader(path string) (*conn, error) {
	return dial(path, s.opts.VFS, s.opts.CacheKiB, readerStmts, url.Values{"mode": {"ro"}, "_query_only": {"1"}})
}

// tx returns a Tx that runs statements on c until they end or ctx is done.
func (c *conn) tx(ctx context.Context) *Tx { return &Tx{conn: c, ctx: ctx} }

// script runs the statements of sql, without keeping any of them prepared.
func (c *conn) script(sql string) error {
	_, err := c.raw.ExecContext(context.Background(), sql, nil)
	return classify(err)
}

// rollback ends a transaction, if one is open.
func (c *conn) rollback() error {
	if c.raw.AutoCommit() {
		return nil // SQLite has rolled it back by itself
	}
	return c.script("ROLLBACK")
}

// prepare returns the statement of sql, marked busy until done is called with
// it. A statement that is asked for while it is busy is prepared a second time.
func (c *conn) prepare(sql string) (*stmt, error) {
	c.tick++
	s := c.stmts[sql]
	if s != nil && !s.busy {
		s.busy, s.used = true, c.tick
		return s, nil
	}
	raw, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, classify(err)
	}
	fresh := &stmt{raw: raw.(*sqlite3.SQLiteStmt), columns: -1, busy: true, used: c.tick}
	if s == nil && c.room() {
		fresh.kept = true
		c.stmts[sql] = fresh
	}
	return fresh, nil
}

// room makes room for one more statement, and reports whether it could.
func (c *conn) room() bool {
	if len(c.stmts) < c.limit {
		return true
	}
	var oldest *stmt
	var key string
	for sql, s := range c.stmts {
		if !s.busy && (oldest == nil || s.used < oldest.used) {
			oldest, key = s, sql
		}
	}
	if oldest == nil {
		return false
	}
	delete(c.stmts, key)
	// Finalizing repeats the error of the statement's last run, which has been
	// reported.
	_ = oldest.raw.Close()
	return true
}

// done gives s back.
func (c *conn) done(s *stmt) {
	s.busy = false
	clear(s.args)
	if !s.kept {
		_ = s.raw.Close()
	}
}

// close finalizes every statement first: a connection with statements left
// would stay open as a zombie, and keep its file open and its WAL.
func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.raw.Close()
	}
	c.stmts = nil
	return classify(c.raw.Close())
}

// keepWAL makes the WAL stay where it is when the connection closes, which marks
// the file as not closed properly.
func (c *conn) keepWAL() error {
	const persistWAL = 10 // SQLITE_FCNTL_PERSIST_WAL
	return classify(c.raw.SetFileControlInt("main", persistWAL, 1))
}

// bind converts args for the driver, in the buffer of s.
func (s *stmt) bind(args []any) ([]driver.NamedValue, error) {
	if want := s.raw.NumInput(); len(args) != want {
		return nil, fmt.Errorf("statement takes %d arguments, got %d", want, len(args))
	}
	s.args = s.args[:0]
	for i, arg := range args {
		switch v := arg.(type) {
		case nil, int64, bool, string, []byte, float64:
		case int:
			arg = int64(v)
		default:
			return nil, fmt.Errorf("argument %d has unsupported type %T", i+1, arg)
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return s.args, nil
}
