package httpapi

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	"github.com/skerryhq/skerry/api"
)

// bearers are the columns of the matrix.
var bearers = []string{"none", "unknown", "revoked", "foreign", "worker", "producer", "admin", "operator"}

// matrix says for every route which key is let in (+), is refused as unknown
// (1: 401), or is refused for its roles (3: 403), in the order of bearers.
var matrix = map[string]string{
	"GET /healthz":      "++++++++",
	"GET /readyz":       "++++++++",
	"GET /metrics":      "++++++++",
	"GET /openapi.json": "++++++++",

	"GET /debug/pprof/":        "1111111+",
	"GET /debug/pprof/profile": "1111111+",
	"GET /debug/pprof/trace":   "1111111+",
	"GET /debug/pprof/{name}":  "1111111+",

	"GET /api/v2/namespaces":                          "1111111+",
	"PUT /api/v2/namespaces/{namespace}":              "1111333+",
	"GET /api/v2/namespaces/{namespace}":              "111133++",
	"DELETE /api/v2/namespaces/{namespace}":           "1111333+",
	"PATCH /api/v2/namespaces/{namespace}/settings":   "111133++",
	"POST /api/v2/namespaces/{namespace}/keys":        "111133++",
	"GET /api/v2/namespaces/{namespace}/keys":         "111133++",
	"DELETE /api/v2/namespaces/{namespace}/keys/{id}": "111133++",
}

// belowMatrix is the same for the routes below a namespace.
var belowMatrix = map[string]string{
	"POST nouns":                 "11113++1",
	"GET nouns":                  "1111+++1",
	"GET nouns/{key...}":         "1111+++1",
	"POST verbs":                 "11113++1",
	"POST verbs:batch":           "11113++1",
	"GET verbs":                  "1111+++1",
	"GET verbs/{id}":             "1111+++1",
	"POST verbs/{id}:cancel":     "11113++1",
	"POST verbs/{id}:requeue":    "11113++1",
	"POST claims":                "1111+3+1",
	"GET claims":                 "1111+3+1",
	"POST claims/{id}:heartbeat": "1111+3+1",
	"POST claims/{id}:submit":    "1111+3+1",
	"POST claims/{id}:fail":      "1111+3+1",
	"POST claims/{id}:release":   "1111+3+1",
	"GET receipts":               "1111+++1",
	"GET receipts/{id}":          "1111+++1",

	"POST runs":                  "11113++1",
	"POST runs:estimate":         "11113++1",
	"GET runs":                   "11113++1",
	"GET runs/{id}":              "11113++1",
	"POST runs/{id}:cancel":      "11113++1",
	"GET runs/{id}/items":        "11113++1",
	"GET runs/{id}/results":      "11113++1",
	"GET runs/{id}/events":       "11113++1",
	"POST invoke":                "11113++1",
	"POST quanta:claim":          "1111+3+1",
	"POST quanta/{id}:heartbeat": "1111+3+1",
	"POST quanta/{id}:commit":    "1111+3+1",
	"POST quanta/{id}:release":   "1111+3+1",

	"GET admission":          "1111+++1",
	"GET catalog":            "1111+++1",
	"POST notes":             "11113++1",
	"POST notes:import":      "11113++1",
	"GET notes":              "1111+++1",
	"GET notes/{key...}":     "1111+3+1",
	"POST tickets":           "1111+3+1",
	"POST tickets/{id}:beat": "1111+3+1",
	"POST faults":            "1111+3+1",
	"POST logs:measure":      "11113++1",
	"POST logs/{id}":         "11113++1",
	"GET logs/{id}":          "1111+++1",
}

