package runs

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestNumberIsWholeHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0.000": 0, "0e999999999999": 0, "-0e-99999999999999999999": 0, "3": 3, "3.0": 3, "30e-1": 3, "0.3e1": 3,
		"1e2": 100, "1E+2": 100, "1.25e2": 125, "1e12": 1_000_000_000_000, "10000000000000e-1": 1_000_000_000_000,
		"0.0000000000000000000000000000005e31": 5, "123456789012345678": 123456789012345678,
	} {
		if got, ok := whole(text); !ok || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"-1", "1.5", "0.1", "1e-1", "3.00000000000000000001", "999999999999.99999999", "1e19", "1e999999999999999999999", "1e-999999999999999999999",
		"9223372036854775808", "125e-2",
	} {
		if got, ok := whole(text); ok {
			t.Errorf("%s passes for %d", text, got)
		}
	}
}

func FuzzSpec(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"k","items":[{"id":"a","x":[1,{"b":2,"a":1}]},{}],"shared":{"z":1e3,"a":"<&>"},"metadata":{"m":null}}`,
		`{"kind":"k","items":[null]}`, `{"kind":"k","items":[{"id":null}]}`, `{"kind":"k","items":[{"id":""}],"":""}`,
		`{"schema_version":"run/1","kind":"k","items":[],"failure_policy":"continue","metadata":{}}`, `{"kind":null}`, ``, `null`, `[]`,
		`{"kind":"k","x":"\ud800\udfff\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	settings := namespace.DefaultSettings()
	settings.Kinds["k"] = api.Kind{
		Pool: api.KindPool{Durable: true}, Cost: api.Measure{Field: "/x/1/b"}, ResultCells: api.Measure{Field: "/shared/z", Value: 1},
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a := newCreateRun("", body)
		if a.invalid != nil {
			if e := api.AsError(a.invalid); e.Code == api.Internal {
				t.Fatalf("got an internal error: %v", e.Err)
			}
			return
		}
		if p, _, err := planRun(a.parsed, &settings); err == nil && (p.total < 0 || p.cells < 0 || p.count() < 1) {
			t.Fatalf("got plan of %d items with cost %d and %d cells", p.count(), p.total, p.cells)
		}
		// What is stored, sent again, is stored as the same.
		again := newCreateRun("", a.rewritten(t))
		if again.invalid != nil {
			t.Fatalf("what was stored is refused: %v", again.invalid)
		}
		if !bytes.Equal(again.shared, a.shared) || !bytes.Equal(again.parsed.metadata, a.parsed.metadata) || again.parsed.count != a.parsed.count {
			t.Fatalf("got %s and metadata %s, want %s and %s", again.shared, again.parsed.metadata, a.shared, a.parsed.metadata)
		}
		for i := range a.payloads {
			if !bytes.Equal(again.payloads[i], a.payloads[i]) {
				t.Fatalf("item %d: got payload %s, want %s", i, again.payloads[i], a.payloads[i])
			}
		}
	})
}

// rewritten is the document again, made of what is stored.
func (a *createRun) rewritten(t *testing.T) []byte {
	t.Helper()
	var members map[string]any
	read := func(document []byte, into any) {
		if err := namespace.Decode(document, into); err != nil {
			t.Fatalf("read what is stored: %v", err)
		}
	}
	raw := map[string]jsontext.Value{}
	read(a.shared, &raw)
	members = map[string]any{}
	for name, value := range raw {
		members[name] = value
	}
	items := []map[string]jsontext.Value{}
	for i := range a.parsed.items {
		item := map[string]jsontext.Value{}
		read(a.payloads[i], &item)
		items = append(items, item)
	}
	for range a.parsed.count - len(items) {
		items = append(items, map[string]jsontext.Value{})
	}
	members["kind"], members["items"], members["metadata"] = a.parsed.kind, items, jsontext.Value(a.parsed.metadata)
	document, err := namespace.Encode(members)
	if err != nil {
		t.Fatalf("write document: %v", err)
	}
	return document
}
