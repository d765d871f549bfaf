package namespacetest

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// parameter is a {name} or {name...} of a path.
var parameter = regexp.MustCompile(`\{([a-z_]+)(\.\.\.)?\}`)

// checkRoutes holds the routes to what the HTTP interface and its description
// take for granted.
func checkRoutes(_ testing.TB, s Suite) (wrong []error) {
	class := s.Class()
	shapes := map[string]string{}
	for _, r := range class.Routes {
		name := r.Method + " " + r.Path
		for _, problem := range routeProblems(r) {
			wrong = append(wrong, fmt.Errorf("route %s: %s", name, problem))
		}
		shape := r.Method + " " + parameter.ReplaceAllString(r.Path, "{$2}")
		if other, taken := shapes[shape]; taken {
			wrong = append(wrong, fmt.Errorf("route %s cannot be told from %s", name, other))
		}
		shapes[shape] = name
		if !slices.ContainsFunc(s.examples(), func(e Example) bool { return e.Route == name }) {
			wrong = append(wrong, fmt.Errorf("route %s has no example", name))
		}
	}
	return append(wrong, exampleProblems(s, class)...)
}

func exampleProblems(s Suite, class namespace.Class) (wrong []error) {
	seen := map[string]bool{}
	for _, e := range s.examples() {
		if e.Name == "" || seen[e.Name] {
			wrong = append(wrong, fmt.Errorf("example %q: its name is empty or taken", e.Name))
		}
		seen[e.Name] = true
		if e.Route == "" {
			continue
		}
		if _, err := routeOf(class, e.Route); err != nil {
			wrong = append(wrong, fmt.Errorf("example %s: %w", e.Name, err))
		}
	}
	return wrong
}

func routeProblems(r namespace.Route) (problems []string) {
	say := func(wrong bool, problem string) {
		if wrong {
			problems = append(problems, problem)
		}
	}
	say(!slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, r.Method), "its method is not one of GET, POST, PUT, PATCH, DELETE")
	say((r.Command == nil) == (r.Query == nil), "exactly one of Command and Query must be set")
	say(r.Method == http.MethodGet && r.Command != nil, "a GET must not be a command")
	say(r.Summary == "", "it has no summary")
	say(r.Out == nil, "it does not say what it answers (Out)")
	say(r.Query != nil && r.Method == http.MethodGet && r.In != nil, "a GET has no body, so no In")
	say(r.Status != 0 && (r.Status < 200 || r.Status > 299), "its status is not one of success")
	say(r.MaxBody < 0, "its bound of the body is negative")
	say(r.RequireIdempotencyKey && r.IgnoreIdempotencyKey, "it cannot both require and ignore an idempotency key")
	say(r.Command != nil && r.Streams, "a command cannot be followed")
	say(r.Command == nil && (r.RequireIdempotencyKey || r.IgnoreIdempotencyKey), "a query has no idempotency key")
	say(len(r.Roles) == 0, "nobody but an admin may, which must be said (Roles)")
	for _, role := range r.Roles {
		say(!slices.Contains([]api.Role{api.RoleWorker, api.RoleProducer, api.RoleAdmin}, role), fmt.Sprintf("%q is no role", role))
	}
	for _, v := range []any{r.In, r.Out} {
		if v != nil {
			say(!isDocument(v), fmt.Sprintf("a %T is no JSON document", v))
		}
	}
	params := map[string]bool{}
	for _, p := range r.Params {
		say(p.Name == "" || p.Summary == "" || params[p.Name], fmt.Sprintf("the parameter %q has no name or summary, or is named twice", p.Name))
		params[p.Name] = true
	}
	return append(problems, pathProblems(r.Path)...)
}

func pathProblems(path string) (problems []string) {
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.HasSuffix(path, "/") {
		problems = append(problems, "its path must begin, and not end, with a slash, and have no empty segment")
	}
	seen := map[string]bool{}
	for _, m := range parameter.FindAllStringSubmatch(path, -1) {
		if seen[m[1]] {
			problems = append(problems, "its path has the parameter "+m[1]+" twice")
		}
		seen[m[1]] = true
		if m[2] != "" && !strings.HasSuffix(path, m[0]) {
			problems = append(problems, "the parameter "+m[1]+" takes the rest of the path, so nothing can follow it")
		}
	}
	if strings.ContainsAny(parameter.ReplaceAllString(path, ""), "{}?#% ") {
		problems = append(problems, "its path has characters that are neither plain nor a parameter")
	}
	return problems
}

// isDocument reports whether a value is written as a JSON object.
func isDocument(v any) bool {
	if kind := reflect.TypeOf(v).Kind(); kind == reflect.Map { // a nil one too
		return true
	}
	encoded, err := namespace.Encode(v)
	return err == nil && strings.HasPrefix(string(encoded), "{")
}
