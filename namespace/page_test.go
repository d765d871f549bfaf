package namespace_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestIDsSortAsTheirNumbersDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(0, 1<<53), 1, 20).Draw(t, "numbers")
		slices.Sort(numbers)
		var ids []string
		for _, n := range numbers {
			id := namespace.ID("x_", n)
			ids = append(ids, id)
			if back, ok := namespace.ParseID("x_", id); !ok || back != n {
				t.Fatalf("%s: got %d, %v back; want %d", id, back, ok, n)
			}
		}
		if !slices.IsSorted(ids) {
			t.Fatalf("ids of %v do not sort: %v", numbers, ids)
		}
	})
}

func FuzzParseID(f *testing.F) {
	f.Add("key_00000000001")
	f.Add("key_zzzzzzzzzzz")
	f.Add("key_0000000000I")
	f.Add("key_")
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := namespace.ParseID("key_", s)
		if ok && namespace.ID("key_", n) != s {
			t.Fatalf("%q is taken for %d, which is %q", s, n, namespace.ID("key_", n))
		}
	})
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add(namespace.Cursor{List: "verbs", Number: 7}.Encode())
	f.Add(namespace.Cursor{List: "verbs", Desc: true, Key: "a\x00b", Number: -1}.Encode())
	f.Add("")
	f.Add("!")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := namespace.DecodeCursor("verbs", s)
		if err != nil {
			if e := wantCode(t, err, api.BadRequest); e.Field != "cursor" {
				t.Fatalf("got field %q, want cursor", e.Field)
			}
			return
		}
		if c.List != "verbs" || c.Encode() != s {
			t.Fatalf("%q is taken for %+v, which is %q", s, c, c.Encode())
		}
	})
}

func TestCursorBelongsToItsList(t *testing.T) {
	t.Parallel()
	c := namespace.Cursor{List: "verbs", Desc: true, Key: "in/a\x00b", Number: 1 << 52}
	got, err := namespace.DecodeCursor("verbs", c.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, c); diff != "" {
		t.Errorf("cursor (-got +want):\n%s", diff)
	}
	_, err = namespace.DecodeCursor("nouns", c.Encode())
	wantCode(t, err, api.BadRequest)
}

func TestPageReadsItsParameters(t *testing.T) {
	t.Parallel()
	cursor := namespace.Cursor{List: "l", Desc: true, Number: 5}
	for _, tt := range []struct {
		query string
		want  namespace.PageRequest
		code  api.Code
	}{
		{"", namespace.PageRequest{From: namespace.Cursor{List: "l"}, First: true, Limit: 100}, ""},
		{"cursor=&limit=&order=", namespace.PageRequest{From: namespace.Cursor{List: "l"}, First: true, Limit: 100}, ""},
		{"limit=1&order=desc", namespace.PageRequest{From: namespace.Cursor{List: "l", Desc: true}, First: true, Limit: 1, Desc: true}, ""},
		{"cursor=" + cursor.Encode(), namespace.PageRequest{From: cursor, Limit: 100, Desc: true}, ""},
		{"limit=0", namespace.PageRequest{}, api.InvalidField},
		{"limit=1001", namespace.PageRequest{}, api.InvalidField},
		{"limit=x", namespace.PageRequest{}, api.BadRequest},
		{"order=up", namespace.PageRequest{}, api.InvalidField},
		{"cursor=x", namespace.PageRequest{}, api.BadRequest},
		{"order=asc&cursor=" + cursor.Encode(), namespace.PageRequest{}, api.BadRequest},
	} {
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		r := &namespace.Request{Query: query}
		got, err := r.Page("l")
		if tt.code != "" {
			wantCode(t, err, tt.code)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.query, err)
		}
		if diff := cmp.Diff(got, tt.want, cmpopts.IgnoreUnexported(namespace.PageRequest{})); diff != "" {
			t.Errorf("%q: page (-got +want):\n%s", tt.query, diff)
		}
	}
}

func TestPageEndsWhereItsDocumentsAreTooLarge(t *testing.T) {
	t.Parallel()
	p := namespace.PageRequest{From: namespace.Cursor{List: "l"}}
	if !p.Fits(5 << 20) {
		t.Error("a first document that is too large has no page at all")
	}
	if p.Fits(1) {
		t.Error("one more fits behind it")
	}
	q := namespace.PageRequest{}
	for n := range 4 {
		if !q.Fits(1 << 20) {
			t.Errorf("document %d of 1 MiB does not fit", n)
		}
	}
	if q.Fits(1) {
		t.Error("more than 4 MiB fit")
	}
	next, err := namespace.DecodeCursor("l", *p.Next("k", 3))
	if err != nil || next.Key != "k" || next.Number != 3 {
		t.Errorf("got cursor %+v, %v; want key k, number 3", next, err)
	}
}

func TestRequestParametersHaveTheirRange(t *testing.T) {
	t.Parallel()
	request := func(query string) *namespace.Request {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		return &namespace.Request{Query: values}
	}
	if got, err := request("wait_ms=30000").WaitMs(); err != nil || got != 30*time.Second {
		t.Errorf("got %v, %v; want 30s", got, err)
	}
	if got, err := request("after=").After(); err != nil || got != 0 {
		t.Errorf("got %v, %v; want 0", got, err)
	}
	for query, code := range map[string]api.Code{"wait_ms=30001": api.InvalidField, "wait_ms=-1": api.InvalidField, "wait_ms=1s": api.BadRequest} {
		_, err := request(query).WaitMs()
		if e := wantCode(t, err, code); e.Field != "wait_ms" {
			t.Errorf("%s: got field %q, want wait_ms", query, e.Field)
		}
	}
	_, err := request("after=-1").After()
	wantCode(t, err, api.InvalidField)
}

func TestDocumentReadsStoredAndFreshAnswers(t *testing.T) {
	t.Parallel()
	type doc struct {
		A int `json:"a"`
	}
	for _, a := range []namespace.Answer{{Body: doc{7}}, namespace.Answer{}.WithEncoded([]byte(`{"a":7}`))} {
		if got, err := namespace.Document[doc](a); err != nil || got.A != 7 {
			t.Errorf("got %v, %v; want 7", got, err)
		}
	}
	if _, err := namespace.Document[doc](namespace.Answer{Body: "text"}); err == nil {
		t.Error("a text was read as a document")
	}
	if _, err := namespace.Document[doc](namespace.Answer{}.WithEncoded([]byte(`{`))); err == nil {
		t.Error("half a document was read")
	}
}
