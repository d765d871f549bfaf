package claims

import (
	"context"
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const claimList = "claims"

// listClaims reads the caller's live claims in order of their grant, so that a
// worker that lost an answer finds what it was granted.
type listClaims struct {
	page namespace.PageRequest
	base string
}

// Read reads a page of claims, with their leases as they stand now. Inputs are
// inline as far as one claim's answer may carry them, and links behind.
func (q *listClaims) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	l := newListing[api.Claim](q.page)
	sql := sqlLeases
	if q.page.Desc {
		sql = sqlLeasesDesc
	}
	rows, err := v.Query(sql, v.Caller().Principal, millis(v.Now()), l.from(), l.limit())
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read claims: %w", err)
	}
	d := newDelivery(v, q.base)
	err = l.fill(rows, func(rows *namespace.Rows) (entry[api.Claim], error) {
		b := new(verb)
		if err := b.scan(rows); err != nil {
			return entry[api.Claim]{}, fmt.Errorf("read claim: %w", err)
		}
		before := d.room
		doc, err := d.claim(b)
		const perInput = 256
		size := b.size() + int(before-d.room) + perInput*len(doc.Inputs)
		return entry[api.Claim]{doc, b.fence, size}, err
	})
	return l.answer(), err
}
