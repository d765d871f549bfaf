package client

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"net/url"

	"github.com/skerryhq/skerry/api"
)

const base = "/api/v2"

// CreateNoun makes the next version of a noun. It needs the role producer or
// admin.
func (c *Client) CreateNoun(ctx context.Context, spec api.NounSpec) (*api.Noun, error) {
	return fetch[api.Noun](ctx, c.sender, c.create("create noun", "/nouns", spec))
}

// Noun reads one noun by its key, which means the newest version, or by its ref
// "key@version". A small body comes with it.
func (c *Client) Noun(ctx context.Context, ref string) (*api.Noun, error) {
	return fetch[api.Noun](ctx, c.sender, read("read noun", "/nouns/"+pathOf(ref)))
}

// Body is the content of a noun.
type Body struct {
	Bytes     []byte
	MediaType string
}

// NounBody reads a noun's content by key or ref, at most 1 MiB. A noun that lies
// at a URI has none here: that is an api.Conflict.
func (c *Client) NounBody(ctx context.Context, ref string) (*Body, error) {
	q := read("read noun body", "/nouns/"+pathOf(ref)).with(url.Values{"body": {"1"}})
	a, err := c.sender.send(ctx, q)
	if err != nil {
		return nil, err
	}
	return &Body{Bytes: a.body, MediaType: a.header.Get("Content-Type")}, nil
}

// Nouns lists every version of the nouns whose key begins with prefix, in order
// of creation.
func (c *Client) Nouns(ctx context.Context, prefix string, o *ListOptions) iter.Seq2[api.Noun, error] {
	q := o.query()
	setIf(q, "prefix", prefix)
	return list[api.Noun](ctx, c.sender, read("list nouns", "/nouns").with(q))
}

// NounVersions lists every version of a noun.
func (c *Client) NounVersions(ctx context.Context, key string, o *ListOptions) iter.Seq2[api.Noun, error] {
	q := o.query()
	q.Set("versions", "1")
	return list[api.Noun](ctx, c.sender, read("list noun versions", "/nouns/"+pathOf(key)).with(q))
}

// read is a call that changes nothing.
func read(what, path string) call {
	return call{what: what, method: http.MethodGet, path: base + path, safe: true}
}

// with returns q with the query.
func (q call) with(query url.Values) call {
	q.query = query
	return q
}

// create is a call that makes something. It always bears an Idempotency-Key, so
// that it may be sent again when an answer is lost.
func (c *Client) create(what, path string, body any) call {
	return call{what: what, method: http.MethodPost, path: base + path, body: body, key: c.keyOr(rand.Text()), safe: true}
}
