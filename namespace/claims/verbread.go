package claims

import (
	"context"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const verbList = "verbs"

// getVerb reads a verb, and can wait until it changes.
type getVerb struct {
	id   string
	wait time.Duration
	// seen is what the first reading found.
	seen *mark
}

// mark is what must differ for a verb to count as changed. A renewed lease is no
// change.
type mark struct {
	state    api.VerbState
	missing  int64
	until    int64
	attempts int64
	fence    int64
}

func newGetVerb(id string, wait time.Duration) *getVerb { return &getVerb{id: id, wait: wait} }

// Wait is how long to wait for a change.
func (q *getVerb) Wait() time.Duration { return q.wait }

// Topics are where the verb's changes are signalled.
func (q *getVerb) Topics() []string {
	n, _ := parseID(verbPrefix, q.id) // no verb has the number of a wrong id
	return []string{verbTopic(n)}
}

// Read reads the verb. One that has ended is not waited for.
func (q *getVerb) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	n, ok := parseID(verbPrefix, q.id)
	if !ok {
		return namespace.Answer{}, errNoVerb()
	}
	b, err := verbByID(v, n)
	if err != nil {
		return namespace.Answer{}, err
	}
	now := mark{b.state, b.missing, b.until, b.attempts, b.fence}
	if q.seen == nil {
		q.seen = &now
	}
	doc, err := newReader(v).verb(b)
	return namespace.Answer{Body: doc, Await: now == *q.seen && !b.state.Ended()}, err
}

// listVerbs reads verbs in order of creation.
type listVerbs struct {
	page  namespace.PageRequest
	state api.VerbState // empty for any
	kind  string        // empty for any
	group int64         // 0 for any
}

func newListVerbs(page namespace.PageRequest, state, kind, group string) (*listVerbs, error) {
	q := &listVerbs{page: page, state: api.VerbState(state), kind: kind}
	switch q.state {
	case "", api.VerbBlocked, api.VerbReady, api.VerbLeased, api.VerbSucceeded, api.VerbFailed, api.VerbCancelled:
	default:
		return nil, api.Invalid("state", "there is no such state of a verb")
	}
	if kind != "" {
		if err := checkKind("kind", kind); err != nil {
			return nil, err
		}
	}
	if group != "" {
		var ok bool
		if q.group, ok = parseID(groupPrefix, group); !ok {
			return nil, api.Invalid("group", "there is no such group of attempts")
		}
	}
	return q, nil
}

// Read reads a page of verbs.
func (q *listVerbs) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	l := newListing[api.Verb](q.page)
	w := window{}
	var rows *namespace.Rows
	var err error
	if q.group != 0 {
		rows, err = v.Query(groupStatement(q.page.Desc), q.group, l.from(), string(q.state), q.kind, l.limit())
	} else {
		if w, err = l.window(v, sqlVerbAfter, sqlVerbBefore); err != nil {
			return namespace.Answer{}, fmt.Errorf("read verbs: %w", err)
		}
		rows, err = v.Query(listStatement(q.page.Desc), w.from, w.to, string(q.state), q.kind, l.limit())
	}
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read verbs: %w", err)
	}
	r := newReader(v)
	err = l.fill(rows, func(rows *namespace.Rows) (entry[api.Verb], error) {
		b := new(verb)
		if err := b.scan(rows); err != nil {
			return entry[api.Verb]{}, fmt.Errorf("read verb: %w", err)
		}
		doc, err := r.verb(b)
		return entry[api.Verb]{doc, b.id, b.size()}, err
	})
	l.close(w)
	return l.answer(), err
}

func listStatement(desc bool) string {
	if desc {
		return sqlListVerbsDesc
	}
	return sqlListVerbs
}

func groupStatement(desc bool) string {
	if desc {
		return sqlListGroupDesc
	}
	return sqlListGroup
}

// size is about how many bytes the verb's document has.
func (v *verb) size() int {
	const besides = 512 // names, numbers and times
	n := besides + len(v.brief) + len(v.metadata) + len(v.failure) + len(v.artifact)
	for i := range v.inputs {
		n += 64 + 2*len(v.inputs[i].ref.key)
	}
	return n
}
