package namespace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func patchOf(t testing.TB, document string) map[string]json.RawMessage {
	t.Helper()
	var patch map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &patch); err != nil {
		t.Fatal(err)
	}
	return patch
}

// nodeOfRuns has a node with kinds, budgets and tenants of its own.
func nodeOfRuns(s *namespace.Settings) {
	s.Kinds = map[string]api.Kind{
		"node":   {Pool: api.KindPool{Durable: true}},
		"shared": {Pool: api.KindPool{Durable: true}, Cost: api.Measure{Value: 3}},
	}
	s.Budgets = api.Budgets{Runs: 10, Items: 20, ResultCells: 30, InputBytes: 40}
	s.Tenants = map[string]api.TenantSettings{"acme": {Coalesce: true}}
}

func TestKindsAndTenantsMergeByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(nodeOfRuns))
	const node, shared = `"node":{"pool":"durable"}`, `"shared":{"pool":"durable","cost":3}`
	for _, tt := range []struct{ patch, kinds, tenants, origin string }{
		{`{"kinds": {"own": {"pool": "slow"}}}`, `{` + node + `,"own":{"pool":{"*":"slow"}},` + shared + `}`, `{"acme":{"coalesce":true}}`, "namespace"},
		// One that stands already is replaced as a whole.
		{`{"kinds": {"shared": {"pool": "durable", "single": true}}}`, `{` + node + `,"own":{"pool":{"*":"slow"}},"shared":{"pool":"durable","single":true}}`, `{"acme":{"coalesce":true}}`, "namespace"},
		{`{"tenants": {"bob": {"budgets": {"runs": 1}}, "acme": {}}}`, `{` + node + `,"own":{"pool":{"*":"slow"}},"shared":{"pool":"durable","single":true}}`, `{"acme":{},"bob":{"budgets":{"runs":1}}}`, "namespace"},
		// null returns to the node's, or to nothing where it has none.
		{`{"kinds": {"own": null, "node": null}}`, `{` + node + `,"shared":{"pool":"durable","single":true}}`, `{"acme":{},"bob":{"budgets":{"runs":1}}}`, "namespace"},
		{`{"tenants": {"acme": null, "nobody": null}}`, `{` + node + `,"shared":{"pool":"durable","single":true}}`, `{"acme":{"coalesce":true},"bob":{"budgets":{"runs":1}}}`, "namespace"},
		{`{"kinds": {}}`, `{` + node + `,"shared":{"pool":"durable","single":true}}`, `{"acme":{"coalesce":true},"bob":{"budgets":{"runs":1}}}`, "namespace"},
		// With its last own entry the namespace has no setting of its own any more.
		{`{"kinds": {"shared": null}}`, `{` + node + `,` + shared + `}`, `{"acme":{"coalesce":true},"bob":{"budgets":{"runs":1}}}`, "node"},
		{`{"kinds": {"own": {"pool": "slow"}}, "tenants": null}`, `{` + node + `,"own":{"pool":{"*":"slow"}},` + shared + `}`, `{"acme":{"coalesce":true}}`, "namespace"},
		{`{"kinds": null}`, `{` + node + `,` + shared + `}`, `{"acme":{"coalesce":true}}`, "node"},
	} {
		doc := w.patch(tt.patch)
		for _, when := range []string{"at once", "after a restart"} {
			if got := string(doc.Settings["kinds"]); got != tt.kinds {
				t.Errorf("%s: %s the kinds are\n%s, want\n%s", tt.patch, when, got, tt.kinds)
			}
			if got := string(doc.Settings["tenants"]); got != tt.tenants {
				t.Errorf("%s: %s the tenants are\n%s, want\n%s", tt.patch, when, got, tt.tenants)
			}
			if got := doc.Origins["kinds"]; got != tt.origin {
				t.Errorf("%s: %s the kinds come from %s, want %s", tt.patch, when, got, tt.origin)
			}
			w.restart(true)
			doc = w.describe()
		}
	}
}

