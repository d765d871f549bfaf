package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/skerryhq/skerry/api"
)

// readyTimeout bounds a readiness check, so that a stuck node is told from a
// slow probe.
const readyTimeout = 5 * time.Second

// nodeRoutes are the routes that need no key.
func (h *handler) nodeRoutes(metrics bool) []*route {
	routes := []*route{
		{
			method: http.MethodGet, path: "/healthz", summary: "Whether the process answers",
			out: api.Health{}, serve: h.live,
		},
		{
			method: http.MethodGet, path: "/readyz", summary: "Whether the node should get requests",
			out: api.Health{}, serve: h.ready,
		},
		{
			method: http.MethodGet, path: "/openapi.json", summary: "This description",
			out: map[string]any{}, serve: h.description,
		},
	}
	if metrics {
		routes = append(routes, &route{
			method: http.MethodGet, path: "/metrics", summary: "Prometheus metrics",
			media: "text/plain", serve: serveMetrics(MetricsHandler(h.rt)),
		})
	}
	return routes
}

// live answers without touching a namespace: a node with a stuck one is alive.
func (h *handler) live(x *exchange, _ *http.Request) error {
	return x.document(http.StatusOK, api.Health{Status: "ok", Version: h.rt.Version()})
}

// ready answers after a real operation. What is wrong stands by name in the
// error's details.
func (h *handler) ready(x *exchange, r *http.Request) error {
	checks := map[string]string{"accepting": "ok", "operation": "ok"}
	if h.rt.Draining() {
		checks["accepting"] = "the node is shutting down"
		return api.Errorf(api.ShuttingDown, "the node is not ready").With("checks", checks)
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := h.rt.Ready(ctx); err != nil {
		e := api.AsError(err)
		checks["operation"] = "failed"
		if e.Code.Status() == http.StatusServiceUnavailable {
			checks["operation"] = e.Message
		}
		failure := api.Errorf(api.NamespaceUnavailable, "the node is not ready").With("checks", checks).Wrapping(err)
		if stuck, ok := e.Details["stuck"]; ok {
			failure.With("stuck", stuck)
		}
		return failure
	}
	return x.document(http.StatusOK, api.Health{Status: "ready", Version: h.rt.Version(), Checks: checks})
}

func (h *handler) description(x *exchange, _ *http.Request) error {
	x.send(http.StatusOK, mediaJSON, h.openapi)
	return nil
}