// mounted lists the router's routes in the form of the table.
func mounted(t *testing.T, h *handler) []string {
	t.Helper()
	var routes []string
	for _, router := range h.routers {
		err := router.Walk(func(m *mux.Route, _ *mux.Router, _ []*mux.Route) error {
			template, err := m.GetPathTemplate()
			if err != nil {
				return err
			}
			path := strings.NewReplacer(":[^/:]+}", "}", ":.+}", "...}").Replace(template)
			allowed, err := m.GetMethods()
			for _, method := range allowed {
				if method != "HEAD" {
					routes = append(routes, method+" "+path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(routes)
	return routes
}

// target fills in a route's variables so that they hit nothing.
func target(path string) string {
	return strings.NewReplacer("{namespace}", "demo", "{id}", "absent", "{name}", "heap", "{key...}", "a/b").Replace(path)
}

func TestEveryRouteLetsInExactlyItsRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Single = "demo" })
	rows := mounted(t, w.h)
	if want := len(matrix) + 2*len(belowMatrix); len(rows) != want {
		t.Errorf("the router has %d routes, the matrix %d", len(rows), want)
	}
	for _, row := range rows {
		want, ok := matrix[row]
		if !ok {
			want, ok = belowMatrix[strings.NewReplacer(prefixed+"/", "", unprefixed+"/", "").Replace(row)]
		}
		if !ok {
			t.Errorf("%s is not in the matrix", row)
			continue
		}
		method, path, _ := strings.Cut(row, " ")
		for i, bearer := range bearers {
			if want[i] == '+' && method == "DELETE" && strings.HasSuffix(path, "{namespace}") {
				continue // it would end the world; deletion has a test of its own
			}
			if want[i] == '+' && (strings.HasSuffix(path, "profile") || strings.HasSuffix(path, "trace")) {
				continue // these take their time
			}
			r := w.do(method, target(path), bearer, "")
			if got := verdict(r); got != want[i] {
				t.Errorf("%s as %s: %c (%d), want %c", row, bearer, got, r.Code, want[i])
			}
			if r.Code >= 500 {
				t.Errorf("%s as %s: %d %s", row, bearer, r.Code, r.Body)
			}
		}
	}
}

func verdict(r *httptest.ResponseRecorder) byte {
	switch r.Code {
	case 401:
		return '1'
	case 403:
		return '3'
	}
	return '+'
}

func TestAbsentNamespaceIsUnauthorizedAndNotMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, bearer := range bearers {
		w.want(w.do("GET", "/ns/absent/api/v2/notes", bearer, ""), 401, "unauthorized")
		want, code := 401, "unauthorized"
		if bearer == "operator" {
			want, code = 404, "not_found"
		}
		w.want(w.do("GET", "/api/v2/namespaces/absent", bearer, ""), want, api.Code(code))
	}
	if r := w.do("GET", "/api/v2/namespaces", "operator", ""); strings.Contains(r.Body.String(), "absent") {
		t.Errorf("a request made a namespace: %s", r.Body)
	}
}

func TestCredentialForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := w.keys["worker"]
	tests := []struct {
		name    string
		headers []string
		status  int
		code    string
	}{
		{"bearer", []string{"Authorization: Bearer " + good}, 200, ""},
		{"scheme in any case", []string{"Authorization: bEARER " + good}, 200, ""},
		{"x-api-key", []string{"x-api-key: " + good}, 200, ""},
		{"both the same", []string{"x-api-key: " + good, "Authorization: Bearer " + good}, 200, ""},
		{"x-api-key twice the same", []string{"x-api-key: " + good, "x-api-key: " + good}, 200, ""},
		{"empty x-api-key beside bearer", []string{"x-api-key: ", "Authorization: Bearer " + good}, 200, ""},
		{"both different", []string{"x-api-key: other", "Authorization: Bearer " + good}, 400, "bad_request"},
		{"x-api-key twice different", []string{"x-api-key: other", "x-api-key: " + good}, 400, "bad_request"},
		{"no scheme", []string{"Authorization: " + good}, 401, "unauthorized"},
		{"basic", []string{"Authorization: Basic " + good}, 401, "unauthorized"},
		{"empty", []string{"Authorization: "}, 401, "unauthorized"},
		{"no key", []string{"Authorization: Bearer "}, 401, "unauthorized"},
		{"two words", []string{"Authorization: Bearer a b"}, 401, "unauthorized"},
		{"two headers", []string{"Authorization: Bearer " + good, "Authorization: Bearer " + good}, 401, "unauthorized"},
		{"malformed beside a good key", []string{"Authorization: Bearer", "x-api-key: " + good}, 401, "unauthorized"},
		{"operator's", []string{"Authorization: Bearer " + operatorSecret}, 401, "unauthorized"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := w.do("GET", "/ns/demo/api/v2/notes", "none", "", test.headers...)
			(&world{t: t}).want(r, test.status, api.Code(test.code))
			if r.Code == 401 && r.Header().Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
		})
	}
}

func TestAnonymousEntersOnlyOpenRoutesOfOpenNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", "/ns/demo/api/v2/tickets", "none", ""), 401, "unauthorized")
	w.settings(`{"anonymous":{"claims_per_hour":10,"leases":5}}`)
	w.want(w.do("POST", "/ns/demo/api/v2/tickets", "none", ""), 200, "")
	w.want(w.do("POST", "/ns/demo/api/v2/tickets/x:beat", "none", ""), 200, "")
	w.want(w.do("GET", "/ns/demo/api/v2/notes", "none", ""), 401, "unauthorized")
	w.want(w.do("POST", "/ns/demo/api/v2/tickets", "unknown", ""), 401, "unauthorized")
	w.want(w.do("GET", "/api/v2/namespaces/demo", "none", ""), 401, "unauthorized")
}

func TestEmptyOperatorKeyOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.OperatorKey = "" })
	w.want(w.do("GET", "/api/v2/namespaces", "none", ""), 401, "unauthorized")
	w.want(w.do("GET", "/api/v2/namespaces", "operator", ""), 401, "unauthorized")
	w.want(w.do("GET", "/api/v2/namespaces", "none", "", "x-api-key: "), 401, "unauthorized")
	if (operatorKey{}).is("") {
		t.Error("no key matches the empty one")
	}
}

func TestRevokedKeyStopsWithTheNextRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.key("demo", "p", "producer")
	w.keys["p"] = key.Secret
	w.want(w.do("GET", "/ns/demo/api/v2/notes", "p", ""), 200, "")
	w.want(w.do("DELETE", "/api/v2/namespaces/demo/keys/"+key.ID, "admin", ""), 200, "")
	w.want(w.do("GET", "/ns/demo/api/v2/notes", "p", ""), 401, "unauthorized")
}
