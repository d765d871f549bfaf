package runs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// nothingStored asserts that a refusal left nothing behind.
func (w *desk) nothingStored() {
	w.t.Helper()
	if n := w.stored(); n != 0 {
		w.t.Errorf("%d rows are stored, want none", n)
	}
	if used := w.used("a"); used != (api.Budgets{}) {
		w.t.Errorf("got reservation %+v, want none", used)
	}
}

func TestMisshapenDocumentsAreBadRequests(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured)
	for _, c := range []struct{ body, field string }{
		{`{`, ""},
		{`null`, ""},
		{`[]`, ""},
		{`{"kind":"work","items":[{}]} x`, ""},
		{`{"kind":"work","kind":"work","items":[{}]}`, "kind"},
		{`{"kind":"work","items":[{"a":1,"a":2}]}`, "items[0].a"},
		{`{"kind":"work","shared":{"deep":{"a":1,"a":2}},"items":[{}]}`, "shared.deep.a"},
		{`{"kind":5,"items":[{}]}`, "kind"},
		{`{"schema_version":1,"kind":"work","items":[{}]}`, "schema_version"},
		{`{"kind":"work","items":{}}`, "items"},
		{`{"kind":"work","items":"x"}`, "items"},
		{`{"kind":"work","items":[{},null]}`, "items[1]"},
		{`{"kind":"work","items":[{},[]]}`, "items[1]"},
		{`{"kind":"work","items":[{"id":5}]}`, "items[0].id"},
		{itemsOf("work", append(repeated(1200, `{}`), `7`)...), "items[1200]"},
		{`{"kind":"work","items":[{}],"metadata":[]}`, "metadata"},
		{`{"kind":"work","items":[{}],"metadata":"secret"}`, "metadata"},
		{"{\"kind\":\"work\",\"items\":[{\"a\":\"\xff\"}]}", ""},
	} {
		w.refused(post(c.body), api.BadRequest, c.field)
		_, err := w.send(request{tenant: "a", call: "POST /runs:estimate", body: c.body})
		code(t, err, api.BadRequest)
	}
	w.nothingStored()
}

func TestNullMembersAreAbsentOnes(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured)
	var run api.Run
	w.must(post(`{"schema_version":null,"kind":"lone","items":null,"metadata":null}`)).into(t, &run)
	if string(run.Metadata) != `{}` || run.Progress.Total != 1 {
		t.Errorf("got metadata %s and %d items, want {} and 1", run.Metadata, run.Progress.Total)
	}
	var other api.Run
	w.must(post(itemsOf("work", `{"id":null}`))).into(t, &other)
	if got := w.items("a", other.ID)[0].ID; got != "item-0" {
		t.Errorf("got id %q of an item whose id is null, want item-0", got)
	}
}

func TestLimitsHoldAtTheirBoundAndOneOver(t *testing.T) {
	t.Parallel()
	unbounded := func(s *namespace.Settings) {
		s.Budgets = api.Budgets{Runs: 100, Items: 100_000, ResultCells: 1 << 40, InputBytes: 1 << 40}
	}
	id := func(n int) string { return `{"id":"` + strings.Repeat("é", n) + `"}` }
	metadata := func(n int) string { // n bytes of it in all
		return `{"kind":"work","items":[{}],"metadata":{"m":"` + strings.Repeat("m", n-len(`{"m":""}`)) + `"}}`
	}
	for name, c := range map[string]struct {
		within, over string
		code         api.Code
		field        string
		figures      map[string]any
	}{
		"items": {
			itemsOf("work", repeated(1000, `{}`)...), itemsOf("work", repeated(1001, `{}`)...),
			api.TooManyItems, "items",
			map[string]any{"limit": 1000, "actual": 1001},
		},
		"no item": {
			itemsOf("work", `{}`), itemsOf("work"), api.InvalidField, "items", map[string]any{"limit": 1, "actual": 0},
		},
		"long id": {
			itemsOf("work", id(200)), itemsOf("work", `{}`, id(201)),
			api.InvalidField, "items[1].id",
			map[string]any{"limit": 200, "actual": 201},
		},
		"empty id": {itemsOf("work", id(1)), itemsOf("work", id(0)), api.InvalidField, "items[0].id", map[string]any{"limit": 200, "actual": 0}},
		"cells": {
			itemsOf("cells", repeated(1000, `{"cells":100}`)...), itemsOf("cells", append(repeated(999, `{"cells":100}`), `{"cells":101}`)...),
			api.TooManyCells, "items",
			map[string]any{"limit": 100_000, "actual": 100_001},
		},
		"measure": {
			itemsOf("cells", `{"effort":{"units":1e12}}`), itemsOf("cells", `{}`, `{"effort":{"units":1000000000001}}`),
			api.InvalidField, "items[1].effort.units",
			map[string]any{"limit": int64(1_000_000_000_000)},
		},
		"metadata": {
			metadata(16 << 10), metadata(16<<10 + 1), api.InvalidField, "metadata",
			map[string]any{"limit": 16 << 10, "actual": 16<<10 + 1},
		},
		"same id": {
			itemsOf("work", `{"id":"item-1"}`, `{"id":"item-0"}`), itemsOf("work", `{}`, `{}`, `{"id":"item-1"}`),
			api.DuplicateItemID, "items[2].id",
			map[string]any{"indexes": []int{1, 2}},
		},
		"single":   {`{"kind":"lone","items":[]}`, itemsOf("lone", `{}`), api.InvalidField, "items", nil},
		"kind":     {itemsOf("work", `{}`), itemsOf("unheard-of", `{}`), api.UnknownKind, "kind", nil},
		"pool":     {itemsOf("work", `{}`), itemsOf("call", `{}`), api.InvalidField, "kind", nil},
		"schema":   {`{"schema_version":"run/1","kind":"lone"}`, `{"schema_version":"run/2","kind":"lone"}`, api.InvalidField, "schema_version", nil},
		"priority": {`{"kind":"lone","x":{"priority":1}}`, `{"kind":"lone","priority":null}`, api.PriorityNotAllowed, "priority", nil},
		"lane":     {`{"kind":"lone","Lane":1}`, `{"kind":"lone","lane":"fast"}`, api.PriorityNotAllowed, "lane", nil},
		"own pool": {itemsOf("work", `{"pool":"slow"}`), `{"kind":"lone","pool":"slow"}`, api.PriorityNotAllowed, "pool", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDesk(t, measured, unbounded)
			e := w.refused(post(c.over), c.code, c.field)
			figures(t, e, c.figures)
			w.nothingStored()
			w.must(post(c.within))
		})
	}
}

