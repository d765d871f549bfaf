package claims

import (
	"context"
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Names of the lists, which their cursors carry.
const (
	nounList    = "nouns"
	versionList = "versions"
)

// getNoun reads one version of a noun.
type getNoun struct {
	ref nounRef
	raw bool
}

func newGetNoun(ref string, raw bool) (*getNoun, error) {
	r, err := parseRef("key", ref)
	return &getNoun{r, raw}, err
}

// Read gives the noun's bytes, or its document with a small body inline.
func (q *getNoun) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	n, found, err := findNoun(v, q.ref)
	if err != nil {
		return namespace.Answer{}, err
	}
	if !found {
		return namespace.Answer{}, errNoNoun()
	}
	if q.raw && n.uri != "" {
		return namespace.Answer{}, api.Errorf(api.Conflict, "the noun's body lies elsewhere").With("uri", n.uri)
	}
	doc := n.document()
	if n.uri != "" || !q.raw && n.size > maxInlineInput {
		return namespace.Answer{Body: doc}, nil
	}
	body, err := n.readBody(v)
	if err != nil {
		return namespace.Answer{}, err
	}
	if q.raw {
		return namespace.Answer{Raw: &namespace.Raw{MediaType: n.mediaType, ETag: doc.Digest, Bytes: body}}, nil
	}
	doc.Body, doc.BodyBase64 = inline(body)
	return namespace.Answer{Body: doc}, nil
}

func errNoNoun() error { return api.Errorf(api.NotFound, "there is no such noun") }

// listVersions reads the versions of one key, in order.
type listVersions struct {
	page namespace.PageRequest
	key  string
}

func newListVersions(key string, page namespace.PageRequest) (*listVersions, error) {
	return &listVersions{page, key}, checkKey("key", key, 0)
}

// Read reads a page of versions. A key without any is not_found.
func (q *listVersions) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	l := newListing[api.Noun](q.page)
	sql := sqlNounVersions
	if q.page.Desc {
		sql = sqlNounVersionsDesc
	}
	rows, err := v.Query(sql, q.key, l.from(), l.limit())
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read versions: %w", err)
	}
	err = l.fill(rows, func(rows *namespace.Rows) (entry[api.Noun], error) {
		return nounEntry(rows, func(n *noun) int64 { return n.ref.version })
	})
	if err == nil && q.page.First && len(l.data) == 0 {
		err = errNoNoun()
	}
	return l.answer(), err
}

// listNouns reads all versions of all nouns whose key begins with a prefix, in
// order of creation.
type listNouns struct {
	page   namespace.PageRequest
	prefix string
}

// Read reads a page of nouns.
func (q *listNouns) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	l := newListing[api.Noun](q.page)
	w, err := l.window(v, sqlNounAfter, sqlNounBefore)
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read nouns: %w", err)
	}
	sql := sqlListNouns
	if q.page.Desc {
		sql = sqlListNounsDesc
	}
	rows, err := v.Query(sql, w.from, w.to, q.prefix, prefixEnd(q.prefix), l.limit())
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read nouns: %w", err)
	}
	err = l.fill(rows, func(rows *namespace.Rows) (entry[api.Noun], error) {
		return nounEntry(rows, func(n *noun) int64 { return n.id })
	})
	l.close(w)
	return l.answer(), err
}

func nounEntry(rows *namespace.Rows, number func(*noun) int64) (entry[api.Noun], error) {
	var n noun
	if err := rows.Scan(n.columns()...); err != nil {
		return entry[api.Noun]{}, fmt.Errorf("read noun: %w", err)
	}
	const besides = 256 // names, numbers and the digest
	return entry[api.Noun]{n.document(), number(&n), besides + 2*len(n.ref.key) + len(n.uri)}, nil
}

// prefixEnd is the first string behind all that begin with the prefix, in order
// of bytes; empty for none.
func prefixEnd(prefix string) string {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return string(end[:i+1])
		}
	}
	return ""
}
