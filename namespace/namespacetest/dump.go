package namespacetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skerryhq/skerry/namespace"
)

// look is a query of the suite's own.
type look func(v *namespace.View) error

// Read looks.
func (l look) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	return namespace.Answer{}, l(v)
}

func (g *stage) look(ctx context.Context, l look) error {
	_, err := g.Read(ctx, g.class().Name, namespace.Caller{Principal: "suite"}, l)
	if err != nil {
		return fmt.Errorf("look into the file: %w", err)
	}
	return nil
}

// column reads the first column of a query.
func column(v *namespace.View, sql string, args ...any) ([]string, error) {
	rows, err := v.Query(sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []string{}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// dump is all that the class has in the file, one line for each row: its tables,
// its events and its alarm. Columns named in hidden are left out, and lines are
// sorted, so that it does not matter which of two rows came first if all that
// tells them apart is hidden.
func (g *stage) dump(ctx context.Context, hidden []string) ([]string, error) {
	var lines []string
	err := g.look(ctx, func(v *namespace.View) error {
		name := g.class().Name
		tables, err := column(v, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ? ORDER BY name`, name+"_*")
		if err != nil {
			return err
		}
		for _, t := range tables {
			some, err := rowsOf(v, t, "1", hidden)
			if err != nil {
				return fmt.Errorf("dump %s: %w", t, err)
			}
			lines = append(lines, some...)
		}
		for t, where := range map[string]string{"ns_event": "stream GLOB '" + name + "/*'", "ns_alarm": "class = '" + name + "'"} {
			some, err := rowsOf(v, t, where, hidden)
			if err != nil {
				return fmt.Errorf("dump %s: %w", t, err)
			}
			lines = append(lines, some...)
		}
		return nil
	})
	slices.Sort(lines)
	return lines, err
}

// rowsOf gives the rows of a table as SQL would write them.
func rowsOf(v *namespace.View, table, where string, hidden []string) ([]string, error) {
	names, err := column(v, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	parts := []string{"'" + table + ":'"}
	for _, n := range names {
		if !slices.Contains(hidden, table+"."+n) {
			parts = append(parts, `' `+n+`=' || quote("`+n+`")`)
		}
	}
	return column(v, `SELECT `+strings.Join(parts, " || ")+` FROM "`+table+`" WHERE `+where)
}

// differ tells the first lines that two dumps do not share.
func differ(what string, got, want []string) error {
	if slices.Equal(got, want) {
		return nil
	}
	const most = 5
	var report []string
	for _, side := range []struct {
		sign      string
		one, than []string
	}{{"+", got, want}, {"-", want, got}} {
		n := 0
		for _, line := range slices.Compact(slices.Clone(side.one)) {
			if count(side.one, line) > count(side.than, line) {
				if n++; n <= most {
					report = append(report, side.sign+" "+line)
				}
			}
		}
	}
	return fmt.Errorf("%s (-want +got):\n%s", what, strings.Join(report, "\n"))
}

func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if l == line {
			n++
		}
	}
	return n
}
