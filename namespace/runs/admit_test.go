package runs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// post sends a body to a route of the class, as a request would.
func (w *world) post(tenant, path, key, body string) (namespace.Outcome, error) {
	w.t.Helper()
	caller := namespace.Caller{Principal: tenant, Tenant: tenant}
	for _, route := range runs.Class(runs.Options{}).Routes {
		if route.Path != path || route.Method != "POST" {
			continue
		}
		r := &namespace.Request{Caller: caller, Namespace: "test", Base: "/b", Body: []byte(body), Path: map[string]string{}}
		if route.Query != nil {
			q, err := route.Query(r)
			if err != nil {
				return namespace.Outcome{}, err
			}
			a, err := w.ns.Read(w.ctx(), "runs", caller, q)
			return namespace.Outcome{Answer: a}, err
		}
		c, err := route.Command(r)
		if err != nil {
			return namespace.Outcome{}, err
		}
		call := namespace.Call{Class: "runs", Caller: caller, Command: c}
		if key != "" {
			call.Idempotency = namespace.Idempotency{Key: key, Scope: "POST " + path, BodySHA256: sha256.Sum256([]byte(body))}
		}
		return w.ns.Do(w.ctx(), call)
	}
	w.t.Fatalf("there is no route %s", path)
	return namespace.Outcome{}, nil
}

