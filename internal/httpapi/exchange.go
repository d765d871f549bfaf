package httpapi

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// exchange is one request and its answer. It is the ResponseWriter that the
// router hands on, so that what is known of a request needs no context values.
type exchange struct {
	http.ResponseWriter
	h  *handler
	id string
	// start is zero where the access log is off.
	start time.Time

	// route is nil until the router found one, and namespace "" where the path
	// names none.
	route     *route
	namespace string
	base      string

	caller  namespace.Caller
	path    map[string]string
	params  url.Values
	idemKey string
	body    []byte
	// lastEventID is where a client was that lost its stream, and stream says that
	// it asks for one.
	lastEventID string
	stream      bool
	// unread says that there is a body that nobody has begun to read.
	unread bool

	// subject is what the request is about, for the audit log.
	subject string
	// outcome is the error code of the answer, "" for success.
	outcome api.Code
	status  int
}

// Unwrap gives [http.ResponseController] the writer with the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// request is what a class's route sees.
func (x *exchange) request() *namespace.Request {
	return &namespace.Request{
		Caller: x.caller, Namespace: x.namespace, Base: x.base, Path: x.path, Query: x.params, Body: x.body,
		LastEventID: x.lastEventID, Stream: x.stream,
	}
}

// space is the namespace that the request names.
func (x *exchange) space() namespace.Namespace { return x.h.rt.Namespace(x.namespace) }

// finish ends every request: it turns a panic into an answer and writes the
// logs. [http.ErrAbortHandler] goes on to the server, as does a panic after the
// answer had begun, which can only be cut off.
func (x *exchange) finish(r *http.Request) {
	fault := recover()
	if fault != nil && fault != http.ErrAbortHandler {
		x.h.log.LogAttrs(r.Context(), slog.LevelError, "panic while serving",
			slog.String("request_id", x.id), slog.String("route", x.pattern()),
			slog.String("fault", describeFault(fault)), slog.String("stack", string(debug.Stack())))
		if x.status == 0 {
			x.fail(r, api.Errorf(api.Internal, "panic"))
			fault = nil
		} else {
			fault = http.ErrAbortHandler
		}
	}
	x.logAudit(r)
	x.logAccess(r)
	if fault != nil {
		panic(fault)
	}
}

// describeFault is what may be logged of a panic. A runtime error says what went
// wrong; any other value may hold a payload, so only its type is kept.
func describeFault(fault any) string {
	if e, ok := fault.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", fault)
}

// pattern is the route's path as a template, for logs.
func (x *exchange) pattern() string {
	if x.route == nil {
		return ""
	}
	return x.route.path
}

// requestID is the client's own if that is fit for a log, else a new one.
func requestID(h http.Header) string {
	const most = 128
	id := h.Get(api.HeaderRequestID)
	if id == "" || len(id) > most {
		return rand.Text()
	}
	for _, c := range []byte(id) {
		if !isRequestIDByte(c) {
			return rand.Text()
		}
	}
	return id
}

func isRequestIDByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '-' || c == '_' || c == '.' || c == ':' || c == '/' || c == '+' || c == '='
}
