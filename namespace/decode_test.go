package namespace_test

import (
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

type document struct {
	Name  string            `json:"name"`
	Count int64             `json:"count,omitempty"`
	Items []inner           `json:"items,omitempty"`
	Meta  map[string]string `json:"meta,omitempty"`
}

type inner struct {
	Ratio float64 `json:"ratio"`
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ body, field string }{
		{`{"name": "x"} `, "ok"},
		{``, "ok"},
		{`{"meta": {"a": "1"}}`, "ok"},
		{`{"name": 1}`, "name"},
		{`{"count": 1.5}`, "count"},
		{`{"count": "1"}`, "count"},
		{`{"name": "x", "name": "y"}`, "name"},
		{`{"meta": {"a": "1", "a": "2"}}`, "meta.a"},
		{`{"nome": "x"}`, "nome"},
		{`{"Name": "x"}`, "Name"},
		{`{"items": [{"ratio": 1}, {"ratio": "1"}]}`, "items[1].ratio"},
		{`{"items": [{"ratio": NaN}]}`, ""},
		{`{"name": "x"}{}`, ""},
		{`{"name": "x"} x`, ""},
		{`{"name": "` + "\xff" + `"}`, ""},
		{`{"name": "\ud800"}`, ""},
		{`{"name": "x"`, ""},
		{`{name: "x"}`, ""},
		{`[]`, ""},
		{`null`, ""},
		{" null\n", ""},
		{`"secret"`, ""},
	} {
		err := namespace.Decode([]byte(tt.body), new(document))
		if tt.field == "ok" {
			if err != nil {
				t.Errorf("%s: got error %v", tt.body, err)
			}
			continue
		}
		e := wantCode(t, err, api.BadRequest)
		if e.Field != tt.field || strings.Contains(e.Error(), "secret") {
			t.Errorf("%s: got field %q (%v), want %q", tt.body, e.Field, e, tt.field)
		}
	}
}

func TestEncodedFormIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	d := document{Name: "<&>\u2028", Meta: map[string]string{}}
	for _, k := range strings.Split("a b c d e f g h i j", " ") {
		d.Meta[k] = k
	}
	first, err := namespace.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, err := namespace.Encode(d); err != nil || string(again) != string(first) {
			t.Fatalf("got %s, %v; want %s", again, err, first)
		}
	}
	var back document
	if err := namespace.Decode(first, &back); err != nil || back.Name != d.Name {
		t.Errorf("got %q back, %v", back.Name, err)
	}
}

// The examples are those of RFC 8785, sections 3.2.2 and 3.2.3.
func TestCanonicalFormIsThatOfTheRFC(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]}`: `{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}`,
		`{"\u20ac": 1, "\r": 2, "1": 3, "\u0080": 4, "\u00f6": 5, "\ud83d\ude00": 6}`:        "{\"\\r\":2,\"1\":3,\"\u0080\":4,\"ö\":5,\"€\":1,\"😀\":6}",
		`{"b": [true, null], "a": "\u0041\/"}`:                                               `{"a":"A/","b":[true,null]}`,
	} {
		got, err := namespace.Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := namespace.Canonical([]byte(`{"a": 1, "a": 2}`)); err == nil {
		t.Error("a document with a name twice has a canonical form")
	}
}

// Whatever is accepted is accepted in its own encoded form, and is the same.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"name":"x","count":1,"items":[{"ratio":0.5}],"meta":{"k":"v"}}`, `{"name":"\u0000"}`, `[`, `{"a":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var d document
		if err := namespace.Decode(body, &d); err != nil {
			wantCode(t, err, api.BadRequest)
			return
		}
		once, err := namespace.Encode(d)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		var again document
		if err := namespace.Decode(once, &again); err != nil {
			t.Fatalf("decode of %s: %v", once, err)
		}
		if twice, err := namespace.Encode(again); err != nil || string(twice) != string(once) {
			t.Fatalf("got %s, %v; want %s", twice, err, once)
		}
	})
}