// items are n items as JSON.
func itemsJSON(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func limits(s *namespace.Settings) {
	s.Kinds["cells"] = api.Kind{
		Pool: api.KindPool{Durable: true}, Cost: api.Measure{Field: "/cost", Value: 3}, ResultCells: api.Measure{Field: "/deep/n", Value: 1},
	}
	s.Kinds["single"] = api.Kind{Pool: api.KindPool{Durable: true}, Single: true, Cost: api.Measure{Field: "/deep/n"}}
	s.Budgets = api.Budgets{Runs: 2, Items: 1000, ResultCells: 100_000, InputBytes: 4 << 20}
}

func TestEveryLimitIsCheckedBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, limits)
	long := strings.Repeat("ä", 201)
	for _, c := range []struct {
		name, body string
		code       api.Code
		field      string
		limit      any
		actual     any
	}{
		{"not JSON", `{"kind":`, api.BadRequest, "", nil, nil},
		{"trailing bytes", `{"kind":"work","items":[{}]} x`, api.BadRequest, "", nil, nil},
		{"duplicate member", `{"kind":"work","kind":"work","items":[{}]}`, api.BadRequest, "kind", nil, nil},
		{"duplicate member of an item", `{"kind":"work","items":[{"a":1,"a":2}]}`, api.BadRequest, "items[0].a", nil, nil},
		{"not an object", `[]`, api.BadRequest, "", nil, nil},
		{"kind of the wrong type", `{"kind":7,"items":[{}]}`, api.BadRequest, "kind", nil, nil},
		{"items of the wrong type", `{"kind":"work","items":{}}`, api.BadRequest, "items", nil, nil},
		{"item of the wrong type", `{"kind":"work","items":[{},"x"]}`, api.BadRequest, "items[1]", nil, nil},
		{"null for an item", `{"kind":"work","items":[null]}`, api.BadRequest, "items[0]", nil, nil},
		{"id of the wrong type", `{"kind":"work","items":[{"id":7}]}`, api.BadRequest, "items[0].id", nil, nil},
		{"metadata of the wrong type", `{"kind":"work","items":[{}],"metadata":[]}`, api.BadRequest, "metadata", nil, nil},
		{"other version", `{"schema_version":"run/2","kind":"work","items":[{}]}`, api.InvalidField, "schema_version", nil, nil},
		{"no kind", `{"items":[{}]}`, api.InvalidField, "kind", nil, nil},
		{"large metadata", `{"kind":"work","items":[{}],"metadata":{"a":"` + strings.Repeat("x", 16<<10) + `"}}`, api.InvalidField, "metadata", 16 << 10, 16<<10 + 8},
		{"unknown kind", `{"kind":"none","items":[{}]}`, api.UnknownKind, "kind", nil, nil},
		{"kind of singular calls", `{"kind":"call","items":[{}]}`, api.InvalidField, "kind", nil, nil},
		{"no items", `{"kind":"work","items":[]}`, api.InvalidField, "items", 1, 0},
		{"absent items", `{"kind":"work"}`, api.InvalidField, "items", 1, 0},
		{"too many items", `{"kind":"work","items":` + itemsJSON(1001, "{}") + `}`, api.TooManyItems, "items", 1000, 1001},
		{"empty id", `{"kind":"work","items":[{"id":""}]}`, api.InvalidField, "items[0].id", 200, 0},
		{"long id", `{"kind":"work","items":[{"id":"` + long + `"}]}`, api.InvalidField, "items[0].id", 200, 201},
		{"same id", `{"kind":"work","items":[{"id":"a"},{"id":"a"}]}`, api.DuplicateItemID, "items[1].id", nil, nil},
		{"id that another gets by default", `{"kind":"work","items":[{"id":"item-1"},{}]}`, api.DuplicateItemID, "items[1].id", nil, nil},
		{"items of a single kind", `{"kind":"single","items":[{}]}`, api.InvalidField, "items", nil, nil},
		{"measure of the wrong type in an item", `{"kind":"cells","items":[{"cost":"x"}]}`, api.InvalidField, "items[0].cost", nil, nil},
		{"negative measure", `{"kind":"cells","items":[{"cost":-1}]}`, api.InvalidField, "items[0].cost", nil, nil},
		{"broken measure", `{"kind":"cells","items":[{"cost":1.5}]}`, api.InvalidField, "items[0].cost", nil, nil},
		{"null as a measure", `{"kind":"cells","items":[{"cost":null}]}`, api.InvalidField, "items[0].cost", nil, nil},
		{"measure of the wrong type in the document", `{"kind":"single","deep":{"n":{}}}`, api.InvalidField, "deep.n", nil, nil},
		{"too many cells", `{"kind":"cells","items":[{"deep":{"n":100000}},{}]}`, api.TooManyCells, "items", 100_000, int64(100_001)},
		{"priority", `{"kind":"work","items":[{}],"priority":1}`, api.PriorityNotAllowed, "priority", nil, nil},
		{"lane", `{"kind":"work","items":[{}],"lane":"x"}`, api.PriorityNotAllowed, "lane", nil, nil},
		{"pool", `{"kind":"work","items":[{}],"pool":"x"}`, api.PriorityNotAllowed, "pool", nil, nil},
	} {
		_, err := w.post("acme", "/runs", "key", c.body)
		if !api.IsCode(err, c.code) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.code)
			continue
		}
		e := api.AsError(err)
		if e.Field != c.field || c.limit != nil && (fmt.Sprint(e.Details["limit"]) != fmt.Sprint(c.limit) || fmt.Sprint(e.Details["actual"]) != fmt.Sprint(c.actual)) {
			t.Errorf("%s: got field %q and details %v, want %q, %v and %v", c.name, e.Field, e.Details, c.field, c.limit, c.actual)
		}
	}
	for _, table := range []string{"run", "state", "item", "work", "record", "tenant"} {
		if n := w.number(`SELECT count(*) FROM runs_` + table); n != 0 {
			t.Errorf("runs_%s has %d rows, want none", table, n)
		}
	}
}

// Where several limits are exceeded the first in the contract's order is named.
func TestLimitsAreCheckedInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, limits, func(s *namespace.Settings) { s.Budgets = api.Budgets{} })
	many := itemsJSON(1001, `{"deep":{"n":100000}}`)
	for _, c := range []struct {
		body string
		code api.Code
	}{
		{`{"schema_version":"x","kind":"none","items":` + many + `,"priority":1}`, api.InvalidField},
		{`{"kind":"none","items":` + many + `,"priority":1}`, api.UnknownKind},
		{`{"kind":"cells","items":` + many + `,"priority":1}`, api.TooManyItems},
		{`{"kind":"cells","items":` + itemsJSON(2, `{"id":"a","deep":{"n":100000}}`) + `,"priority":1}`, api.DuplicateItemID},
		{`{"kind":"cells","items":` + itemsJSON(2, `{"deep":{"n":100000}}`) + `,"priority":1}`, api.TooManyCells},
		{`{"kind":"cells","items":[{}],"priority":1}`, api.PriorityNotAllowed},
		{`{"kind":"cells","items":[{}]}`, api.RunExceedsBudget},
	} {
		if _, err := w.post("acme", "/runs", "key", c.body); !api.IsCode(err, c.code) {
			t.Errorf("got %v, want %s", err, c.code)
		}
	}
}

func TestBudgetIsReservedAndReleasedWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, limits)
	a, b := w.submit("acme", batch(3)), w.submit("acme", batch(2))
	_, err := w.as("acme").Submit(w.ctx(), batch(1), "")
	e := code(t, err, api.TenantRunQuotaExceeded)
	if e.Reason != "runs" || e.RetryAfter != 5*time.Second || fmt.Sprint(e.Details["limit"], e.Details["used"]) != "2 2" {
		t.Errorf("got %+v, want the budget named", e)
	}
	w.submit("other", batch(1)) // another tenant's are its own
	if _, err := w.as("acme").Cancel(w.ctx(), a.ID); err != nil {
		t.Fatal(err)
	}
	w.reopen(time.Second)
	if n := w.number(`SELECT items FROM runs_tenant WHERE name = 'acme'`); n != 2 {
		t.Errorf("%d items are reserved, want those of %s", n, b.ID)
	}
	w.submit("acme", batch(1))
	_, err = w.as("acme").Submit(w.ctx(), batch(1), "")
	code(t, err, api.TenantRunQuotaExceeded)
}

func TestEveryBudgetHolds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*api.Budgets){
		"runs":         func(b *api.Budgets) { b.Runs = 0 },
		"items":        func(b *api.Budgets) { b.Items = 2 },
		"result_cells": func(b *api.Budgets) { b.ResultCells = 2 },
		"input_bytes":  func(b *api.Budgets) { b.InputBytes = 40 },
	} {
		w := newWorld(t, limits, func(s *namespace.Settings) { change(&s.Budgets) })
		body := `{"kind":"cells","items":[{},{},{}],"x":"........"}`
		_, err := w.post("acme", "/runs", "k", body)
		if e := code(t, err, api.RunExceedsBudget); e.Reason != name || e.Details["budget"] != name {
			t.Errorf("%s: got %+v", name, e)
		}
		got, err := w.post("acme", "/runs:estimate", "", body)
		if err != nil {
			t.Fatal(err)
		}
		if doc := got.Answer.Body.(*api.RunEstimate); doc.Admissible || doc.Reason != string(api.RunExceedsBudget) || doc.Budget != name {
			t.Errorf("%s: got estimate %+v", name, doc)
		}
	}
}

func TestSameRequestIsTheSameRunAsLongAsItIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, limits)
	body := `{"kind":"work","items":[{"id":"a"}]}`
	first, err := w.post("acme", "/runs", "key", body)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := first.Answer.Encoded()
	again, err := w.post("acme", "/runs", "key", body)
	if got, _ := again.Answer.Encoded(); err != nil || !again.Replayed || string(got) != string(want) || again.Answer.Status != 202 {
		t.Errorf("got %+v and %v, want the stored answer", again, err)
	}
	_, err = w.post("acme", "/runs", "key", `{"kind":`)
	code(t, err, api.IdempotencyConflict)
	other, err := w.post("other", "/runs", "key", body)
	if err != nil || other.Replayed {
		t.Errorf("another principal's request with the key is %+v and %v", other, err)
	}
	w.commit("w1", w.claim("w1"))
	w.pass(time.Duration(w.settings.RetentionMs)*time.Millisecond - time.Millisecond)
	if again, err = w.post("acme", "/runs", "key", body); err != nil || !again.Replayed {
		t.Errorf("a millisecond before the end: got %+v and %v", again, err)
	}
	w.clock.Advance(time.Millisecond)
	if again, err = w.post("acme", "/runs", "key", body); err != nil || again.Replayed {
		t.Errorf("after the run's retention: got %+v and %v, want a new run", again, err)
	}
}

