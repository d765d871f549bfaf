package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gorilla/mux"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// nameInPath finds the namespace that a percent-encoded path names, "" if it is
// a path without one.
func nameInPath(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "/ns/")
	if !ok {
		if rest, ok = strings.CutPrefix(path, namespacesPath+"/"); !ok {
			return "", nil
		}
	}
	rest, _, _ = strings.Cut(rest, "/")
	name, err := url.PathUnescape(rest)
	if err != nil {
		name = rest // which no name may be, for its percent sign
	}
	if err := namespace.CheckName(name); err != nil {
		return "", err
	}
	return name, nil
}

// readTarget decodes the path's variables and the query.
func (x *exchange) readTarget(r *http.Request) error {
	x.path = make(map[string]string, 1)
	for name, value := range mux.Vars(r) {
		if name == "namespace" {
			continue
		}
		decoded, err := url.PathUnescape(value)
		if err != nil || !clean(decoded) {
			return badTarget("path", name)
		}
		x.path[name] = decoded
	}
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return api.Errorf(api.BadRequest, "the query string is malformed")
	}
	for name, values := range query {
		if !clean(name) || slices.ContainsFunc(values, func(s string) bool { return !clean(s) }) {
			return badTarget("query", name)
		}
	}
	x.params = query
	return nil
}

// clean reports whether s is text that everything behind it can store and show.
func clean(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

func badTarget(where, name string) error {
	e := api.Errorf(api.BadRequest, "a value in the %s is not valid UTF-8, or has a NUL", where)
	if clean(name) && len(name) <= 64 {
		e.Field = name
	}
	return e
}

// scope is the method and path under which an idempotency key counts. The path
// begins below the namespace, so that both shapes of a route are one, and its
// variables are encoded anew, so that all spellings of a path are one and no two
// paths are.
func (x *exchange) scope() string {
	path := strings.TrimPrefix(x.route.path, x.route.base)
	return x.route.method + " " + variable.ReplaceAllStringFunc(path, func(v string) string {
		return url.QueryEscape(x.path[strings.Trim(v, "{.}")])
	})
}
