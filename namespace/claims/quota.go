package claims

import (
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// anonymousQuota bounds the leases that callers without a key hold together.
type anonymousQuota struct {
	limit, held int64
	// next is when the first of the held leases is over.
	next int64
}

// newAnonymousQuota reads how many leases are held. Those that are over do not
// count, swept or not.
func newAnonymousQuota(t *namespace.Turn) (*anonymousQuota, error) {
	q := &anonymousQuota{}
	a := t.Settings().Anonymous
	if a == nil {
		return q, nil
	}
	q.limit = int64(a.Leases)
	if _, err := t.QueryRow(sqlAnonymousLeases, []any{millis(t.Now())}, &q.held, &q.next); err != nil {
		return nil, fmt.Errorf("count anonymous leases: %w", err)
	}
	return q, nil
}

// admit refuses an anonymous claim for which no lease is left.
func (q *anonymousQuota) admit(t *namespace.Turn) error {
	if !t.Caller().IsAnonymous() || q.held < q.limit {
		return nil
	}
	after := max(time.Second, milliseconds(q.next-millis(t.Now())))
	return api.Errorf(api.RateLimited, "callers without a key hold as many leases as they may").
		Because("anonymous quota").With("limit", q.limit).After(after)
}

// take counts one more lease, and reports false if there is none left.
func (q *anonymousQuota) take(t *namespace.Turn) bool {
	if !t.Caller().IsAnonymous() {
		return true
	}
	if q.held >= q.limit {
		return false
	}
	q.held++
	return true
}
