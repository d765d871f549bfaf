package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
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
func (e *env) line(v any) error { return writeLine(e.out, v) }

// writeLine writes v as one line of JSON in which <, > and & stand as they are.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// into has what is printed written into a file; none and "-" are standard output.
func (e *env) into(file string, write func() error) (err error) {
	if file == "" || file == "-" {
		return write()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	out := e.out
	e.out = f
	defer func() {
		e.out = out
		err = errors.Join(err, f.Close())
	}()
	return write()
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
	p.limitFlag(cmd)
}

// limitFlag is the one flag of a list that has an order of its own.
func (p *paging) limitFlag(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.limit, "limit", 0, "print at most this many (0: all)")
}

// maxPage is how many documents one request may ask for.
const maxPage = 1000

// pageSize asks for no more than is printed; 0 leaves it to the server.
func (p *paging) pageSize() int { return min(max(p.limit, 0), maxPage) }

func (p *paging) options() *client.ListOptions {
	return &client.ListOptions{Desc: p.newest, PageSize: p.pageSize()}
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
