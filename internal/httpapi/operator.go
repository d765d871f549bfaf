package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// The names of the node's lists, in cursors.
const (
	namespacesList = "namespaces"
	keysList       = "keys"
)

// pageParams document the parameters of every list.
var pageParams = [...]namespace.Param{
	{Name: "cursor", Summary: "next_cursor of the page before"},
	{Name: "limit", Summary: "rows at most, 1 to 1,000, by default 100"},
	{Name: "order", Summary: "asc or desc"},
}

// operatorRoutes are the routes with which namespaces and keys are governed.
func (h *handler) operatorRoutes() []*route {
	const one = namespacesPath + "/{namespace}"
	return []*route{
		{
			method: http.MethodGet, path: namespacesPath, summary: "List the namespaces, by name",
			access: operatorOnly, action: "namespace.list", params: pageParams[:],
			out: api.Page[api.NamespaceRef]{}, serve: h.listNamespaces,
		},
		{
			method: http.MethodPut, path: one, summary: "Make sure that a namespace exists; 201 if it is new",
			access: operatorOnly, action: "namespace.create", maxBody: defaultMaxBody,
			out: api.Namespace{}, serve: h.createNamespace,
		},
		{
			method: http.MethodGet, path: one, summary: "Describe a namespace and its settings",
			access: operatorOrAdmin, action: "namespace.get", out: api.Namespace{}, serve: h.describeNamespace,
		},
		{
			method: http.MethodDelete, path: one, summary: "Delete a namespace with all it holds",
			access: operatorOnly, action: "namespace.delete", out: api.Deleted{}, serve: h.deleteNamespace,
		},
		{
			method: http.MethodPatch, path: one + "/settings",
			summary: "Replace the settings that are named; null returns one to the node's",
			access:  operatorOrAdmin, action: "settings.patch", maxBody: defaultMaxBody,
			in: map[string]json.RawMessage{}, out: api.Namespace{}, serve: h.patchSettings,
		},
		{
			method: http.MethodPost, path: one + "/keys", summary: "Create a key; its secret is shown this once",
			access: operatorOrAdmin, action: "key.create", maxBody: defaultMaxBody,
			in: api.KeySpec{}, out: api.Key{}, status: http.StatusCreated, serve: h.createKey,
		},
		{
			method: http.MethodGet, path: one + "/keys", summary: "List the keys, in order of creation",
			access: operatorOrAdmin, action: "key.list", params: pageParams[:],
			out: api.Page[api.Key]{}, serve: h.listKeys,
		},
		{
			method: http.MethodDelete, path: one + "/keys/{id}", summary: "Revoke a key at once",
			access: operatorOrAdmin, action: "key.revoke", out: api.Revoked{}, serve: h.revokeKey,
		},
	}
}

func (h *handler) listNamespaces(x *exchange, r *http.Request) error {
	return sendPage(x, namespacesList, func(p *namespace.PageRequest) ([]api.NamespaceRef, bool, error) {
		return h.rt.List(r.Context(), p.From.Key, p.Desc, p.Limit)
	}, func(ref api.NamespaceRef) (string, int64) { return ref.Name, 0 })
}

func (h *handler) createNamespace(x *exchange, r *http.Request) error {
	if err := x.request().Decode(&struct{}{}); err != nil {
		return err
	}
	created, err := h.rt.Create(r.Context(), x.namespace)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	err = x.sendNamespace(r.Context(), status)
	if api.IsCode(err, api.NotFound) {
		return api.Errorf(api.Conflict, "the namespace was deleted meanwhile")
	}
	return err
}

func (h *handler) describeNamespace(x *exchange, r *http.Request) error {
	return x.sendNamespace(r.Context(), http.StatusOK)
}

func (x *exchange) sendNamespace(ctx context.Context, status int) error {
	description, err := x.space().Describe(ctx)
	if err != nil {
		return err
	}
	return x.document(status, description)
}

func (h *handler) deleteNamespace(x *exchange, r *http.Request) error {
	if err := h.rt.Delete(r.Context(), x.namespace); err != nil {
		return err
	}
	return x.document(http.StatusOK, api.Deleted{Name: x.namespace, Deleted: true})
}

func (h *handler) patchSettings(x *exchange, r *http.Request) error {
	patch := make(map[string]json.RawMessage)
	if err := x.request().Decode(&patch); err != nil {
		return err
	}
	description, err := x.space().PatchSettings(r.Context(), patch)
	if err != nil {
		return err
	}
	return x.document(http.StatusOK, description)
}

func (h *handler) createKey(x *exchange, r *http.Request) error {
	var spec api.KeySpec
	if err := x.request().Decode(&spec); err != nil {
		return err
	}
	key, err := x.space().CreateKey(r.Context(), spec)
	if err != nil {
		return err
	}
	x.subject = key.ID
	return x.document(http.StatusCreated, key)
}

func (h *handler) listKeys(x *exchange, r *http.Request) error {
	return sendPage(x, keysList, func(p *namespace.PageRequest) ([]api.Key, bool, error) {
		return x.space().Keys(r.Context(), p.From.Number, p.Desc, p.Limit)
	}, func(key api.Key) (string, int64) { return "", namespace.KeyNumber(key) })
}

func (h *handler) revokeKey(x *exchange, r *http.Request) error {
	x.subject = x.path["id"]
	if err := x.space().RevokeKey(r.Context(), x.path["id"]); err != nil {
		return err
	}
	return x.document(http.StatusOK, api.Revoked{ID: x.path["id"], Revoked: true})
}

// sendPage answers with the part of a list that the request asks for. The list's
// rows are found again by the place that a cursor keeps of them.
func sendPage[T any](
	x *exchange, list string, read func(*namespace.PageRequest) ([]T, bool, error), place func(T) (string, int64),
) error {
	p, err := x.request().Page(list)
	if err != nil {
		return err
	}
	rows, more, err := read(&p)
	if err != nil {
		return err
	}
	page := api.Page[T]{Data: rows}
	if more && len(rows) > 0 {
		page.NextCursor = p.Next(place(rows[len(rows)-1]))
	}
	return x.document(http.StatusOK, page)
}
