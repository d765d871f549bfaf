package runs

import (
	"context"
	"fmt"
	"math"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// maxScanned bounds the rows that one page of a filtered list looks through. A page
// that finds nothing in them still has a next one.
const maxScanned = 2_000

// pager fills one page from rows that come in the page's order.
type pager[D any] struct {
	page namespace.PageRequest // a copy: a query may be read more than once
	data []D
	// last is the number of the last row that was looked at, scanned how many were.
	last    int64
	scanned int
	next    *string
}

func newPager[D any](page namespace.PageRequest) *pager[D] {
	return &pager[D]{page: page, data: []D{}}
}

// bounds are the numbers between which the page's rows lie, both outside.
func (p *pager[D]) bounds() (after, before int64) {
	after, before = -1, math.MaxInt64
	switch {
	case p.page.First:
	case p.page.Desc:
		before = p.page.From.Number
	default:
		after = p.page.From.Number
	}
	return after, before
}

// limit is how many rows to read: one more than are looked at, which shows whether
// there is a next page.
func (p *pager[D]) limit(filtered bool) int {
	if filtered {
		return max(maxScanned, p.page.Limit) + 1
	}
	return p.page.Limit + 1
}

// fill reads rows until the page is full. read gives the number of a row, and its
// document with its rough size, or false if it does not belong in the list.
func (p *pager[D]) fill(rows *namespace.Rows, limit int, read func(*namespace.Rows) (doc D, number int64, size int, ok bool, err error)) error {
	defer rows.Close()
	for rows.Next() {
		if len(p.data) == p.page.Limit || p.scanned == limit-1 {
			p.next = p.page.Next("", p.last)
			return nil
		}
		doc, number, size, ok, err := read(rows)
		if err != nil {
			return err
		}
		if ok && !p.page.Fits(size) {
			p.next = p.page.Next("", p.last)
			return nil
		}
		if ok {
			p.data = append(p.data, doc)
		}
		p.last = number
		p.scanned++
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	return nil
}

func (p *pager[D]) answer() namespace.Answer {
	return namespace.Answer{Body: &api.Page[D]{Data: p.data, NextCursor: p.next}}
}

// direction chooses the statement for the page's order.
func (p *pager[D]) direction(upwards, downwards string) string {
	if p.page.Desc {
		return downwards
	}
	return upwards
}

const runList = "runs"

// listRuns lists the runs of the caller's tenant in order of creation.
type listRuns struct {
	base   string
	page   namespace.PageRequest
	status api.RunStatus // "" for all
}

func newListRuns(base string, page namespace.PageRequest, status string) (*listRuns, error) {
	switch s := api.RunStatus(status); s {
	case "", api.RunQueued, api.RunRunning, api.RunCompleted, api.RunCompletedWithErrors, api.RunFailed, api.RunCancelled:
		return &listRuns{base, page, s}, nil
	}
	return nil, api.Invalid("status", "there is no such status of a run")
}

// Read makes a page.
func (l *listRuns) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	p := newPager[*api.Run](l.page)
	after, before := p.bounds()
	limit := p.limit(true)
	rows, err := v.Query(p.direction(sqlRunsUp, sqlRunsDown), v.Caller().Tenant, after, before, limit)
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("list runs: %w", err)
	}
	err = p.fill(rows, limit, func(rows *namespace.Rows) (*api.Run, int64, int, bool, error) {
		var metadata string
		r, err := scanRun(rows, &metadata)
		if err != nil {
			return nil, 0, 0, false, err
		}
		if r.expired(v) || l.status != "" && l.status != r.status {
			return nil, r.id, 0, false, nil
		}
		return r.document(v, l.base, metadata), r.id, 1024 + len(metadata), true, nil
	})
	return p.answer(), err
}