// What a namespace says of one kind must not freeze what the node says of others.
func TestEntriesOfTheNodeStayTheNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(nodeOfRuns))
	w.patch(`{"kinds": {"own": {"pool": "slow"}}, "budgets": {"items": 7}}`)
	changed := namespace.DefaultSettings()
	changed.Kinds = map[string]api.Kind{"new": {Pool: api.KindPool{Durable: true}}}
	changed.Budgets = api.Budgets{Runs: 1, Items: 2, ResultCells: 3, InputBytes: 4}
	w.options.Defaults = &changed
	w.restart(true)
	doc := w.describe()
	for name, want := range map[string]string{
		"kinds":   `{"new":{"pool":"durable"},"own":{"pool":{"*":"slow"}}}`,
		"budgets": `{"runs":1,"items":7,"result_cells":3,"input_bytes":4}`,
	} {
		if got := string(doc.Settings[name]); !sameJSON(t, got, want) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := w.runtime.Defaults(); len(got.Kinds) != 1 || got.Budgets.Items != 2 {
		t.Errorf("the node's settings have become %v, %v", got.Kinds, got.Budgets)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

func TestBudgetsThatAreNotNamedAreTheNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(nodeOfRuns))
	for _, tt := range []struct{ patch, want string }{
		{`{"budgets": {"runs": 1}}`, `{"runs":1,"items":20,"result_cells":30,"input_bytes":40}`},
		// The document is replaced as a whole.
		{`{"budgets": {"items": 2, "input_bytes": 0}}`, `{"runs":10,"items":2,"result_cells":30,"input_bytes":0}`},
		{`{"budgets": {"items": 2, "runs": null}}`, `{"runs":10,"items":2,"result_cells":30,"input_bytes":40}`},
		{`{"budgets": {}}`, `{"runs":10,"items":20,"result_cells":30,"input_bytes":40}`},
		{`{"budgets": null}`, `{"runs":10,"items":20,"result_cells":30,"input_bytes":40}`},
	} {
		doc := w.patch(tt.patch)
		for _, when := range []string{"at once", "after a restart"} {
			if got := string(doc.Settings["budgets"]); !sameJSON(t, got, tt.want) {
				t.Errorf("%s: %s the budgets are %s, want %s", tt.patch, when, got, tt.want)
			}
			w.restart(false)
			doc = w.describe()
		}
	}
}

func TestTenantsBudgetsReplaceTheNamespacesOneByOne(t *testing.T) {
	t.Parallel()
	s, err := namespace.DefaultSettings().With(namespace.DefaultSettings(), patchOf(t, `{
		"budgets": {"runs": 1, "items": 2, "result_cells": 3, "input_bytes": 4},
		"tenants": {"some": {"budgets": {"runs": 10, "result_cells": 0}}, "all": {"budgets": {"runs": 5, "items": 6, "result_cells": 7, "input_bytes": 8}},
			"consents": {"coalesce": true}, "null": {"budgets": {"runs": null}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for tenant, want := range map[string]api.Budgets{
		"some":     {Runs: 10, Items: 2, ResultCells: 0, InputBytes: 4},
		"all":      {Runs: 5, Items: 6, ResultCells: 7, InputBytes: 8},
		"consents": {Runs: 1, Items: 2, ResultCells: 3, InputBytes: 4},
		"null":     {Runs: 1, Items: 2, ResultCells: 3, InputBytes: 4},
		"unknown":  {Runs: 1, Items: 2, ResultCells: 3, InputBytes: 4},
	} {
		if diff := cmp.Diff(s.BudgetsOf(tenant), want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", tenant, diff)
		}
	}
	if s.Budgets.Runs != 1 {
		t.Errorf("the namespace's budgets have become %v", s.Budgets)
	}
}

// manyNames is a document with n entries.
func manyNames(n int, entry string) string {
	var b strings.Builder
	b.WriteByte('{')
	for k := range n {
		if k > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"n%d":%s`, k, entry)
	}
	b.WriteByte('}')
	return b.String()
}

