package claims_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

func TestRoutesReadRequestsStrictly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		route, query, body string
		code               api.Code
		field              string
	}{
		{"POST /nouns", "", `{"key":"a","body":"x"}`, "", ""},
		{"POST /nouns", "", `{"key":1}`, api.BadRequest, "key"},
		{"POST /nouns", "", `{"key":"a","other":1}`, api.BadRequest, "other"},
		{"POST /nouns", "", `{"key":"a","key":"b"}`, api.BadRequest, "key"},
		{"GET /nouns", "prefix=&cursor=&limit=", "", "", ""},
		{"GET /nouns", "limit=1001", "", api.InvalidField, "limit"},
		{"GET /nouns/{key...}", "", "", "", ""},
		{"GET /nouns/{key...}", "body=1", "", "", ""},
		{"GET /nouns/{key...}", "versions=1", "", "", ""},
		{"GET /nouns/{key...}", "versions=1&body=1", "", api.InvalidField, "versions"},
		{"GET /nouns/{key...}", "body=yes", "", api.InvalidField, "body"},
		{"POST /verbs", "", `{"kind":"k","artifact":"a","inputs":["x",{"group":"vg_00000000001","min":2}],"attempts":2}`, "", ""},
		{"POST /verbs", "", `{"kind":"k","artifact":"a","inputs":[{"group":"vg_00000000001","max":2}]}`, api.BadRequest, "inputs[0]"},
		{"POST /verbs", "", `{"kind":"k","artifact":"a","brief":null,"attempts":null}`, "", ""},
		{"POST /verbs", "", `{"kind":"k","artifact":"a","max_attempts":1.5}`, api.BadRequest, "max_attempts"},
		{"POST /verbs:batch", "", `{"verbs":[{"kind":"k","artifact":"a"}]}`, "", ""},
		{"POST /verbs:batch", "", ``, api.InvalidField, "verbs"},
		{"GET /verbs", "state=ready&kind=k&group=", "", "", ""},
		{"GET /verbs", "state=no", "", api.InvalidField, "state"},
		{"GET /verbs/{id}", "wait_ms=30001", "", api.InvalidField, "wait_ms"},
		{"GET /verbs/{id}", "wait_ms=30000", "", "", ""},
		{"POST /verbs/{id}:cancel", "", "", "", ""},
		{"POST /verbs/{id}:cancel", "", `{"x":1}`, api.BadRequest, "x"},
		{"POST /verbs/{id}:requeue", "", `{}`, "", ""},
		{"POST /claims", "", "", "", ""},
		{"POST /claims", "", `{"max":65}`, api.InvalidField, "max"},
		{"GET /claims", "", "", "", ""},
		{"POST /claims/{id}:heartbeat", "", `{"fence":"1"}`, api.BadRequest, "fence"},
		{"POST /claims/{id}:heartbeat", "", `{"fence":1}`, "", ""},
		{"POST /claims/{id}:heartbeat", "", `{"fence":0}`, "", ""},
		{"POST /claims/{id}:heartbeat", "", ``, api.InvalidField, "fence"},
		{"POST /claims/{id}:heartbeat", "", `{"fence":null}`, api.InvalidField, "fence"},
		{"POST /claims/{id}:submit", "", `{"output":{"body":"x"}}`, api.InvalidField, "fence"},
		{"POST /claims/{id}:fail", "", `{"error":{"message":"m"}}`, api.InvalidField, "fence"},
		{"POST /claims/{id}:release", "", `{}`, api.InvalidField, "fence"},
		{"POST /claims/{id}:submit", "", `{"fence":1,"output":{"body":"x"}}`, "", ""},
		{"POST /claims/{id}:submit", "", `{"fence":1}`, api.InvalidField, "output.body"},
		{"POST /claims/{id}:fail", "", `{"fence":1,"error":{"message":"m"}}`, "", ""},
		{"POST /claims/{id}:fail", "", `{"fence":1,"error":{}}`, api.InvalidField, "error.message"},
		{"POST /claims/{id}:release", "", `{"fence":1,"retry_after_ms":-1}`, api.InvalidField, "retry_after_ms"},
		{"POST /claims/{id}:release", "", `{"fence":1}`, "", ""},
		{"GET /receipts", "after=-1", "", api.InvalidField, "after"},
		{"GET /receipts", "after=3&wait_ms=5", "", "", ""},
		{"GET /receipts/{id}", "", "", "", ""},
	} {
		values, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		r := &namespace.Request{
			Caller: namespace.Caller{Principal: "p"}, Namespace: "n", Base: "/b", Query: values, Body: []byte(tt.body),
			Path: map[string]string{"key": "a/b@1", "id": "x"},
		}
		if values.Get("versions") == "1" {
			r.Path["key"] = "a/b"
		}
		err = route(t, tt.route)(r)
		if tt.code == "" {
			if err != nil {
				t.Errorf("%s?%s %s: got %v", tt.route, tt.query, tt.body, err)
			}
			continue
		}
		if e := wantCode(t, err, tt.code); e.Field != tt.field {
			t.Errorf("%s?%s %s: got field %q, want %q", tt.route, tt.query, tt.body, e.Field, tt.field)
		}
	}
}

// route is what makes a command or query of the route's requests.
func route(t *testing.T, name string) func(*namespace.Request) error {
	t.Helper()
	for _, r := range claims.Class().Routes {
		if r.Method+" "+r.Path != name {
			continue
		}
		return func(request *namespace.Request) error {
			if r.Command != nil {
				_, err := r.Command(request)
				return err
			}
			_, err := r.Query(request)
			return err
		}
	}
	t.Fatalf("there is no route %s", name)
	return nil
}

func TestRoutesSayWhoMay(t *testing.T) {
	t.Parallel()
	anonymous := map[string]bool{
		"POST /claims": true, "POST /claims/{id}:heartbeat": true, "POST /claims/{id}:submit": true,
		"POST /claims/{id}:fail": true, "POST /claims/{id}:release": true,
	}
	for _, r := range claims.Class().Routes {
		name := r.Method + " " + r.Path
		want := "producer"
		switch {
		case strings.Contains(r.Path, "/claims"):
			want = "worker"
		case r.Method == "GET":
			want = "worker producer"
		}
		var got []string
		for _, role := range r.Roles {
			got = append(got, string(role))
		}
		if strings.Join(got, " ") != want || r.Anonymous != anonymous[name] {
			t.Errorf("%s: got %v (anonymous %v), want %s", name, got, r.Anonymous, want)
		}
		if r.RequireIdempotencyKey != strings.HasSuffix(name, ":submit") || r.IgnoreIdempotencyKey != strings.HasSuffix(name, ":heartbeat") {
			t.Errorf("%s: wrong use of idempotency keys", name)
		}
		if r.Summary == "" || r.Out == nil || (r.Method == "POST") != (r.In != nil) {
			t.Errorf("%s: not described", name)
		}
	}
}
