package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/skerryhq/skerry/api"
)

var (
	variable = regexp.MustCompile(`\{([a-z_]+)(\.\.\.)?\}`)
	methods  = [...]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
)

// routers are the routers of the families. A router tries its routes one after
// another, by regular expressions; with one for each family a request costs a
// few of them and not all.
//
// Families are not subrouters of one router, because each route of a subrouter
// inherits its parent's conditions, and a condition that holds makes the router
// forget that an earlier route had the right path and the wrong method.
type routers map[family]*mux.Router

// mount makes the routers of the routes, which give what they cannot match to
// lost and misused. Paths are matched as they were sent, percent-encoded and
// uncleaned: the stock router would answer ".." with a redirect.
func mount(routes []*route, lost, misused refusal) (routers, error) {
	all := make(routers)
	seen := make(map[string]bool, len(routes))
	for _, t := range routes {
		if err := t.check(); err != nil {
			return nil, err
		}
		same := t.method + " " + variable.ReplaceAllString(t.path, "{}")
		if seen[same] {
			return nil, fmt.Errorf("mount route: %s %s stands twice", t.method, t.path)
		}
		seen[same] = true

		f := familyOf(t.path)
		if all[f] == nil {
			all[f] = mux.NewRouter().SkipClean(true).UseEncodedPath()
			all[f].NotFoundHandler, all[f].MethodNotAllowedHandler = lost, misused
		}
		allowed := []string{t.method}
		if t.method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
		// The path before the methods, for the reason above.
		if err := all[f].Path(muxPath(t.path)).Methods(allowed...).Handler(t).GetError(); err != nil {
			return nil, fmt.Errorf("mount route %s %s: %w", t.method, t.path, err)
		}
	}
	return all, nil
}

// of is the router of a path's family, nil if there is no such family.
func (a routers) of(path string) *mux.Router { return a[familyOf(path)] }

// check refuses a row that could not work.
func (t *route) check() error {
	switch {
	case !slices.Contains(methods[:], t.method) || t.method == http.MethodHead:
		return fmt.Errorf("mount route: %q %s has a method that is not served", t.method, t.path)
	case strings.ContainsAny(variable.ReplaceAllString(t.path, ""), "{}"):
		return fmt.Errorf("mount route: %s %s has a variable that is not {name} or {name...}", t.method, t.path)
	case strings.ContainsAny(familyOf(t.path).word, "{}"):
		return fmt.Errorf("mount route: %s %s begins with a variable", t.method, t.path)
	}
	names := make(map[string]bool)
	for _, v := range variable.FindAllStringSubmatch(t.path, -1) {
		if names[v[1]] {
			return fmt.Errorf("mount route: %s %s has the variable %s twice", t.method, t.path, v[1])
		}
		names[v[1]] = true
	}
	return nil
}

// muxPath is the path in the router's own form.
func muxPath(path string) string {
	return variable.ReplaceAllStringFunc(path, func(v string) string {
		name := strings.Trim(v, "{.}")
		if strings.HasSuffix(v, "...}") {
			return "{" + name + ":.+}"
		}
		return "{" + name + ":[^/:]+}"
	})
}

// family is what the routes about one kind of thing share: the first word, and
// whether it stands below /ns/.
type family struct {
	below bool
	word  string
}

// familyOf finds the family of a path, be it a request's or a route's.
func familyOf(path string) family {
	rest, below := strings.CutPrefix(path, "/ns/")
	if below {
		_, rest, _ = strings.Cut(rest, "/")
	} else {
		rest = strings.TrimPrefix(rest, "/")
	}
	rest = strings.TrimPrefix(rest, "api/v2/")
	if end := strings.IndexAny(rest, "/:"); end >= 0 {
		rest = rest[:end]
	}
	return family{below: below, word: rest}
}

// refusal answers what no route takes.
type refusal func(x *exchange, r *http.Request) error

func (f refusal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	x.fail(r, f(x, r))
}

// unknownRoute refuses a path that no route has.
func (h *handler) unknownRoute(*exchange, *http.Request) error {
	return api.Errorf(api.NotFound, "there is no such route; /openapi.json lists them")
}

// wrongMethod refuses a path that has routes, but none of this method.
func (h *handler) wrongMethod(x *exchange, r *http.Request) error {
	var allowed []string
	router := h.routers.of(r.URL.EscapedPath())
	for _, method := range methods {
		var match mux.RouteMatch
		other := &http.Request{Method: method, URL: r.URL}
		if router.Match(other, &match) && match.MatchErr == nil {
			allowed = append(allowed, method)
		}
	}
	x.Header().Set("Allow", strings.Join(allowed, ", "))
	return api.Errorf(api.MethodNotAllowed, "the route does not take this method; it takes %s", strings.Join(allowed, ", "))
}
