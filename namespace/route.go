package namespace

import (
	"net/url"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
)

// Route is an HTTP route of a class as plain data. Exactly one of Command and
// Query is set.
type Route struct {
	Method string
	// Path lies below /ns/{namespace}/api/v2 and begins with a slash. {name}
	// matches one segment up to a slash or colon, {name...} the rest of the path.
	Path    string
	Summary string
	// Roles are those who may: a key needs one of them. Admin always may.
	Roles []api.Role
	// Anonymous lets requests without a key in where the namespace's settings
	// open it to them.
	Anonymous bool
	// MaxBody bounds the request's body in bytes; 0 means 2 MiB. The body of a Query
	// by GET is not read.
	MaxBody int64
	// RequireIdempotencyKey and IgnoreIdempotencyKey say how the header is
	// treated; by default it is optional. For a Query it is only checked, and by GET
	// not even that: nothing is kept for its key.
	RequireIdempotencyKey bool
	IgnoreIdempotencyKey  bool
	// Params documents the query parameters.
	Params []Param
	// In and Out are zero values of the documents, for the description of the
	// API; Status is that of success, 0 for 200.
	In, Out any
	Status  int
	// Streams says that the answer can be followed as server-sent events: the Query
	// gives queries with the power [Streaming].
	Streams bool

	Command func(r *Request) (Command, error)
	Query   func(r *Request) (Query, error)
}

// Param documents a query parameter.
type Param struct {
	Name, Summary string
}

// Request is an authorized HTTP request as a route sees it.
type Request struct {
	Caller Caller
	// Namespace is the name in the path, and Base the path below which the
	// namespace's routes lie for this caller, for links: "/ns/NAME/api/v2".
	Namespace string
	Base      string
	Path      map[string]string
	Query     url.Values
	Body      []byte
	// LastEventID is the header Last-Event-ID, with which a client that lost a
	// stream takes it up again: up to 255 printable ASCII characters, "" for none.
	// It is read only where a route Streams, also for a page.
	LastEventID string
	// Stream says that the caller asks to follow the answer: it accepts
	// text/event-stream, and the route Streams.
	Stream bool
}

// Decode reads the body into v, strictly; an empty body is {}. Its errors are
// api errors.
func (r *Request) Decode(v any) error { return Decode(r.Body, v) }

// WaitMs reads the query parameter wait_ms, within 0 to 30,000.
func (r *Request) WaitMs() (time.Duration, error) {
	n, err := r.int("wait_ms", 0, 0, 30_000)
	return time.Duration(n) * time.Millisecond, err
}

// After reads the query parameter after, a sequence number from 0.
func (r *Request) After() (int64, error) {
	return r.int("after", 0, 0, 1<<53-1)
}

// int reads a whole number; an empty parameter is an absent one.
func (r *Request) int(name string, otherwise, least, most int64) (int64, error) {
	s := r.Query.Get(name)
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		e := api.Errorf(api.BadRequest, "%s must be a whole number", name)
		e.Field = name
		return 0, e
	}
	if n < least || n > most {
		return 0, api.Invalid(name, "%s must be between %d and %d", name, least, most).With("actual", n)
	}
	return n, nil
}
