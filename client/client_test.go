package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skerryhq/skerry/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire carries requests to a handler without a network, so that tests under
// synctest see no I/O. It returns after the handler, which must obey the context.
type wire struct{ http.Handler }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := make(chan *http.Response, 1)
	go func() {
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		answer <- rec.Result()
	}()
	select {
	case resp := <-answer:
		return resp, nil
	case <-r.Context().Done():
		<-answer
		return nil, r.Context().Err()
	}
}

func noJitter() float64 { return 0 }

// dial makes a client whose requests go to the handler.
func dial(t *testing.T, h http.HandlerFunc, o Options) *Client {
	t.Helper()
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Transport: wire{h}}
	}
	if o.Jitter == nil {
		o.Jitter = noJitter
	}
	c, err := New("http://host/ns/test", "key", &o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reply writes a success.
func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuse writes an error as a server does.
func refuse(w http.ResponseWriter, e *api.Error) {
	w.WriteHeader(e.Code.Status())
	_ = json.NewEncoder(w).Encode(api.ErrorBody{Error: e.Detail()})
}

func ptr[T any](v T) *T { return &v }

func TestNewRefusesBadArguments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, url, key, want string }{
		{"scheme", "ftp://host", "", "parse base url"},
		{"no host", "http://", "", "no host"},
		{"not a url", "http://ho st", "", "not a URL"},
		{"credentials", "http://user:secret@host", "", "credentials"},
		{"query", "http://host?key=secret", "", "query"},
		{"newline in key", "http://host", "secret\n", "check key"},
		{"space in key", "http://host", "sec ret", "check key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tt.url, tt.key, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestRequestsGoToTheirRoutes(t *testing.T) {
	t.Parallel()
	var got string
	c := dial(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.RequestURI() + " " + string(body)
		reply(w, struct{}{})
	}, Options{})
	o, err := NewOperator("http://host/", "key", &Options{HTTPClient: c.sender.o.HTTPClient})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want string
		do   func(ctx context.Context) error
	}{
		{"GET /ns/test/api/v2/nouns/in/a%20b%3F%25@2 ", func(ctx context.Context) error { _, err := c.Noun(ctx, "in/a b?%@2"); return err }},
		{"GET /ns/test/api/v2/nouns/in/t?body=1 ", func(ctx context.Context) error { _, err := c.NounBody(ctx, "in/t"); return err }},
		{"POST /ns/test/api/v2/nouns {\"key\":\"k\",\"body\":\"\"}", func(ctx context.Context) error {
			_, err := c.CreateNoun(ctx, api.NounSpec{Key: "k", Content: api.Content{Body: ptr("")}})
			return err
		}},
		{"GET /ns/test/api/v2/verbs/vb_1?wait_ms=1500 ", func(ctx context.Context) error { _, err := c.WaitVerb(ctx, "vb_1", 1500*time.Millisecond); return err }},
		{"POST /ns/test/api/v2/verbs/vb_1:cancel ", func(ctx context.Context) error { _, err := c.Cancel(ctx, "vb_1"); return err }},
		{"POST /ns/test/api/v2/verbs/vb_1:requeue ", func(ctx context.Context) error { _, err := c.Requeue(ctx, "vb_1"); return err }},
		{"POST /ns/test/api/v2/verbs:batch {\"verbs\":[]}", func(ctx context.Context) error { _, err := c.CreateVerbs(ctx, []api.VerbSpec{}); return err }},
		{"POST /ns/test/api/v2/claims/cl_%2F:heartbeat {\"fence\":7}", func(ctx context.Context) error {
			_, err := c.Heartbeat(ctx, "cl_/", api.HeartbeatSpec{Fence: 7})
			return err
		}},
		{"POST /ns/test/api/v2/claims/cl_1:release {\"fence\":7}", func(ctx context.Context) error {
			_, err := c.Release(ctx, "cl_1", api.ReleaseSpec{Fence: 7})
			return err
		}},
		{"GET /ns/test/api/v2/admission ", func(ctx context.Context) error { _, err := c.Admission(ctx); return err }},
		{"GET /ns/test/api/v2/catalog ", func(ctx context.Context) error { _, err := c.Catalog(ctx); return err }},
		{"GET /ns/test/api/v2/receipts/rc_1 ", func(ctx context.Context) error { _, err := c.Receipt(ctx, "rc_1"); return err }},
		{"PUT /api/v2/namespaces/a ", func(ctx context.Context) error { _, err := o.CreateNamespace(ctx, "a"); return err }},
		{"GET /api/v2/namespaces/..%2Fa ", func(ctx context.Context) error { _, err := o.Namespace(ctx, "../a"); return err }},
		{"PATCH /api/v2/namespaces/a/settings {\"mode\":null}", func(ctx context.Context) error {
			_, err := o.PatchSettings(ctx, "a", map[string]json.RawMessage{"mode": json.RawMessage("null")})
			return err
		}},
		{"DELETE /api/v2/namespaces/a ", func(ctx context.Context) error { _, err := o.DeleteNamespace(ctx, "a"); return err }},
		{"DELETE /api/v2/namespaces/a/keys/k1 ", func(ctx context.Context) error { _, err := o.RevokeKey(ctx, "a", "k1"); return err }},
		{"GET /readyz ", func(ctx context.Context) error { _, err := o.Ready(ctx); return err }},
	} {
		if err := tt.do(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.want, err)
		}
		if got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestListsFollowCursorsAcrossEmptyPages(t *testing.T) {
	t.Parallel()
	var queries []string
	c := dial(t, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		switch r.URL.Query().Get("cursor") {
		case "":
			reply(w, api.Page[api.Receipt]{Data: []api.Receipt{{Sequence: 4}}, NextCursor: ptr("one")})
		case "one":
			reply(w, api.Page[api.Receipt]{NextCursor: ptr("two")})
		default:
			reply(w, api.Page[api.Receipt]{Data: []api.Receipt{{Sequence: 5}}})
		}
	}, Options{})
	var got []int64
	o := &ReceiptOptions{After: 3, Wait: time.Second, ListOptions: ListOptions{PageSize: 1}}
	for receipt, err := range c.Receipts(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, receipt.Sequence)
	}
	if diff := cmp.Diff(got, []int64{4, 5}); diff != "" {
		t.Error("-got +want", diff)
	}
	want := []string{"after=3&limit=1&wait_ms=1000", "cursor=one&limit=1", "cursor=two&limit=1"}
	if diff := cmp.Diff(queries, want); diff != "" {
		t.Error("-got +want", diff)
	}
}