func TestWhatIsWrongFirstIsToldFirst(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured, func(s *namespace.Settings) { s.Budgets = api.Budgets{} })
	// Each document lacks the fault that the one before it is refused for.
	bad := `{"id":"","cells":"x"}`
	twins := `{"id":"t","cells":"x"}`
	for n, c := range []struct {
		body string
		want api.Code
	}{
		{`{"priority":1,"kind":"none","metadata":3,"items":[` + strings.Join(repeated(1001, bad), ",") + `]}`, api.BadRequest},
		{`{"priority":1,"kind":"none","items":[` + strings.Join(repeated(1001, bad), ",") + `]}`, api.UnknownKind},
		{`{"priority":1,"kind":"cells","items":[` + strings.Join(repeated(1001, bad), ",") + `]}`, api.TooManyItems},
		{`{"priority":1,"kind":"cells","items":[{"id":"t"},{"id":"t"},` + bad + `]}`, api.InvalidField},
		{`{"priority":1,"kind":"cells","items":[` + twins + `,` + twins + `]}`, api.DuplicateItemID},
		{`{"priority":1,"kind":"cells","items":[` + twins + `]}`, api.InvalidField},
		{`{"priority":1,"kind":"cells","items":[{"cells":100001}]}`, api.TooManyCells},
		{`{"priority":1,"kind":"cells","items":[{}]}`, api.PriorityNotAllowed},
		{`{"kind":"cells","items":[{}]}`, api.RunExceedsBudget},
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			_, err := w.send(post(c.body))
			code(t, err, c.want)
		})
	}
	w.nothingStored()
}

// The measures are looked up in the item as it was sent, its id included, and then in
// the run's document; what is found first counts, and must be a whole number.
func TestMeasuresComeFromTheItemOrElseFromTheDocument(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured)
	for _, c := range []struct {
		body  string
		cells int64
		cost  int64
	}{
		{itemsOf("cells", `{}`, `{"cells":3.0}`), 4, 4},
		{`{"cells":10,"kind":"cells","items":[{},{"cells":1e2},{"cells":0}]}`, 110, 6},
		{`{"effort":{"units":50},"kind":"cells","items":[{"effort":{}},{"effort":{"units":-0}}]}`, 2, 50},
		{`{"kind":"lone"}`, 7, 5},
		{`{"kind":"lone","wanted":{"cells":90}}`, 90, 5},
	} {
		var got api.RunEstimate
		w.must(request{tenant: "a", call: "POST /runs:estimate", body: c.body}).into(t, &got)
		if !got.Admissible || got.Work.ResultCells != c.cells || got.Work.Cost != c.cost {
			t.Errorf("%s: got %+v, want %d cells and a cost of %d", c.body, got, c.cells, c.cost)
		}
	}
	for _, c := range []struct{ body, field string }{
		{itemsOf("cells", `{}`, `{"cells":"5"}`), "items[1].cells"},
		{itemsOf("cells", `{"cells":null}`), "items[0].cells"},
		{itemsOf("cells", `{"cells":1.5}`), "items[0].cells"},
		{itemsOf("cells", `{"cells":-1}`), "items[0].cells"},
		{itemsOf("cells", `{"cells":2.00000000000000000001}`), "items[0].cells"},
		{`{"effort":{"units":[]},"kind":"cells","items":[{}]}`, "effort.units"},
	} {
		w.refused(post(c.body), api.InvalidField, c.field)
	}
}

func TestRefusalsDoNotQuoteTheDocument(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured)
	const canary = "c4n4ry"
	for _, body := range []string{
		`{"kind":"work","items":[{"id":5}],"x":"c4n4ry"}`,
		`{"kind":"` + canary + `","items":[{}]}`,
		`{"schema_version":"` + canary + `","kind":"work"}`,
		itemsOf("work", `{"id":"`+canary+`"}`, `{"id":"`+canary+`"}`),
		itemsOf("work", `{"id":"`+strings.Repeat(canary, 100)+`"}`),
		itemsOf("cells", `{"cells":"`+canary+`"}`),
		`{"kind":"work","items":[{}],"metadata":"` + canary + `"}`,
		`{"kind":"lone","priority":"` + canary + `"}`,
	} {
		_, err := w.send(post(body))
		if err == nil {
			t.Fatalf("%s was admitted", body)
		}
		e := api.AsError(err)
		if text := fmt.Sprintf("%v %+v %v", err, *e, e.Details); strings.Contains(text, canary) {
			t.Errorf("the error quotes the document: %s", text)
		}
	}
}
