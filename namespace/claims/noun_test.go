package claims_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace/claims"
)

func TestNounsAreVersionedAndImmutable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.as("producer")
	first := w.noun("in/ä b", "one")
	second := w.noun("in/ä b", "two")
	want := api.Noun{
		Key: "in/ä b", Version: 1, Ref: "in/ä b@1", MediaType: "text/plain; charset=utf-8",
		Digest: digestOf("one"), Size: 3, CreatedAt: w.clock.Now(),
	}
	if diff := cmp.Diff(first, want); diff != "" {
		t.Errorf("first version (-got +want):\n%s", diff)
	}
	want.Body = ptr("one")
	got, err := s.Noun(w.ctx(), "in/ä b@1")
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("read first version: %v (-got +want):\n%s", err, diff)
	}
	newest, err := s.Noun(w.ctx(), "in/ä b")
	if err != nil || newest.Ref != second.Ref {
		t.Errorf("newest: got %s, %v, want %s", newest.Ref, err, second.Ref)
	}
	for _, ref := range []string{"in/ä b@3", "in/ä", "nothing"} {
		_, err := s.Noun(w.ctx(), ref)
		wantCode(t, err, api.NotFound)
	}
	_, err = s.NounVersions(w.ctx(), "nothing", claims.Page{})
	wantCode(t, err, api.NotFound)
}

func TestNounContentIsCheckedAndGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.as("producer")
	raw := "\xff\x00\x01"
	for name, tt := range map[string]struct {
		content   api.Content
		mediaType string
		size      int64
		code      api.Code
		field     string
	}{
		"text":             {content: text("x"), mediaType: "text/plain; charset=utf-8", size: 1},
		"empty":            {content: text(""), mediaType: "text/plain; charset=utf-8"},
		"bytes":            {content: bytes64(raw), mediaType: "application/octet-stream", size: 3},
		"media type":       {content: api.Content{Body: ptr("{}"), MediaType: "application/json"}, mediaType: "application/json", size: 2},
		"digest":           {content: api.Content{Body: ptr("x"), Digest: digestOf("x")}, mediaType: "text/plain; charset=utf-8", size: 1},
		"uri":              {content: api.Content{URI: "s3://b/k", Digest: digestOf("x")}, mediaType: "application/octet-stream"},
		"largest":          {content: text(strings.Repeat("x", 1<<20)), mediaType: "text/plain; charset=utf-8", size: 1 << 20},
		"too large":        {content: text(strings.Repeat("x", 1<<20+1)), code: api.InvalidField, field: "body"},
		"nothing":          {code: api.InvalidField, field: "body"},
		"two":              {content: api.Content{Body: ptr("x"), URI: "s3://b/k"}, code: api.InvalidField, field: "body"},
		"other digest":     {content: api.Content{Body: ptr("x"), Digest: digestOf("y")}, code: api.DigestMismatch, field: "digest"},
		"no digest":        {content: api.Content{Body: ptr("x"), Digest: "md5:1"}, code: api.InvalidField, field: "digest"},
		"upper case":       {content: api.Content{Body: ptr("x"), Digest: "sha256:" + strings.Repeat("A", 64)}, code: api.InvalidField, field: "digest"},
		"uri alone":        {content: api.Content{URI: "s3://b/k"}, code: api.InvalidField, field: "digest"},
		"relative uri":     {content: api.Content{URI: "b/k", Digest: digestOf("x")}, code: api.InvalidField, field: "uri"},
		"no base64":        {content: api.Content{BodyBase64: ptr("*")}, code: api.InvalidField, field: "body_base64"},
		"no text":          {content: text(raw), code: api.InvalidField, field: "body"},
		"no media type":    {content: api.Content{Body: ptr("x"), MediaType: "a b"}, code: api.InvalidField, field: "media_type"},
		"smuggled header":  {content: api.Content{Body: ptr("x"), MediaType: "text/plain\r\nX: y"}, code: api.InvalidField, field: "media_type"},
		"unprintable type": {content: api.Content{Body: ptr("x"), MediaType: "text/plain; a=\"é\""}, code: api.InvalidField, field: "media_type"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.CreateNoun(w.ctx(), api.NounSpec{Key: "content/" + name, Content: tt.content})
			if tt.code != "" {
				if e := wantCode(t, err, tt.code); e.Field != tt.field {
					t.Errorf("field: got %q, want %q", e.Field, tt.field)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.MediaType != tt.mediaType || got.Size != tt.size || got.DigestTrusted != (tt.content.URI != "") {
				t.Errorf("got %+v, want media type %s, size %d", got, tt.mediaType, tt.size)
			}
			body, err := s.NounBody(w.ctx(), got.Ref)
			if tt.content.URI != "" {
				wantCode(t, err, api.Conflict)
				return
			}
			if err != nil || digestOf(string(body.Bytes)) != got.Digest || body.ETag != got.Digest || body.MediaType != tt.mediaType {
				t.Errorf("bytes: got %d of %s, %v", len(body.Bytes), body.MediaType, err)
			}
		})
	}
}

func TestNounKeysAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{
		"", "/a", "a/", "a//b", ".", "..", "a/./b", "a/..", "a@1", "a?b", "a#b", "a\x00b", "a\nb", "a\u0085b", "\xff",
		strings.Repeat("k", 513),
	} {
		_, err := w.as("p").CreateNoun(w.ctx(), api.NounSpec{Key: key, Content: text("x")})
		if e := wantCode(t, err, api.InvalidField); e.Field != "key" {
			t.Errorf("key %q: got field %s, want key", key, e.Field)
		}
	}
	for _, key := range []string{"a", "a/b.c", "...", ".a/..b", "a b", "日本/%2F", strings.Repeat("k", 512)} {
		w.noun(key, "x")
	}
	for _, ref := range []string{"a@0", "a@01", "a@-1", "a@x", "a@", "a@1@2", "a@99999999999999999999"} {
		_, err := w.as("p").Noun(w.ctx(), ref)
		wantCode(t, err, api.InvalidField)
	}
}

func TestNounsAreListedByCreationAndPrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []string
	for _, key := range []string{"b/1", "a/1", "b/2", "b/1", "bc", "a/2", "b/3"} {
		all = append(all, w.noun(key, "x").Ref)
	}
	s := w.as("x")
	for _, tt := range []struct {
		prefix string
		want   []string
	}{
		{"", all},
		{"b/", []string{"b/1@1", "b/2@1", "b/1@2", "b/3@1"}},
		{"a", []string{"a/1@1", "a/2@1"}},
		{"c", nil},
	} {
		for _, desc := range []bool{false, true} {
			want := slices.Clone(tt.want)
			if desc {
				slices.Reverse(want)
			}
			got := collect(t, func(n api.Noun) string { return n.Ref }, claims.Page{Limit: 2, Desc: desc}, func(p claims.Page) (api.Page[api.Noun], error) {
				return s.Nouns(w.ctx(), tt.prefix, p)
			})
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("prefix %q, desc %v (-got +want):\n%s", tt.prefix, desc, diff)
			}
		}
	}
	for range 4 {
		w.noun("b/1", "x")
	}
	got := collect(t, func(n api.Noun) string { return n.Ref }, claims.Page{Limit: 4, Desc: true}, func(p claims.Page) (api.Page[api.Noun], error) {
		return s.NounVersions(w.ctx(), "b/1", p)
	})
	if want := []string{"b/1@6", "b/1@5", "b/1@4", "b/1@3", "b/1@2", "b/1@1"}; !slices.Equal(got, want) {
		t.Errorf("versions: got %v, want %v", got, want)
	}
	first, err := s.Nouns(w.ctx(), "", claims.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.NounVersions(w.ctx(), "b/1", claims.Page{Cursor: *first.NextCursor})
	wantCode(t, err, api.BadRequest)
	_, err = s.Nouns(w.ctx(), "", claims.Page{Cursor: *first.NextCursor, Desc: true})
	wantCode(t, err, api.BadRequest)
}

func TestFilteredListEndsAPageAfterManyRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.noun("first", "x")
	// As many nouns as two pages look through, and one beyond.
	w.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100010)
		INSERT INTO claims_noun (id, key, version, media_type, digest, size, created_at)
		SELECT i, 'other/' || i, 1, 'a/b', zeroblob(32), 0, 0 FROM n`)
	w.noun("first", "y")
	s := w.as("x")
	for _, desc := range []bool{false, true} {
		pages := 0
		got := collect(t, func(n api.Noun) string { return n.Ref }, claims.Page{Desc: desc}, func(p claims.Page) (api.Page[api.Noun], error) {
			pages++
			return s.Nouns(w.ctx(), "first", p)
		})
		want := []string{"first@1", "first@2"}
		if desc {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) || pages != 3 {
			t.Errorf("desc %v: got %v in %d pages, want %v in 3", desc, got, pages, want)
		}
	}
}

// collect reads all pages of a list.
func collect[D, K any](t *testing.T, name func(D) K, page claims.Page, read func(claims.Page) (api.Page[D], error)) []K {
	t.Helper()
	var all []K
	for {
		p, err := read(page)
		if err != nil {
			t.Fatal(err)
		}
		if page.Limit > 0 && len(p.Data) > page.Limit {
			t.Fatalf("page: got %d entries, want at most %d", len(p.Data), page.Limit)
		}
		for _, d := range p.Data {
			all = append(all, name(d))
		}
		if p.NextCursor == nil {
			return all
		}
		page.Cursor = *p.NextCursor
	}
}

func bytes64(raw string) api.Content {
	return api.Content{BodyBase64: ptr(base64.StdEncoding.EncodeToString([]byte(raw)))}
}