func TestSettingsOfRunsThatMeanNothingAreRefusedByName(t *testing.T) {
	t.Parallel()
	const durable = `{"pool": "durable"}`
	kind := func(members string) string { return `{"kinds": {"k": {"pool": "durable", ` + members + `}}}` }
	for _, tt := range []struct{ patch, field string }{
		{`{"kinds": 1}`, "kinds"},
		{`{"kinds": [1]}`, "kinds"},
		{`{"kinds": {"k": 1}}`, "kinds.k"},
		{`{"kinds": {"": ` + durable + `}}`, "kinds"},
		{`{"kinds": {"-k": ` + durable + `}}`, "kinds"},
		{`{"kinds": {"k k": ` + durable + `}}`, "kinds"},
		{`{"kinds": {"` + strings.Repeat("k", 65) + `": ` + durable + `}}`, "kinds"},
		{`{"kinds": {"k": {}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": null}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": "fast"}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": {}}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": {"*": "durable"}}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": {"*": "default", "deep": "deep"}}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": ` + manyNames(101, `"slow"`) + `}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": 3}}}`, "kinds.k.pool"},
		{`{"kinds": {"k": {"pool": "slow", "single": true}}}`, "kinds.k.single"},
		{kind(`"single": "yes"`), "kinds.k.single"},
		{kind(`"more": 1`), "kinds.k.more"},
		{kind(`"cost": -1`), "kinds.k.cost"},
		{kind(`"cost": 1000000000001`), "kinds.k.cost"},
		{kind(`"cost": 1.5`), "kinds.k.cost"},
		{kind(`"cost": {"field": "a"}`), "kinds.k.cost"},
		{kind(`"cost": {"default": 1}`), "kinds.k.cost"},
		{kind(`"cost": {"field": "/a", "more": 1}`), "kinds.k.cost"},
		{kind(`"cost": {"field": "/a~2"}`), "kinds.k.cost"},
		{kind(`"cost": {"field": "/a", "default": -1}`), "kinds.k.cost"},
		{kind(`"cost": {"field": "/` + strings.Repeat("a", 200) + `"}`), "kinds.k.cost"},
		{kind(`"result_cells": -1`), "kinds.k.result_cells"},
		{kind(`"timeout_ms": 0`), "kinds.k.timeout_ms"},
		{kind(`"timeout_ms": 60001`), "kinds.k.timeout_ms"},
		{kind(`"timeout_ms": "1s"`), "kinds.k.timeout_ms"},
		{kind(`"max_attempts": 0`), "kinds.k.max_attempts"},
		{kind(`"max_attempts": 101`), "kinds.k.max_attempts"},
		{`{"kinds": ` + manyNames(1001, durable) + `}`, "kinds"},
		{`{"budgets": 1}`, "budgets"},
		{`{"budgets": {"more": 1}}`, "budgets.more"},
		{`{"budgets": {"more": null}}`, "budgets.more"},
		{`{"budgets": {"runs": -1}}`, "budgets.runs"},
		{`{"budgets": {"runs": 1.5}}`, "budgets.runs"},
		{`{"budgets": {"items": 1125899906842625}}`, "budgets.items"},
		{`{"budgets": {"result_cells": -1}}`, "budgets.result_cells"},
		{`{"budgets": {"input_bytes": -1}}`, "budgets.input_bytes"},
		{`{"tenants": "acme"}`, "tenants"},
		{`{"tenants": {"": {}}}`, "tenants"},
		{`{"tenants": {"` + strings.Repeat("t", 201) + `": {}}}`, "tenants"},
		{`{"tenants": {"acme": {"more": 1}}}`, "tenants.acme.more"},
		{`{"tenants": {"acme": {"coalesce": 1}}}`, "tenants.acme.coalesce"},
		{`{"tenants": {"acme": {"budgets": {"more": 1}}}}`, "tenants.acme.budgets.more"},
		{`{"tenants": {"acme": {"budgets": {"runs": -1}}}}`, "tenants.acme.budgets.runs"},
		{`{"tenants": {"acme": {"budgets": {"items": -1}}}}`, "tenants.acme.budgets.items"},
		{`{"tenants": {"acme": {"budgets": {"result_cells": -1}}}}`, "tenants.acme.budgets.result_cells"},
		{`{"tenants": {"acme": {"budgets": {"input_bytes": 1125899906842625}}}}`, "tenants.acme.budgets.input_bytes"},
		{`{"tenants": ` + manyNames(10_001, "{}") + `}`, "tenants"},
		{`{"quantum_items": 0}`, "quantum_items"},
		{`{"quantum_items": 1001}`, "quantum_items"},
		{`{"quantum_cost": -1}`, "quantum_cost"},
		{`{"quantum_cost": 1000000000000001}`, "quantum_cost"},
		{`{"batch_items": 0}`, "batch_items"},
		{`{"batch_items": 1001}`, "batch_items"},
		{`{"quantum_lease_ms": 99}`, "quantum_lease_ms"},
		{`{"quantum_lease_ms": 3600001}`, "quantum_lease_ms"},
		{`{"invoke_wait_ms": -1}`, "invoke_wait_ms"},
		{`{"invoke_wait_ms": 30001}`, "invoke_wait_ms"},
	} {
		node := namespace.DefaultSettings()
		_, err := node.With(node, patchOf(t, tt.patch))
		e := api.AsError(err)
		if err == nil || e.Code != api.InvalidField || e.Code.Status() != 422 || e.Field != tt.field {
			t.Errorf("%.90s: got %v of field %q, want %s of %q", tt.patch, err, e.Field, api.InvalidField, tt.field)
		}
	}
}

