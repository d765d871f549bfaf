package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestRunSpecKeepsSharedMembersAndPayloadsThroughJSON(t *testing.T) {
	t.Parallel()
	want := api.RunSpec{
		SchemaVersion: "run/1", Kind: "resize", Metadata: json.RawMessage(`{"a":1}`),
		Shared: map[string]json.RawMessage{"width": json.RawMessage(`5`)},
		Items: []api.RunItemSpec{
			{ID: "one", Payload: map[string]json.RawMessage{"path": json.RawMessage(`"x"`)}},
			{Payload: map[string]json.RawMessage{"path": json.RawMessage(`"y"`)}},
		},
	}
	document, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(document), `{"items":[{"id":"one","path":"x"},{"path":"y"}],"kind":"resize","metadata":{"a":1},"schema_version":"run/1","width":5}`; got != want {
		t.Errorf("got document %s, want %s", got, want)
	}
	var got api.RunSpec
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestRunSpecRefusesMembersThatWouldHideOthers(t *testing.T) {
	t.Parallel()
	for _, spec := range []any{
		api.RunSpec{Kind: "k", Shared: map[string]json.RawMessage{"items": json.RawMessage(`1`)}},
		api.RunItemSpec{ID: "a", Payload: map[string]json.RawMessage{"id": json.RawMessage(`1`)}},
	} {
		if document, err := json.Marshal(spec); err == nil {
			t.Errorf("%T: got %s, want an error", spec, document)
		}
	}
}

func TestKindReadsBothFormsOfItsPoolAndMeasures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		document string
		want     api.Kind
	}{
		{`{"pool":"durable"}`, api.Kind{Pool: api.KindPool{Durable: true}}},
		{`{"pool":"slow","cost":3}`, api.Kind{Pool: api.KindPool{PerScorer: map[string]string{"*": "slow"}}, Cost: api.Measure{Value: 3}}},
		{
			`{"pool":{"*":"default","deep":"slow"},"result_cells":{"field":"/a/b","default":2}}`,
			api.Kind{
				Pool:        api.KindPool{PerScorer: map[string]string{"*": "default", "deep": "slow"}},
				ResultCells: api.Measure{Field: "/a/b", Value: 2},
			},
		},
	} {
		var got api.Kind
		if err := json.Unmarshal([]byte(tt.document), &got); err != nil {
			t.Errorf("%s: %v", tt.document, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.document, diff)
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again api.Kind
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%s written as %s (-want +got):\n%s", tt.document, written, diff)
		}
	}
	for _, bad := range []string{`{"pool":5}`, `{"cost":"1"}`, `{"cost":{"Field":"/a"}}`, `{"cost":{"default":1}}`, `{"cost":1.5}`} {
		var k api.Kind
		if err := json.Unmarshal([]byte(bad), &k); err == nil {
			t.Errorf("%s: got %+v, want an error", bad, k)
		}
	}
}

func TestKindChoosesThePoolByScorer(t *testing.T) {
	t.Parallel()
	p := api.KindPool{PerScorer: map[string]string{"*": "default", "deep": "slow"}}
	for scorer, want := range map[string]string{"": "default", "deep": "slow", "other": "default", "*": "default"} {
		if got, ok := p.Of(scorer); !ok || got != want {
			t.Errorf("scorer %q: got %q, %t, want %q", scorer, got, ok, want)
		}
	}
	if pool, ok := (api.KindPool{PerScorer: map[string]string{"deep": "slow"}}).Of("other"); ok {
		t.Errorf("got %q for a scorer that has no pool", pool)
	}
	if pool, ok := (api.KindPool{Durable: true}).Of(""); ok {
		t.Errorf("got %q for a kind of runs", pool)
	}
}