func TestListsEndAtAnError(t *testing.T) {
	t.Parallel()
	c := dial(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, api.Errorf(api.Forbidden, "no"))
	}, Options{})
	var seen int
	for _, err := range c.Nouns(t.Context(), "in/", nil) {
		seen++
		if !api.IsCode(err, api.Forbidden) {
			t.Errorf("got %v, want forbidden", err)
		}
	}
	if seen != 1 {
		t.Errorf("got %d entries, want the error alone", seen)
	}
}

func TestBatchTellsVerbsFromGroups(t *testing.T) {
	t.Parallel()
	c := dial(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"verbs":[{"id":"vb_1","group":"vg_0"},{"group":"vg_1","verbs":[{"id":"vb_2"}]}]}`)
	}, Options{})
	got, err := c.CreateVerbs(t.Context(), make([]api.VerbSpec, 2))
	if err != nil {
		t.Fatal(err)
	}
	want := []Created{
		{Verb: &api.Verb{ID: "vb_1", Group: "vg_0"}},
		{Group: &api.VerbGroup{Group: "vg_1", Verbs: []api.Verb{{ID: "vb_2"}}}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error("-got +want", diff)
	}
}

func TestErrorsOutsideTheFormAreStatusErrors(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>", `{"error":"text"}`, `{"error":{}}`, `[]`} {
		err := answerError(http.StatusBadGateway, http.Header{}, []byte(body))
		if got, want := err, (&StatusError{Status: 502}); !cmp.Equal(got, error(want)) {
			t.Errorf("%q: got %v, want %v", body, got, want)
		}
	}
}

func TestPackageLinksNoDatabase(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"github.com/skerryhq/skerry/api", "github.com/skerryhq/skerry/client"}
	if diff := cmp.Diff(strings.Fields(string(out)), want); diff != "" {
		t.Error("-got +want", diff)
	}
}