func TestMeasuresAreLookedUpInTheItemAndThenInTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t, limits)
	for _, c := range []struct {
		body string
		want api.RunWork
	}{
		{`{"kind":"cells","items":[{"cost":7},{"cost":2.0},{"cost":1e1},{}]}`, api.RunWork{Items: 4, ResultCells: 4, Cost: 22, Quanta: 1}},
		{`{"kind":"cells","cost":5,"deep":{"n":10},"items":[{"cost":0},{},{"deep":{"n":2}},{"deep":{}},{"deep":7}]}`, api.RunWork{Items: 5, ResultCells: 42, Cost: 20, Quanta: 2}},
		{`{"kind":"single","deep":{"n":9}}`, api.RunWork{Items: 1, Cost: 9, Quanta: 1}},
	} {
		got, err := w.post("acme", "/runs:estimate", "", c.body)
		if err != nil {
			t.Fatal(err)
		}
		if doc := got.Answer.Body.(*api.RunEstimate); !doc.Admissible || doc.Work != c.want {
			t.Errorf("%s: got %+v, want %+v", c.body, doc, c.want)
		}
	}
}

func TestTenantsSeeOnlyTheirOwnRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(1))
	forged := r.ID[:len(r.ID)-1] + "0"
	if forged == r.ID {
		forged = r.ID[:len(r.ID)-1] + "1"
	}
	for id, tenant := range map[string]string{r.ID: "other", forged: "acme", "run_x": "acme", "": "acme"} {
		_, err := w.as(tenant).Run(w.ctx(), id)
		code(t, err, api.NotFound)
		_, err = w.as(tenant).Cancel(w.ctx(), id)
		code(t, err, api.NotFound)
		_, err = w.as(tenant).Events(w.ctx(), id, 0, 0, 1)
		code(t, err, api.NotFound)
	}
	if page, err := w.as("other").Runs(w.ctx(), "", runs.Page{}); err != nil || len(page.Data) != 0 {
		t.Errorf("got %+v and %v, want no run", page, err)
	}
}

func TestRunsExpireAtOneInstantAndAreRemovedInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := batch(400)
	spec.Items[0].Payload["big"] = json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	kept, gone := w.submit("acme", batch(1)), w.submit("acme", spec)
	if _, err := w.as("acme").Cancel(w.ctx(), gone.ID); err != nil {
		t.Fatal(err)
	}
	retention := time.Duration(w.settings.RetentionMs) * time.Millisecond
	ended := w.run("acme", gone.ID)
	if want := ended.EndedAt.Add(retention); !ended.ExpiresAt.Equal(want) {
		t.Errorf("expires at %s, want %s", ended.ExpiresAt, want)
	}
	w.pass(retention - time.Millisecond)
	w.run("acme", gone.ID)
	w.clock.Advance(time.Millisecond)
	_, err := w.as("acme").Run(w.ctx(), gone.ID)
	code(t, err, api.RunExpired)
	_, err = w.as("acme").Results(w.ctx(), gone.ID, false, runs.Page{})
	code(t, err, api.RunExpired)
	_, err = w.as("acme").Cancel(w.ctx(), gone.ID)
	code(t, err, api.RunExpired)
	steps := 0
	for ; w.number(`SELECT count(*) FROM runs_run`) > 1 && steps < 100; steps++ {
		w.pass(20 * time.Millisecond)
	}
	if steps < 4 || steps == 100 {
		t.Errorf("the run went in %d steps, want small ones", steps)
	}
	w.settle()
	for _, table := range []string{"state", "item", "work"} {
		if n := w.number(`SELECT count(*) FROM runs_` + table); n != 1 {
			t.Errorf("runs_%s has %d rows, want that of the other run", table, n)
		}
	}
	_, err = w.as("acme").Run(w.ctx(), gone.ID)
	code(t, err, api.RunExpired)
	if got := w.run("acme", kept.ID); !got.ExpiresAt.Equal(w.clock.Now().Add(retention)) {
		t.Errorf("a run that has not ended expires at %s", got.ExpiresAt)
	}
}
