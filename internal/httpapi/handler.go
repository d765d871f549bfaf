package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Options say how a runtime is shown. The zero value shows every namespace,
// gives nobody the operator's powers, and leaves metrics out.
type Options struct {
	// OperatorKey opens the operator's routes. With an empty one no key does.
	OperatorKey string
	// Single names a namespace whose routes stand at /api/v2 too, without the
	// prefix. Empty is none.
	Single string
	// Metrics adds the route /metrics; without it see [MetricsHandler].
	Metrics bool
	// Audit gets one record per operator request: who, what, which namespace,
	// how it ended. Nil means Logger.
	Audit *slog.Logger
	// Logger gets failures, and at debug level one record per request. Nil
	// means [slog.Default].
	Logger *slog.Logger
}

// handler is the HTTP form of one runtime. It is not changed after New.
type handler struct {
	rt       *namespace.Runtime
	operator operatorKey
	single   string
	audit    *slog.Logger
	log      *slog.Logger
	routers  routers
	openapi  []byte
}

// New makes the handler of rt's routes. It fails if Single is no valid name or
// if two routes of the classes are the same. The handler is safe for concurrent
// use and keeps no goroutine; it may be mounted in any server, below no prefix.
func New(rt *namespace.Runtime, o Options) (http.Handler, error) {
	return newHandler(rt, o)
}

func newHandler(rt *namespace.Runtime, o Options) (*handler, error) {
	if o.Single != "" {
		if err := namespace.CheckName(o.Single); err != nil {
			return nil, fmt.Errorf("mount single namespace: %w", err)
		}
	}
	h := &handler{
		rt: rt, operator: newOperatorKey(o.OperatorKey), single: o.Single,
		audit: o.Audit, log: o.Logger,
	}
	if h.log == nil {
		h.log = slog.Default()
	}
	if h.audit == nil {
		h.audit = h.log
	}
	routes := h.table(o.Metrics)
	var err error
	if h.routers, err = mount(routes, h.unknownRoute, h.wrongMethod); err != nil {
		return nil, err
	}
	if h.openapi, err = describe(routes, rt.Version()); err != nil {
		return nil, fmt.Errorf("describe routes: %w", err)
	}
	return h, nil
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w, h: h, id: requestID(r.Header)}
	if h.log.Enabled(r.Context(), slog.LevelDebug) {
		x.start = h.rt.Clock().Now()
	}
	x.Header().Set(api.HeaderRequestID, x.id)
	defer x.finish(r)
	x.boundBody(r)
	path := r.URL.EscapedPath()
	var err error
	if x.namespace, err = nameInPath(path); err != nil {
		x.fail(r, err)
		return
	}
	if router := h.routers.of(path); router != nil {
		router.ServeHTTP(x, r)
		return
	}
	x.fail(r, h.unknownRoute(x, r))
}
