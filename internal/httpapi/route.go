package httpapi

import (
	"net/http"
	"strings"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// access says whose key opens a route.
type access int

const (
	// open needs no key.
	open access = iota
	// member needs a key of the namespace with one of the route's roles.
	member
	// operatorOrAdmin needs the operator's key, or an admin's of the very
	// namespace.
	operatorOrAdmin
	// operatorOnly needs the operator's key.
	operatorOnly
)

// keyUse says what a route makes of an Idempotency-Key.
type keyUse int

const (
	keyIgnored keyUse = iota
	// keyChecked is for what changes nothing: nothing is stored for the key.
	keyChecked
	keyOptional
	keyRequired
)

// route is one row of the table from which the router is mounted and the API
// described.
type route struct {
	method string
	// path is the whole path; {name} stands for one segment up to a slash or
	// colon, {name...} for the rest.
	path    string
	summary string

	access    access
	roles     []api.Role
	anonymous bool
	key       keyUse
	// base is the part of path below which the namespace's routes lie, for a
	// route of a namespace.
	base string

	// maxBody bounds the body; 0 leaves it unread.
	maxBody int64
	params  []namespace.Param
	in, out any
	// status is that of success, media its media type; "" is JSON.
	status int
	media  string
	// streams says that the answer can be followed as server-sent events.
	streams bool
	// action names the route in the audit log; "" leaves it out.
	action string

	serve func(x *exchange, r *http.Request) error
}

// ServeHTTP judges a request that the router gave to this route, in the
// package's order, and serves it.
func (t *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	x.route = t
	if t.below() {
		x.base = strings.Replace(t.base, "{namespace}", x.namespace, 1)
		if x.namespace == "" {
			x.namespace = x.h.single
		}
	}
	if err := t.run(x, r); err != nil {
		x.fail(r, err)
	}
}

func (t *route) run(x *exchange, r *http.Request) error {
	if err := t.authorize(x, r); err != nil {
		return err
	}
	if err := x.readTarget(r); err != nil {
		return err
	}
	if err := x.readIdempotencyKey(r.Header); err != nil {
		return err
	}
	if err := x.readStreaming(r); err != nil {
		return err
	}
	if t.maxBody > 0 {
		if err := x.readBody(r); err != nil {
			return err
		}
	}
	return t.serve(x, r)
}

// success is the status of the route's successful answer.
func (t *route) success() int {
	if t.status == 0 {
		return http.StatusOK
	}
	return t.status
}

// below reports whether the route lies below a namespace.
func (t *route) below() bool { return t.base != "" }