func TestSettingsOfRunsStandUpToTheirBounds(t *testing.T) {
	t.Parallel()
	const durable = `{"pool":"durable"}`
	for _, patch := range []string{
		`{"kinds": ` + manyNames(1000, durable) + `}`,
		`{"kinds": {"k": {"pool": ` + manyNames(100, `"slow"`) + `}}}`,
		`{"kinds": {"` + strings.Repeat("k", 64) + `": {"pool": "default", "timeout_ms": 60000, "max_attempts": 100}}}`,
		`{"kinds": {"K.0_-": {"pool": "durable", "single": true, "timeout_ms": 1, "max_attempts": 1}}}`,
		`{"kinds": {"k": {"pool": "durable", "cost": 1000000000000, "result_cells": {"field": "/` + strings.Repeat("a", 199) + `", "default": 1000000000000}}}}`,
		`{"budgets": {"runs": 0, "items": 1125899906842624}}`,
		`{"tenants": ` + manyNames(10_000, "{}") + `}`,
		`{"tenants": {"` + strings.Repeat("t", 200) + `": {"budgets": {"runs": 0}, "coalesce": false}}}`,
		`{"quantum_items": 1000, "quantum_cost": 1000000000000000, "batch_items": 1000, "quantum_lease_ms": 3600000, "invoke_wait_ms": 30000}`,
		`{"quantum_items": 1, "quantum_cost": 0, "batch_items": 1, "quantum_lease_ms": 100, "invoke_wait_ms": 0}`,
	} {
		node := namespace.DefaultSettings()
		if _, err := node.With(node, patchOf(t, patch)); err != nil {
			t.Errorf("%.90s: %v", patch, err)
		}
	}
}

func TestBadPatchOfOneEntryLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(nodeOfRuns))
	before := w.patch(`{"kinds": {"own": {"pool": "slow"}}}`)
	for _, patch := range []string{
		`{"kinds": {"own": null, "bad": {"pool": "fast"}}}`,
		`{"kinds": {"own": {"pool": "durable"}}, "tenants": {"acme": {"budgets": {"runs": -1}}}}`,
	} {
		_, err := w.PatchSettings(t.Context(), patchOf(t, patch))
		wantCode(t, err, api.InvalidField)
		if diff := cmp.Diff(w.describe(), before); diff != "" {
			t.Errorf("%s changed something (-got +want):\n%s", patch, diff)
		}
	}
}

// Whatever a patch says, it is taken or refused as invalid; what is taken stands
// by itself, reads back the same, and may be patched in again without effect.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		`{"kinds": {"own": {"pool": "slow"}, "shared": null}}`, `{"budgets": {"runs": 1, "items": null}}`,
		`{"tenants": {"acme": {"budgets": {"runs": 1}}}}`, `{"kinds": {"k": {"pool": {"*": "default"}, "cost": {"field": "/a/b", "default": 2}}}}`,
		`{"anonymous": {"claims_per_hour": 1, "leases": 2}}`, `{"kinds": null, "mode": "shadow"}`, `{"kinds": {"k": {"pool": "durable", "cost": 1e3}}}`, `{"": 0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		var patch map[string]json.RawMessage
		if err := namespace.Decode(document, &patch); err != nil {
			return
		}
		node := namespace.DefaultSettings()
		nodeOfRuns(&node)
		before := fmt.Sprint(node.JSON())
		s, err := node.With(node, patch)
		if after := fmt.Sprint(node.JSON()); after != before {
			t.Fatalf("the node's settings have changed")
		}
		if err != nil {
			_, nameless := patch[""] // a setting's name too, though of none
			if e := api.AsError(err); e.Code != api.InvalidField || e.Field == "" && !nameless {
				t.Fatalf("got error %v of field %q, want %s and a field", err, e.Field, api.InvalidField)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("what was taken does not stand: %v", err)
		}
		again, err := s.With(node, s.JSON())
		if err != nil {
			t.Fatalf("what was taken is refused when it comes back: %v", err)
		}
		if diff := cmp.Diff(again.JSON(), s.JSON()); diff != "" {
			t.Fatalf("it comes back as something else (-got +want):\n%s", diff)
		}
	})
}
