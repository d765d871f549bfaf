package httpapi

import (
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Where routes lie.
const (
	prefixed       = "/ns/{namespace}/api/v2"
	unprefixed     = "/api/v2"
	namespacesPath = "/api/v2/namespaces"
)

var everyRole = [...]api.Role{api.RoleWorker, api.RoleProducer, api.RoleAdmin}

// table is every route of the handler.
func (h *handler) table(metrics bool) []*route {
	routes := h.nodeRoutes(metrics)
	routes = append(routes, h.profileRoutes()...)
	routes = append(routes, h.operatorRoutes()...)
	routes = append(routes, h.namespaceRoutes(prefixed)...)
	if h.single != "" {
		routes = append(routes, h.namespaceRoutes(unprefixed)...)
	}
	return routes
}

// namespaceRoutes are the routes of every namespace, below base.
func (h *handler) namespaceRoutes(base string) []*route {
	var routes []*route
	for _, class := range h.rt.Classes() {
		for i := range class.Routes {
			routes = append(routes, h.classRoute(base, class.Name, &class.Routes[i]))
		}
	}
	return append(routes,
		&route{
			method: http.MethodGet, path: base + "/admission", base: base,
			summary: "How claims are admitted at this moment",
			access:  member, roles: everyRole[:], out: api.AdmissionStatus{}, serve: h.admission,
		},
		&route{
			method: http.MethodGet, path: base + "/catalog", base: base,
			summary: "What the namespace offers, and the limits it enforces",
			access:  member, roles: everyRole[:], out: api.Catalog{}, serve: h.catalog,
		},
	)
}

// classRoute is the row of a route that a class brings.
func (h *handler) classRoute(base, class string, r *namespace.Route) *route {
	t := &route{
		method: r.Method, path: base + r.Path, base: base, summary: r.Summary,
		access: member, roles: r.Roles, anonymous: r.Anonymous,
		params: r.Params, in: r.In, out: r.Out, status: r.Status,
	}
	optional := keyOptional
	t.serve = func(x *exchange, req *http.Request) error { return x.command(req, class, r) }
	if r.Query != nil {
		t.streams, optional = r.Streams, keyChecked
		t.serve = func(x *exchange, req *http.Request) error { return x.query(req, class, r) }
		if r.Method == http.MethodGet {
			return t
		}
	}
	t.maxBody = r.MaxBody
	if t.maxBody == 0 {
		t.maxBody = defaultMaxBody
	}
	switch {
	case r.RequireIdempotencyKey:
		t.key = keyRequired
	case !r.IgnoreIdempotencyKey:
		t.key = optional
	}
	return t
}
