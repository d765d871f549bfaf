package namespacetest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// checkSchema looks at what the class's migrations have left in an empty file.
func checkSchema(t testing.TB, s Suite) []error {
	with, err := newStage(t, s)
	if err != nil {
		return []error{err}
	}
	without, err := stageWith(t, s, append(append([]namespace.Class{}, s.Needs...), namespace.Class{Name: "none"}))
	if err != nil {
		return []error{err}
	}
	before, err := without.schema(t.Context())
	if err != nil {
		return []error{err}
	}
	after, err := with.schema(t.Context())
	if err != nil {
		return []error{err}
	}
	var wrong []error
	for name, sql := range after {
		if _, there := before[name]; there || name == "sqlite_sequence" {
			continue
		}
		if !strings.HasPrefix(strings.TrimPrefix(name, "sqlite_autoindex_"), with.class().Name+"_") {
			wrong = append(wrong, fmt.Errorf("%s does not bear the class's name: want %s_…", name, with.class().Name))
		}
		if strings.Contains(strings.Join(strings.Fields(strings.ToUpper(sql)), " "), "INITIALLY DEFERRED") {
			wrong = append(wrong, fmt.Errorf("%s has a deferred constraint, which would fail every command of a commit", name))
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			wrong = append(wrong, fmt.Errorf("%s, which is not the class's, is gone", name))
		}
	}
	return append(wrong, with.migrations(t.Context())...)
}

// schema is every object of the file with its definition.
func (g *stage) schema(ctx context.Context) (map[string]string, error) {
	objects := map[string]string{}
	err := g.look(ctx, func(v *namespace.View) error {
		rows, err := v.Query(`SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name, sql string
			if err := rows.Scan(&name, &sql); err != nil {
				return err
			}
			objects[name] = sql
		}
		return rows.Err()
	})
	return objects, err
}

// migrations sees whether each migration is recorded once, also after the file
// has been opened again.
func (g *stage) migrations(ctx context.Context) (wrong []error) {
	var want []string
	if g.class().Migrations != nil {
		files, err := fs.Glob(g.class().Migrations, "*.sql")
		if err != nil {
			return []error{fmt.Errorf("list migrations: %w", err)}
		}
		want = files
	}
	for _, when := range []string{"in a new file", "after a restart"} {
		var got []string
		err := g.look(ctx, func(v *namespace.View) (err error) {
			got, err = column(v, `SELECT printf('%03d_%s.sql', version, name) FROM skerry_migration WHERE line = ? ORDER BY version`, g.class().Name)
			return err
		})
		if err != nil {
			return append(wrong, err)
		}
		if !slices.Equal(got, want) {
			wrong = append(wrong, fmt.Errorf("migrations recorded %s: got %v, want %v", when, got, want))
		}
		if err := g.restart(ctx, (*namespace.Runtime).Close); err != nil {
			return append(wrong, err)
		}
	}
	return wrong
}
