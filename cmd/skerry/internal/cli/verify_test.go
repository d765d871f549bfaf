package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func TestReceiptDigestIsThatOfTheCanonicalForm(t *testing.T) {
	t.Parallel()
	// Member order, spacing, number forms and escapes do not count; the digest of
	// the canonical text is computed beside.
	const canonical = `{"a":"é\n","fence":4194305,"unknown":[1,true,null]}`
	for _, document := range []string{
		`{"fence":4194305,"digest":"sha256:x","unknown":[1,true,null],"a":"é\n"}`,
		` { "unknown" : [1.0, true, null], "a" : "\u00e9\u000a", "fence" : 4.194305e6 } `,
	} {
		got, err := receiptDigest(json.RawMessage(document))
		if err != nil {
			t.Fatal(err)
		}
		if want := digestOf([]byte(canonical)); got != want {
			t.Errorf("%s: got %s, want %s", document, got, want)
		}
	}
}

func TestVerifyTellsWhatDoesNotMatch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "uri"):
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"error":{"code":"conflict","message":"it lies at a URI"}}`))
		case strings.Contains(r.URL.Path, "gone"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"code":"not_found","message":"no"}}`))
		case strings.Contains(r.URL.Path, "down"):
			w.WriteHeader(http.StatusInternalServerError)
		default:
			_, _ = w.Write([]byte("made"))
		}
	}))
	defer server.Close()
	c, err := client.New(server.URL, "", &client.Options{MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	receipt := func(ref, content string) json.RawMessage {
		r := api.Receipt{ID: "rc_1", Sequence: 1, Output: api.NounRef{Ref: ref, Digest: digestOf([]byte(content))}}
		document, _ := json.Marshal(r)
		r.Digest, _ = receiptDigest(document)
		document, _ = json.Marshal(r)
		return document
	}
	good := receipt("out/a@1", "made")
	for _, tt := range []struct {
		name             string
		document         json.RawMessage
		record, artifact string
	}{
		{"good", good, verdictOK, verdictOK},
		{"record changed", json.RawMessage(strings.Replace(string(good), `"late":false`, `"late":true`, 1)), verdictMismatch, verdictOK},
		{"field added", json.RawMessage(strings.Replace(string(good), `{`, `{"more":1,`, 1)), verdictMismatch, verdictOK},
		{"artifact changed", receipt("out/a@1", "other"), verdictOK, verdictMismatch},
		{"artifact gone", receipt("out/gone@1", "made"), verdictOK, verdictMissing},
		{"artifact elsewhere", receipt("out/uri@1", "made"), verdictOK, verdictNotRead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := verifyOne(t.Context(), c, tt.document)
			if err != nil {
				t.Fatal(err)
			}
			want := &verdict{Receipt: "rc_1", Sequence: 1, Record: tt.record, Artifact: tt.artifact}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error("-got +want", diff)
			}
		})
	}
	if _, err := verifyOne(t.Context(), c, receipt("out/down@1", "made")); err == nil {
		t.Error("a server that does not answer is no verdict")
	}
}
