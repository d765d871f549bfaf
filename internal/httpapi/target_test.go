package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/namespace"
)

func TestInvalidNamesAreRefusedBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := []string{
		"", ".", "..", "%2e%2e", "%2e%2e%2f", "..%2fa", "a%2fb", "a%5cb", "a%00b", "%00", "%ff", "CON", "A", "a.", ".a", "-a", "a-", "_a",
		"x.", "%20", "a%20b", ":memory:", "file:..%3fmode=ro", "%zz", "%", "a%", "caf%C3%A9", "cafe%CC%81", "%F0%9F%98%80", "%E2%80%AEa",
		strings.Repeat("a", 64), strings.Repeat("a", 300), "a;b", "a,b", "a:b", "a@b", "a+b", "a%2e", "~", "$HOME", "*", "a%0ab", "a%0d%0ab",
	}
	for _, name := range names {
		for _, path := range []string{"/ns/" + name + "/api/v2/notes", "/ns/" + name + "/nothing", "/api/v2/namespaces/" + name} {
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				r := w.send(method, path)
				if r.Code != 400 || !strings.Contains(r.Body.String(), `"invalid_namespace"`) {
					t.Errorf("%s %s: %d %s, want 400 invalid_namespace", method, path, r.Code, r.Body)
				}
				wantErrorForm(t, r.Result(), r.Body.Bytes())
			}
		}
	}
	for _, name := range []string{"a", "0", "a.b", "a..b", "a_-.b", "con", "nul", strings.Repeat("a", 63)} {
		w.want(w.do("GET", "/ns/"+name+"/api/v2/notes", "worker", ""), 401, "unauthorized")
		w.want(w.do("PUT", "/api/v2/namespaces/"+name, "operator", ""), 201, "")
		w.want(w.do("GET", "/api/v2/namespaces/"+name, "operator", ""), 200, "")
	}
	w.want(w.do("GET", "/ns/%64emo/api/v2/notes", "worker", ""), 200, "")
}

// send makes a request whose path is not checked on the way.
func (w *world) send(method, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	unescaped, err := url.PathUnescape(path)
	if err != nil {
		unescaped = path
	}
	r.URL.Path, r.URL.RawPath = unescaped, path
	r.Header.Set("Authorization", "Bearer "+operatorSecret)
	recorder := httptest.NewRecorder()
	w.h.ServeHTTP(recorder, r)
	return recorder
}

func TestKeysMayHoldSlashesInAnySpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", "/ns/demo/api/v2/notes", "producer", `{"key":"in/a b/ü"}`), 201, "")
	for _, path := range []string{"in/a%20b/%C3%BC", "in%2Fa%20b%2F%C3%BC", "in%2fa%20b/%c3%bc", "%69n/a%20b/%C3%BC"} {
		w.want(w.do("GET", "/ns/demo/api/v2/notes/"+path, "worker", ""), 200, "")
	}
	w.want(w.do("POST", "/ns/demo/api/v2/notes", "producer", `{"key":"x%2Fy"}`), 201, "")
	w.want(w.do("GET", "/ns/demo/api/v2/notes/x%252Fy", "worker", ""), 200, "")
	w.want(w.do("GET", "/ns/demo/api/v2/notes/x%2Fy", "worker", ""), 404, "not_found")
	for path, id := range map[string]string{"a%2Fb": "a/b", "a%3Ab": "a:b", "a%25": "a%"} {
		r := w.do("POST", "/ns/demo/api/v2/tickets/"+path+":beat", "worker", "")
		if want := `{"key":"` + id + `","value":"/ns/demo/api/v2"}`; r.Body.String() != want {
			t.Errorf("%s: %s, want %s", path, r.Body, want)
		}
	}
	for path, status := range map[string]int{
		"in%2Fa": 404, "%00": 400, "a%00b": 400, "%ff": 400, "a/%C3%28": 400, "a/../b": 404, "a//b": 404, "%2e%2e/x": 404, "x%2f..": 404,
		"a?body=%ff": 400, "a?x=%00": 400, "a?x=%zz": 400, "a?%ff=1": 400, "a?a=1;b=2": 400,
	} {
		r := w.do("GET", "/ns/demo/api/v2/notes/"+path, "worker", "")
		if r.Code != status {
			t.Errorf("%s: %d, want %d: %s", path, r.Code, status, r.Body)
		}
		wantErrorForm(t, r.Result(), r.Body.Bytes())
	}
}

func TestEmptyQueryParameterIsAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("GET", "/ns/demo/api/v2/notes?cursor=&limit=&order=", "worker", ""), 200, "")
	w.want(w.do("GET", "/api/v2/namespaces?cursor=&limit=&order=", "operator", ""), 200, "")
	w.want(w.do("GET", "/ns/demo/api/v2/notes?limit=0", "worker", ""), 422, "invalid_field")
	w.want(w.do("GET", "/ns/demo/api/v2/notes?limit=x", "worker", ""), 400, "bad_request")
	w.want(w.do("GET", "/api/v2/namespaces?cursor=x", "operator", ""), 400, "bad_request")
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		method, path, allow string
	}{
		{"GET", "/", ""},
		{"GET", "/ns", ""},
		{"GET", "/ns/demo", ""},
		{"GET", "/ns/demo/", ""},
		{"GET", "/ns/demo/api/v2", ""},
		{"GET", "/ns/demo/api/v1/notes", ""},
		{"GET", "/ns/demo/api/v2/nothing", ""},
		{"GET", "/ns/demo/api/v2/notes/", ""},
		{"GET", "/ns/demo/api/v2/admission/x", ""},
		{"GET", "//ns/demo/api/v2/notes", ""},
		{"GET", "/ns/demo/../demo/api/v2/notes", ""},
		{"GET", "/ns/demo/api/v2/n%6Ftes", ""},
		{"GET", "/api/v2/notes", ""},
		{"GET", "/api/v2/healthz", ""},
		{"GET", "/healthz/", ""},
		{"GET", "/debug/pprof", ""},
		{"POST", "/ns/demo/api/v2/tickets/x", ""},
		{"POST", "/ns/demo/api/v2/tickets/x:other", ""},
		{"POST", "/ns/demo/api/v2/tickets/x/y:beat", ""},
		{"POST", "/ns/demo/api/v2/tickets/:beat", ""},
		{"GET", "/ns/demo/api/v2/tickets", "POST"},
		{"PUT", "/ns/demo/api/v2/notes", "GET, HEAD, POST"},
		{"DELETE", "/ns/demo/api/v2/notes", "GET, HEAD, POST"},
		{"OPTIONS", "/ns/demo/api/v2/notes", "GET, HEAD, POST"},
		{"BREW", "/ns/demo/api/v2/notes", "GET, HEAD, POST"},
		{"GET", "/ns/demo/api/v2/notes:import", "POST"},
		{"POST", "/ns/demo/api/v2/notes/a/b", "GET, HEAD"},
		{"POST", "/healthz", "GET, HEAD"},
		{"POST", "/api/v2/namespaces/demo", "GET, HEAD, PUT, DELETE"},
		{"GET", "/api/v2/namespaces/demo/settings", "PATCH"},
		{"POST", "/ns/demo/api/v2/catalog", "GET, HEAD"},
	}
	for _, test := range tests {
		r := w.do(test.method, test.path, "operator", "")
		detail := wantErrorForm(t, r.Result(), r.Body.Bytes())
		want := "not_found"
		if test.allow != "" {
			want = "method_not_allowed"
		}
		if diff := cmp.Diff([]string{string(detail.Code), r.Header().Get("Allow")}, []string{want, test.allow}); diff != "" {
			t.Errorf("%s %s (-got +want):\n%s", test.method, test.path, diff)
		}
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := "http://" + w.serve()
	for _, path := range []string{"/healthz", "/openapi.json", "/metrics", "/ns/demo/api/v2/notes", "/ns/demo/api/v2/catalog", "/ns/demo/api/v2/absent"} {
		var got [2]*http.Response
		for i, method := range []string{"GET", "HEAD"} {
			r, err := http.NewRequest(method, address+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Api-Key", w.keys["worker"])
			if got[i], err = http.DefaultClient.Do(r); err != nil {
				t.Fatal(err)
			}
			if err := got[i].Body.Close(); err != nil {
				t.Error(err)
			}
		}
		if got[1].StatusCode != got[0].StatusCode || got[1].Header.Get("Content-Type") != got[0].Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %s, GET: %d %s", path, got[1].StatusCode, got[1].Header.Get("Content-Type"),
				got[0].StatusCode, got[0].Header.Get("Content-Type"))
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSingleShapeIsTheSameNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Single = "demo" })
	w.want(w.do("POST", "/api/v2/notes", "producer", `{"key":"k","value":"v"}`, "Idempotency-Key: one"), 201, "")
	r := w.do("POST", "/ns/demo/api/v2/notes", "producer", `{"key":"k","value":"v"}`, "Idempotency-Key: one")
	if r.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("the two shapes have two scopes: %d %s", r.Code, r.Body)
	}
	for path, base := range map[string]string{"/api/v2": "/api/v2", "/ns/demo/api/v2": "/ns/demo/api/v2"} {
		r := w.do("POST", path+"/tickets/t:beat", "worker", "")
		if want := `{"key":"t","value":"` + base + `"}`; r.Body.String() != want {
			t.Errorf("got %s, want %s", r.Body, want)
		}
	}
	w.want(w.do("GET", "/api/v2/catalog", "worker", ""), 200, "")
	w.want(w.do("GET", "/api/v2/notes", "foreign", ""), 401, "unauthorized")
	w.want(w.do("GET", "/api/v2/namespaces", "operator", ""), 200, "")
}

func TestNewRefusesWhatCannotBeMounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := New(w.rt, Options{Single: "../x"}); err == nil {
		t.Error("a single namespace with an invalid name was accepted")
	}
	serve := func(*exchange, *http.Request) error { return nil }
	for name, routes := range map[string][]*route{
		"same path":      {{method: "GET", path: "/a/{x}", serve: serve}, {method: "GET", path: "/a/{y}", serve: serve}},
		"same variable":  {{method: "GET", path: "/a/{x}/{x}", serve: serve}},
		"leading var":    {{method: "GET", path: "/ns/{namespace}/api/v2/{x}", serve: serve}},
		"odd variable":   {{method: "GET", path: "/a/{x:[0-9]+}", serve: serve}},
		"open brace":     {{method: "GET", path: "/a/{x", serve: serve}},
		"unknown method": {{method: "BREW", path: "/a", serve: serve}},
		"own HEAD":       {{method: "HEAD", path: "/a", serve: serve}},
	} {
		if _, err := mount(routes, nil, nil); err == nil {
			t.Errorf("%s: mounted", name)
		}
	}
}

// FuzzTarget holds paths and queries against the rules: no failure of the
// server, valid names and clean keys only.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		"/ns/demo/api/v2/notes/a", "/ns/%2e%2e/x", "/ns//", "/ns/demo/api/v2/notes/%00", "/ns/demo/api/v2/notes/%zz",
		"/api/v2/namespaces/%ff", "/ns/demo/api/v2/notes?limit=%", "//", "", "/ns/demo/api/v2/notes/\xff", "/ns/demo/api/v2/notes/a\nb",
	} {
		f.Add(seed)
	}
	var seen []string
	h := &handler{log: slog.New(slog.DiscardHandler)}
	var err error
	h.routers, err = mount([]*route{{
		method: "GET", path: prefixed + "/notes/{key...}", base: prefixed,
		serve: func(x *exchange, _ *http.Request) error {
			seen = append(seen, x.namespace, x.path["key"])
			return x.document(http.StatusOK, nil)
		},
	}}, h.unknownRoute, h.wrongMethod)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, target string) {
		seen = nil
		path, query, _ := strings.Cut(target, "?")
		u := &url.URL{Path: path, RawPath: path, RawQuery: query}
		if unescaped, err := url.PathUnescape(path); err == nil {
			u.Path = unescaped
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, &http.Request{Method: "GET", URL: u, Header: http.Header{}})
		if recorder.Code >= 500 {
			t.Errorf("%q: %d %s", target, recorder.Code, recorder.Body)
		}
		if len(seen) == 0 {
			wantErrorForm(t, recorder.Result(), recorder.Body.Bytes())
			return
		}
		if namespace.CheckName(seen[0]) != nil || seen[1] == "" || !utf8.ValidString(seen[1]) || strings.ContainsRune(seen[1], 0) {
			t.Errorf("%q reached a route as %q", target, seen)
		}
	})
}
