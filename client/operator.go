package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"

	"github.com/skerryhq/skerry/api"
)

// Operator has the routes of a node: its namespaces with their settings and
// keys. It is safe for concurrent use. Make one with [NewOperator].
type Operator struct {
	sender *sender
}

// NewOperator makes an operator of the node at baseURL, "http://host". The key is
// the node's operator key; an admin's key of a namespace does for that
// namespace's description, settings and keys. NewOperator sends nothing.
func NewOperator(baseURL, operatorKey string, o *Options) (*Operator, error) {
	s, err := newSender(baseURL, operatorKey, o)
	if err != nil {
		return nil, err
	}
	return &Operator{sender: s}, nil
}

// Close closes idle connections. Requests under way go on.
func (o *Operator) Close() { o.sender.close() }

// Namespaces lists the node's namespaces.
func (o *Operator) Namespaces(ctx context.Context, l *ListOptions) iter.Seq2[api.NamespaceRef, error] {
	return list[api.NamespaceRef](ctx, o.sender, read("list namespaces", "/namespaces").with(l.query()))
}

// CreateNamespace makes a namespace; one that exists stays as it is.
func (o *Operator) CreateNamespace(ctx context.Context, name string) (*api.Namespace, error) {
	return o.namespace(ctx, call{what: "create namespace", method: http.MethodPut, path: namespacePath(name), safe: true})
}

// Namespace describes one namespace.
func (o *Operator) Namespace(ctx context.Context, name string) (*api.Namespace, error) {
	return o.namespace(ctx, call{what: "read namespace", method: http.MethodGet, path: namespacePath(name), safe: true})
}

// PatchSettings replaces the settings that patch names; null returns one to its
// default. One bad value changes nothing.
func (o *Operator) PatchSettings(ctx context.Context, name string, patch map[string]json.RawMessage) (*api.Namespace, error) {
	return o.namespace(ctx, call{
		what: "change settings", method: http.MethodPatch, path: namespacePath(name) + "/settings", body: patch, safe: true,
	})
}

func (o *Operator) namespace(ctx context.Context, q call) (*api.Namespace, error) {
	return fetch[api.Namespace](ctx, o.sender, q)
}

// DeleteNamespace removes a namespace with everything in it. It is not sent again
// when its answer is lost, since a namespace made anew in between would go too.
func (o *Operator) DeleteNamespace(ctx context.Context, name string) (*api.Deleted, error) {
	return fetch[api.Deleted](ctx, o.sender, call{what: "delete namespace", method: http.MethodDelete, path: namespacePath(name)})
}

// CreateKey makes an API key of a namespace. Its secret is in this answer and
// nowhere else, so the request is not sent again when the answer is lost.
func (o *Operator) CreateKey(ctx context.Context, name string, spec api.KeySpec) (*api.Key, error) {
	return fetch[api.Key](ctx, o.sender, call{what: "create key", method: http.MethodPost, path: namespacePath(name) + "/keys", body: spec})
}

// Keys lists the API keys of a namespace, without their secrets.
func (o *Operator) Keys(ctx context.Context, name string, l *ListOptions) iter.Seq2[api.Key, error] {
	return list[api.Key](ctx, o.sender, call{what: "list keys", method: http.MethodGet, path: namespacePath(name) + "/keys", query: l.query(), safe: true})
}

// RevokeKey ends an API key at once.
func (o *Operator) RevokeKey(ctx context.Context, name, id string) (*api.Revoked, error) {
	path := namespacePath(name) + "/keys/" + url.PathEscape(id)
	return fetch[api.Revoked](ctx, o.sender, call{what: "revoke key", method: http.MethodDelete, path: path, safe: true})
}

// Ready asks whether the node serves. It needs no key. A node that is starting,
// draining or unwell gives an error.
func (o *Operator) Ready(ctx context.Context) (*api.Health, error) {
	return fetch[api.Health](ctx, o.sender, call{what: "read readiness", method: http.MethodGet, path: "/readyz", safe: true})
}

func namespacePath(name string) string { return base + "/namespaces/" + url.PathEscape(name) }
