package runs_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// desk is a world as its producers see it: they send requests to the routes of the
// class.
type desk struct{ *world }

func newDesk(t *testing.T, change ...func(*namespace.Settings)) *desk {
	t.Helper()
	return &desk{newWorld(t, change...)}
}

// measured adds kinds whose items differ: "cells", whose items say their cells and
// their cost, and "lone", which takes no items.
func measured(s *namespace.Settings) {
	s.Kinds["cells"] = api.Kind{
		Pool:        api.KindPool{Durable: true},
		Cost:        api.Measure{Field: "/effort/units", Value: 2},
		ResultCells: api.Measure{Field: "/cells", Value: 1},
	}
	s.Kinds["lone"] = api.Kind{
		Pool: api.KindPool{Durable: true}, Single: true, Cost: api.Measure{Value: 5},
		ResultCells: api.Measure{Field: "/wanted/cells", Value: 7},
	}
}

// reply is what a route answered.
type reply struct {
	status   int
	body     string
	replayed bool
}

// into reads the document of a reply.
func (r reply) into(t *testing.T, doc any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), doc); err != nil {
		t.Fatalf("read %s: %v", r.body, err)
	}
}

// request is what a caller sends to a route of the class.
type request struct {
	tenant string // and principal
	// call is the method and the path with its query, as in "GET /runs?limit=2".
	call string
	key  string
	body string
	last string // event
}

// send sends a request as the routes of the class take it.
func (w *desk) send(q request) (reply, error) {
	w.t.Helper()
	route, r := w.route(q)
	if route.Query != nil {
		query, err := route.Query(r)
		if err != nil {
			return reply{}, err
		}
		answer, err := w.ns.Read(w.ctx(), "runs", r.Caller, query)
		if err != nil {
			return reply{}, err
		}
		return w.reply(answer, false), nil
	}
	command, err := route.Command(r)
	if err != nil {
		return reply{}, err
	}
	call := namespace.Call{Class: "runs", Caller: r.Caller, Command: command}
	if q.key != "" {
		call.Idempotency = namespace.Idempotency{Key: q.key, Scope: q.call, BodySHA256: sha256.Sum256(r.Body)}
	}
	outcome, err := w.ns.Do(w.ctx(), call)
	if err != nil {
		return reply{}, err
	}
	return w.reply(outcome.Answer, outcome.Replayed), nil
}

func (w *desk) reply(a namespace.Answer, replayed bool) reply {
	w.t.Helper()
	body, ok := a.Encoded()
	if !ok {
		var err error
		if body, err = namespace.Encode(a.Body); err != nil {
			w.t.Fatalf("encode answer: %v", err)
		}
	}
	return reply{max(a.Status, 200), string(body), replayed}
}

// route finds the route of a request.
func (w *desk) route(q request) (namespace.Route, *namespace.Request) {
	w.t.Helper()
	method, target, _ := strings.Cut(q.call, " ")
	path, query, _ := strings.Cut(target, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		w.t.Fatalf("read query: %v", err)
	}
	r := &namespace.Request{
		Caller: namespace.Caller{Principal: q.tenant, Tenant: q.tenant}, Namespace: "test", Base: "/base",
		Path: map[string]string{}, Query: values, Body: []byte(q.body), LastEventID: q.last,
	}
	for _, route := range runs.Class(runs.Options{}).Routes {
		pattern := "^" + strings.Replace(regexp.QuoteMeta(route.Path), `\{id\}`, "([^/:]+)", 1) + "$"
		found := regexp.MustCompile(pattern).FindStringSubmatch(path)
		if route.Method != method || found == nil {
			continue
		}
		if len(found) > 1 {
			r.Path["id"] = found[1]
		}
		return route, r
	}
	w.t.Fatalf("there is no route %s", q.call)
	return namespace.Route{}, nil
}

// must sends a request that must succeed.
func (w *desk) must(q request) reply {
	w.t.Helper()
	r, err := w.send(q)
	if err != nil {
		w.t.Fatalf("%s: %v", q.call, err)
	}
	return r
}

// refused sends a request that must be refused with a code and a field.
func (w *desk) refused(q request, want api.Code, field string) *api.Error {
	w.t.Helper()
	_, err := w.send(q)
	e := code(w.t, err, want)
	if e.Field != field {
		w.t.Errorf("%s: got field %q, want %q", q.call, e.Field, field)
	}
	return e
}

// post is a run's submission by tenant a.
func post(body string) request { return request{tenant: "a", call: "POST /runs", body: body} }

// figures asserts numbers in an error's details.
func figures(t *testing.T, e *api.Error, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got := fmt.Sprint(e.Details[name]); got != fmt.Sprint(value) {
			t.Errorf("%s: got %s %v, want %v", e.Code, name, got, value)
		}
	}
}

// itemsOf is a document of the kind with items of the given texts.
func itemsOf(kind string, items ...string) string {
	return `{"kind":"` + kind + `","items":[` + strings.Join(items, ",") + `]}`
}

// repeated is n times one text.
func repeated(n int, text string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

// stored counts the rows of all tables in which a run leaves something.
func (w *desk) stored() int64 {
	w.t.Helper()
	var sum []string
	for _, table := range []string{
		"runs_run", "runs_state", "runs_item", "runs_work", "runs_outcome", "runs_quantum", "runs_record", "ns_event", "ns_idempotency",
	} {
		sum = append(sum, "(SELECT count(*) FROM "+table+")")
	}
	return w.number("SELECT " + strings.Join(sum, " + "))
}

// used is what a tenant has reserved, as the file says.
func (w *desk) used(tenant string) api.Budgets {
	w.t.Helper()
	var b api.Budgets
	_, err := w.ns.Read(w.ctx(), "runs", namespace.Caller{Principal: "test"}, look(func(v *namespace.View) error {
		_, err := v.QueryRow(`SELECT runs, items, cells, bytes FROM runs_tenant WHERE name = ?`, []any{tenant},
			&b.Runs, &b.Items, &b.ResultCells, &b.InputBytes)
		return err
	}))
	if err != nil {
		w.t.Fatalf("read reservation: %v", err)
	}
	return b
}

// cancel ends a run in which nothing is running.
func (w *desk) cancel(tenant, id string) api.Run {
	w.t.Helper()
	r, err := w.as(tenant).Cancel(w.ctx(), id)
	if err != nil {
		w.t.Fatalf("cancel: %v", err)
	}
	if r.Status != api.RunCancelled {
		w.t.Fatalf("got status %s after the cancellation, want cancelled", r.Status)
	}
	return r
}

// patch changes settings of the namespace.
func (w *desk) patch(name, value string) {
	w.t.Helper()
	if _, err := w.ns.PatchSettings(w.ctx(), map[string]json.RawMessage{name: json.RawMessage(value)}); err != nil {
		w.t.Fatalf("set %s: %v", name, err)
	}
}

// follow reads what a stream tells next.
func (w *desk) follow(tenant string, q namespace.Query) (frames []namespace.Frame, end bool, err error) {
	w.t.Helper()
	stream := q.(namespace.Streaming)
	_, err = w.ns.Read(w.ctx(), "runs", namespace.Caller{Principal: tenant}, look(func(v *namespace.View) (err error) {
		frames, end, err = stream.Next(context.Background(), v)
		return err
	}))
	return frames, end, err
}
