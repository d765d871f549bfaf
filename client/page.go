package client

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"strconv"

	"github.com/skerryhq/skerry/api"
)

// ListOptions says how a list is read. The zero value, and nil, read all of it
// in order of creation.
type ListOptions struct {
	// Desc reverses the order.
	Desc bool
	// PageSize is how many documents one request asks for, 1 to 1,000; 0 leaves
	// it to the server.
	PageSize int
	// Cursor continues after the page that gave it.
	Cursor string
}

func (o *ListOptions) query() url.Values {
	q := url.Values{}
	if o == nil {
		return q
	}
	if o.Desc {
		q.Set("order", "desc")
	}
	if o.PageSize > 0 {
		q.Set("limit", strconv.Itoa(o.PageSize))
	}
	setIf(q, "cursor", o.Cursor)
	return q
}

func setIf(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// list reads the pages of a list as they are asked for. After an error there is
// nothing more. An empty page is not the end: a cursor that is null is. What
// chooses and awaits the first page is not sent with a cursor, which says all of
// it.
func list[T any](ctx context.Context, s *sender, q call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q := q
		q.query = maps.Clone(q.query)
		for {
			page, err := fetch[api.Page[T]](ctx, s, q)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			q.query.Set("cursor", *page.NextCursor)
			q.query.Del("after")
			q.query.Del("wait_ms")
			q.wait = 0
		}
	}
}
