package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// noun is a version of a noun without its body.
type noun struct {
	id        int64
	ref       nounRef
	mediaType string
	digest    []byte
	size      int64
	createdAt int64
	uri       string
}

// columns are where the columns of sqlNounColumns go.
func (n *noun) columns() []any {
	return []any{&n.id, &n.ref.key, &n.ref.version, &n.mediaType, &n.digest, &n.size, &n.createdAt, &n.uri}
}

func (n *noun) document() api.Noun {
	return api.Noun{
		Key: n.ref.key, Version: n.ref.version, Ref: n.ref.String(), MediaType: n.mediaType,
		Digest: formatDigest(n.digest), Size: n.size, URI: n.uri, DigestTrusted: n.uri != "", CreatedAt: moment(n.createdAt),
	}
}

func (n *noun) nounRef() api.NounRef {
	return api.NounRef{Ref: n.ref.String(), Digest: formatDigest(n.digest)}
}

// findNoun reads the newest version of a key, or the one that ref names.
func findNoun(v *namespace.View, ref nounRef) (noun, bool, error) {
	var n noun
	sql, args := sqlNewestNoun, []any{ref.key}
	if ref.version != 0 {
		sql, args = sqlNounVersion, []any{ref.key, ref.version}
	}
	found, err := v.QueryRow(sql, args, n.columns()...)
	if err != nil {
		return n, false, fmt.Errorf("read noun: %w", err)
	}
	return n, found, nil
}

func nounByID(v *namespace.View, id int64) (noun, error) {
	var n noun
	found, err := v.QueryRow(sqlReadNoun, []any{id}, n.columns()...)
	if err == nil && !found {
		err = fmt.Errorf("row %d is missing", id)
	}
	if err != nil {
		return n, fmt.Errorf("read noun: %w", err)
	}
	return n, nil
}

// readBody reads the body of a noun that has one.
func (n *noun) readBody(v *namespace.View) ([]byte, error) {
	var body []byte
	if _, err := v.QueryRow(sqlNounBody, []any{n.id}, &body); err != nil {
		return nil, fmt.Errorf("read body of noun: %w", err)
	}
	return body, nil
}

// createNoun makes the next version of a noun.
type createNoun struct {
	key     string
	content content
}

func newCreateNoun(spec api.NounSpec) (*createNoun, error) {
	if err := checkKey("key", spec.Key, 0); err != nil {
		return nil, err
	}
	content, err := checkContent("", spec.Content)
	return &createNoun{spec.Key, content}, err
}

// Apply stores the noun and unblocks what waited for it.
func (c *createNoun) Apply(t *namespace.Turn) (namespace.Answer, error) {
	ch := begin(t)
	n, err := ch.addNoun(c.key, c.content)
	if err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{Status: 201, Body: n.document()}, ch.finish()
}

// addNoun stores the next version of a key, and unblocks what waited for it.
func (c *change) addNoun(key string, body content) (noun, error) {
	n := noun{
		ref: nounRef{key: key}, mediaType: body.mediaType, digest: body.digest[:], size: body.size,
		createdAt: c.now, uri: body.uri,
	}
	args := []any{key, n.mediaType, n.digest, n.size, n.createdAt, n.uri, body.body}
	if _, err := c.QueryRow(sqlInsertNoun, args, &n.id, &n.ref.version); err != nil {
		return n, fmt.Errorf("store noun: %w", err)
	}
	return n, c.supply(&n)
}
