package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/client"
)

// document prints v as JSON, or the rows for people.
func (e *env) document(v any, rows ...[2]string) error {
	if e.json {
		return e.line(v)
	}
	t := newTable(e.out)
	for _, row := range rows {
		if row[1] != "" {
			t.row(row[0], row[1])
		}
	}
	return t.Flush()
}

// line prints v as one line of JSON.
func (e *env) line(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// note tells a person something beside the output.
func (e *env) note(format string, args ...any) {
	fmt.Fprintf(e.errs, format+"\n", args...)
}

type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)} }

// row prints cells, safe for a terminal and its columns.
func (t table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = oneLine(cell)
	}
	fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// flushEvery bounds how many rows wait for the widths of their columns.
const flushEvery = 500

// paging are the flags of every list.
type paging struct {
	newest bool
	limit  int
}

func (p *paging) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.newest, "newest", false, "newest first")
	cmd.Flags().IntVar(&p.limit, "limit", 0, "print at most this many (0: all)")
}

func (p *paging) options() *client.ListOptions {
	return &client.ListOptions{Desc: p.newest, PageSize: min(max(p.limit, 0), 1000)}
}

// printList prints what items gives, up to the limit.
func printList[T any](e *env, p *paging, items iter.Seq2[T, error], head []string, cells func(T) []string) error {
	t := newTable(e.out)
	defer t.Flush()
	n := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		if e.json {
			err = e.line(item)
		} else {
			if n == 0 {
				t.row(head...)
			}
			t.row(cells(item)...)
			if n%flushEvery == flushEvery-1 {
				err = t.Flush()
			}
		}
		if err != nil {
			return err
		}
		if n++; n == p.limit {
			break
		}
	}
	return t.Flush()
}

// stamp is a time as people and programs read it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func millis(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
