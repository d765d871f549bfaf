package storage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
)

// Line is an append-only line of schema migrations: the files NNN_name.sql at
// the root of FS, numbered from 001 without a gap. Each runs once, in a
// transaction of its own, which it must not end. Several lines share a file.
type Line struct {
	Name string
	FS   fs.FS
}

//go:embed schema.sql
var schemaSQL string

var migrationFile = regexp.MustCompile(`^(\d{3})_([a-z0-9_]+)\.sql$`)

type migration struct {
	line    string
	version int
	name    string
	sum     string // SHA-256 of sql, in hexadecimal
	sql     string
}

// key identifies a migration in a file.
type key struct {
	line    string
	version int
}

// load reads the migrations of lines, in their order.
func load(lines []Line) ([]migration, error) {
	var all []migration
	seen := make(map[string]bool)
	for _, l := range lines {
		if l.Name == "" || seen[l.Name] {
			return nil, fmt.Errorf("read migrations: line name %q is empty or used twice", l.Name)
		}
		seen[l.Name] = true
		ms, err := l.load()
		if err != nil {
			return nil, fmt.Errorf("read migrations of line %s: %w", l.Name, err)
		}
		all = append(all, ms...)
	}
	return all, nil
}

func (l Line) load() ([]migration, error) {
	files, err := fs.Glob(l.FS, "*.sql")
	if err != nil {
		return nil, err
	}
	ms := make([]migration, 0, len(files))
	for i, file := range files { // Glob sorts
		parts := migrationFile.FindStringSubmatch(file)
		if parts == nil {
			return nil, fmt.Errorf("file %q is not called NNN_name.sql", file)
		}
		version, _ := strconv.Atoi(parts[1]) // three digits
		if version != i+1 {
			return nil, fmt.Errorf("file %q: want number %03d", file, i+1)
		}
		text, err := fs.ReadFile(l.FS, file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		ms = append(ms, migration{l.Name, version, parts[2], hex.EncodeToString(sum[:]), string(text)})
	}
	return ms, nil
}

// applied reads which migrations the file behind c has had. A database with
// tables but without a record of migrations is somebody else's.
func applied(c *conn) (map[key]string, error) {
	t := c.tx(context.Background())
	defer t.closeRows()
	var recorded, tables int
	_, err := t.QueryRow(`SELECT count(*) FILTER (WHERE name = 'skerry_migration'), count(*) FROM sqlite_schema`, nil, &recorded, &tables)
	if err != nil {
		return nil, err
	}
	if recorded == 0 {
		if tables > 0 {
			return nil, fmt.Errorf("%w: a database of another program", ErrCorrupt)
		}
		return nil, nil
	}
	rows, err := t.Query(`SELECT line, version, sha256 FROM skerry_migration`)
	if err != nil {
		return nil, err
	}
	done := make(map[key]string)
	for rows.Next() {
		var k key
		var sum string
		if err := rows.Scan(&k.line, &k.version, &sum); err != nil {
			return nil, err
		}
		done[k] = sum
	}
	return done, rows.Err()
}

// pending returns the migrations of all that are not among done, or an error if
// done holds what all does not. Lines that all does not hold are left alone.
func pending(all []migration, lines []Line, done map[key]string) ([]migration, error) {
	known := make(map[key]string, len(all))
	var todo []migration
	for _, m := range all {
		k := key{m.line, m.version}
		known[k] = m.sum
		if _, ok := done[k]; !ok {
			todo = append(todo, m)
		}
	}
	ours := make(map[string]bool, len(lines))
	for _, l := range lines {
		ours[l.Name] = true
	}
	for k, sum := range done {
		switch want, ok := known[k]; {
		case !ours[k.line]:
		case !ok:
			return nil, fmt.Errorf("%w: line %s has version %d", ErrNewerSchema, k.line, k.version)
		case want != sum:
			return nil, fmt.Errorf("%w: line %s, version %d", ErrSchemaMismatch, k.line, k.version)
		}
	}
	return todo, nil
}

// migrate applies todo, each in one transaction.
func migrate(ctx context.Context, c *conn, todo []migration) error {
	if len(todo) == 0 {
		return nil
	}
	if err := c.script(schemaSQL); err != nil {
		return fmt.Errorf("create migration table: %w", err)
	}
	for _, m := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.apply(c); err != nil {
			// A failed statement may have ended the transaction already.
			return errors.Join(fmt.Errorf("apply migration %s %03d_%s: %w", m.line, m.version, m.name, err), c.rollback())
		}
	}
	return nil
}

func (m migration) apply(c *conn) error {
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := c.script(m.sql); err != nil {
		return err
	}
	_, err := c.tx(context.Background()).Exec(
		`INSERT INTO skerry_migration (line, version, name, sha256) VALUES (?, ?, ?, ?)`, m.line, m.version, m.name, m.sum)
	if err != nil {
		return err
	}
	return c.script("COMMIT")
}
