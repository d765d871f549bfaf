package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const itemList = "items"

// listItems lists the items of a run in the order of its document.
type listItems struct {
	run    string
	page   namespace.PageRequest
	status api.ItemStatus // "" for all
}

func newListItems(run string, page namespace.PageRequest, status string) (*listItems, error) {
	switch s := api.ItemStatus(status); s {
	case "", api.ItemPending, api.ItemRunning, api.ItemSucceeded, api.ItemFailed, api.ItemCancelled:
		return &listItems{run, page, s}, nil
	}
	return nil, api.Invalid("status_filter", "there is no such status of an item")
}

// Read makes a page.
func (l *listItems) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	r, _, err := openRun(v, l.run)
	if err != nil {
		return namespace.Answer{}, err
	}
	p := newPager[*api.RunItem](l.page)
	after, before := p.bounds()
	limit := p.limit(l.status != "")
	rows, err := v.Query(p.direction(sqlItemsUp, sqlItemsDown),
		row(r.id, 0), row(r.id+1, 0), row(r.id, 0)+after, bound(row(r.id, 0), before), limit)
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("list items: %w", err)
	}
	err = p.fill(rows, limit, func(rows *namespace.Rows) (*api.RunItem, int64, int, bool, error) {
		doc, _, err := scanItem(rows)
		if err != nil {
			return nil, 0, 0, false, err
		}
		ok := l.status == "" || l.status == doc.Status
		return doc, int64(doc.InputIndex), sizeOf(doc), ok, nil
	})
	return p.answer(), err
}

// bound adds a bound that may be the largest number.
func bound(base, n int64) int64 {
	if n >= maxItems {
		return base + maxItems
	}
	return base + n
}

// scanItem reads a row of an item with what came of it, and the number of the event of
// its end.
func scanItem(rows *namespace.Rows) (*api.RunItem, int64, error) {
	var number, attempts, ended int64
	var status, result, failure string
	doc := &api.RunItem{}
	if err := rows.Scan(&number, &doc.ID, &status, &attempts, &ended, &result, &failure); err != nil {
		return nil, 0, fmt.Errorf("read item: %w", err)
	}
	doc.InputIndex, doc.Status, doc.AttemptCount = indexOf(number), api.ItemStatus(status), int(attempts)
	if result != "" {
		doc.Result = json.RawMessage(result)
	}
	if failure != "" {
		doc.Error = &api.Failure{}
		if err := namespace.Decode(jsontext.Value(failure), doc.Error); err != nil {
			return nil, 0, fmt.Errorf("read item's error: %w", err)
		}
	}
	return doc, ended, nil
}

// sizeOf is about how many bytes an item takes in a page.
func sizeOf(doc *api.RunItem) int {
	n := 150 + len(doc.ID) + len(doc.Result)
	if doc.Error != nil {
		n += len(doc.Error.Code) + len(doc.Error.Message)
	}
	return n
}

// Lists of results, one for each order.
const (
	resultsByEnd   = "results"
	resultsByIndex = "results-input"
)

// listResults lists the items of a run that have ended.
type listResults struct {
	run   string
	page  namespace.PageRequest
	input bool // in the order of the document, else as they ended
}

// Read makes a page.
func (l *listResults) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	r, _, err := openRun(v, l.run)
	if err != nil {
		return namespace.Answer{}, err
	}
	p := newPager[*api.RunItem](l.page)
	after, _ := p.bounds()
	limit := p.limit(l.input)
	var rows *namespace.Rows
	if l.input {
		rows, err = v.Query(sqlItemsUp, row(r.id, 0), row(r.id+1, 0), row(r.id, 0)+after, row(r.id+1, 0), limit)
	} else {
		rows, err = v.Query(sqlResults, r.id, max(after, 0), limit)
	}
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("list results: %w", err)
	}
	err = p.fill(rows, limit, func(rows *namespace.Rows) (*api.RunItem, int64, int, bool, error) {
		doc, ended, err := scanItem(rows)
		if err != nil {
			return nil, 0, 0, false, err
		}
		if l.input {
			return doc, int64(doc.InputIndex), sizeOf(doc), ended > 0, nil
		}
		return doc, ended, sizeOf(doc), true, nil
	})
	return p.answer(), err
}
