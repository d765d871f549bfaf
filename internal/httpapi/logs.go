package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/skerryhq/skerry/api"
)

// logAudit records an operator's request, refused ones too.
func (x *exchange) logAudit(r *http.Request) {
	if x.route == nil || x.route.action == "" {
		return
	}
	attrs := []slog.Attr{
		slog.String("action", x.route.action),
		slog.String("principal", x.caller.Principal),
		slog.String("outcome", x.outcomeName()),
		slog.String("request_id", x.id),
	}
	if x.namespace != "" {
		attrs = append(attrs, slog.String("namespace", x.namespace))
	}
	if x.subject != "" {
		attrs = append(attrs, slog.String("subject", x.subject))
	}
	// The client may be gone; what was done is recorded all the same.
	x.h.audit.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "audit", attrs...)
}

// logAccess records any request at debug level.
func (x *exchange) logAccess(r *http.Request) {
	if x.start.IsZero() {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method),
		slog.String("route", x.pattern()),
		slog.Int("status", x.status),
		slog.String("request_id", x.id),
		slog.String("namespace", x.namespace),
		slog.String("principal", x.caller.Principal),
		slog.Duration("duration", x.h.rt.Clock().Now().Sub(x.start)),
	}
	x.h.log.LogAttrs(r.Context(), slog.LevelDebug, "request", attrs...)
}

// logFailure records what a client is not told about its failure.
func (x *exchange) logFailure(r *http.Request, e *api.Error) {
	level := slog.LevelWarn
	switch {
	case e.Code.Status() == http.StatusInternalServerError:
		level = slog.LevelError
	case e.Code.Status() < http.StatusInternalServerError || e.Err == nil:
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", r.Method), slog.String("route", x.pattern()),
		slog.String("namespace", x.namespace), slog.String("error", e.Error()),
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("cause", e.Err.Error()))
	}
	x.h.log.LogAttrs(r.Context(), level, "request failed", attrs...)
}

func (x *exchange) outcomeName() string {
	if x.outcome == "" {
		return "ok"
	}
	return string(x.outcome)
}
