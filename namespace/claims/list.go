package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// scanWindow bounds how many rows one page of a filtered list looks through. A
// page that finds nothing in them still has a next one.
const scanWindow = 50_000

// listing makes one page out of rows that are read in order of a number.
type listing[D any] struct {
	// page is a copy of the query's, which may be read more than once.
	page namespace.PageRequest
	data []D
	last int64
	next *string
}

func newListing[D any](page namespace.PageRequest) *listing[D] {
	return &listing[D]{page: page, data: []D{}}
}

// entry is a document of a list, the number of its row and its rough size.
type entry[D any] struct {
	document D
	number   int64
	size     int
}

// from is the number behind which the page begins.
func (l *listing[D]) from() int64 {
	if l.page.First && l.page.Desc {
		return never
	}
	return l.page.From.Number
}

// limit is how many rows to read: one more than the page takes, which shows
// whether there is a next one.
func (l *listing[D]) limit() int { return l.page.Limit + 1 }

// fill reads rows until the page is full. Documents are made row by row, so that
// no more of them are in memory than one page takes.
func (l *listing[D]) fill(rows *namespace.Rows, read func(*namespace.Rows) (entry[D], error)) error {
	defer rows.Close()
	for rows.Next() {
		if len(l.data) == l.page.Limit {
			l.next = l.page.Next("", l.last)
			return nil
		}
		e, err := read(rows)
		if err != nil {
			return err
		}
		if !l.page.Fits(e.size) {
			l.next = l.page.Next("", l.last)
			return nil
		}
		l.data, l.last = append(l.data, e.document), e.number
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	return nil
}

func (l *listing[D]) answer() namespace.Answer {
	return namespace.Answer{Body: api.Page[D]{Data: l.data, NextCursor: l.next}}
}

// window is the part of a table that one page of a filtered list looks through.
type window struct {
	from, to int64 // from is outside, to inside
	// more says that there are rows beyond it.
	more bool
}

// window finds the part of a table that begins where the page does. The
// statements find the row next to a number, upwards and downwards.
func (l *listing[D]) window(v *namespace.View, upwards, downwards string) (window, error) {
	w := window{from: l.from()}
	sql, step := upwards, int64(scanWindow)
	if l.page.Desc {
		sql, step = downwards, -scanWindow
	}
	var first int64
	found, err := v.QueryRow(sql, []any{w.from}, &first)
	if err != nil || !found {
		w.to = w.from
		return w, err
	}
	w.to = first + step
	w.more, err = v.QueryRow(sql, []any{w.to}, &first)
	return w, err
}

// close ends a page that has looked through a window without being full.
func (l *listing[D]) close(w window) {
	if l.next == nil && w.more {
		l.next = l.page.Next("", w.to)
	}
}
