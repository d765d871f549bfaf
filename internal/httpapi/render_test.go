package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestErrorsHaveOneForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		code    api.Code
		afterMs int64
		status  int
		retry   string
	}{
		{api.BadRequest, 0, 400, ""},
		{api.StaleFence, 0, 409, ""},
		{api.Conflict, 1500, 409, "2"},
		{api.IdempotencyInProgress, 0, 409, "1"},
		{api.InvalidField, 0, 422, ""},
		{api.RateLimited, 0, 429, "1"},
		{api.RateLimited, 1, 429, "1"},
		{api.RateLimited, 1000, 429, "1"},
		{api.RateLimited, 1001, 429, "2"},
		{api.RateLimited, -5000, 429, "1"},
		{api.TenantRunQuotaExceeded, 59_999, 429, "60"},
		{api.StorageUnavailable, 0, 503, "1"},
		{api.NamespaceUnavailable, 2500, 503, "3"},
		{api.ShuttingDown, 0, 503, "1"},
		{api.ItemTimeout, 0, 504, ""},
		{api.Internal, 0, 500, ""},
		{"no_such_code", 0, 500, ""},
	}
	for _, test := range tests {
		r := w.do("POST", "/ns/demo/api/v2/faults", "worker", fmt.Sprintf(`{"code":%q,"after_ms":%d}`, test.code, test.afterMs))
		code := test.code
		if test.status == 500 {
			code = api.Internal
		}
		w.want(r, test.status, code)
		if diff := cmp.Diff(r.Header().Get("Retry-After"), test.retry); diff != "" {
			t.Errorf("%s after %d ms: Retry-After (-got +want):\n%s", test.code, test.afterMs, diff)
		}
		if test.retry != "" && !strings.Contains(r.Body.String(), `"retry_after_ms":`+test.retry+`000`) {
			t.Errorf("%s: retry_after_ms is not that of the header %s: %s", test.code, test.retry, r.Body)
		}
		if test.status == 500 && strings.Contains(r.Body.String(), "as asked") {
			t.Errorf("the message of an internal error was sent: %s", r.Body)
		}
	}
	if logs := w.logs.String(); !strings.Contains(logs, errSecret.Error()) {
		t.Errorf("the inner text was not logged:\n%s", logs)
	}
}

func TestPanicIsAnsweredAndLoggedWithoutItsPayload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.do("POST", "/ns/demo/api/v2/faults", "worker", `{"panic":"payload in a panic"}`)
	w.want(r, 500, api.Internal)
	logs := w.logs.String()
	if !strings.Contains(logs, "panic while serving") || !strings.Contains(logs, "probe_test.go") {
		t.Errorf("the stack was not logged:\n%s", logs)
	}
	if strings.Contains(logs, "payload in a panic") {
		t.Errorf("the payload was logged:\n%s", logs)
	}
	w.want(w.do("GET", "/ns/demo/api/v2/notes", "worker", ""), 200, "")
	defer func() {
		if fault := recover(); fault != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", fault)
		}
	}()
	w.do("POST", "/ns/demo/api/v2/faults", "worker", `{"panic":"abort"}`)
}

func TestPanicBehindTheFirstByteCutsTheAnswerOff(t *testing.T) {
	t.Parallel()
	h := &handler{log: slog.New(slog.DiscardHandler)}
	defer func() {
		if fault := recover(); fault != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", fault)
		}
	}()
	x := &exchange{ResponseWriter: httptest.NewRecorder(), h: h}
	defer x.finish(httptest.NewRequest("GET", "/", nil))
	x.send(200, mediaJSON, []byte("{}"))
	panic("late")
}

func TestRawBodyIsSavedNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", "/ns/demo/api/v2/notes", "producer", `{"key":"k","value":"<b>"}`), 201, "")
	r := w.do("GET", "/ns/demo/api/v2/notes/k?body=1", "worker", "")
	got := map[string]string{"body": r.Body.String()}
	for _, name := range []string{"Content-Type", "Content-Disposition", "X-Content-Type-Options", "Etag", "Content-Length"} {
		got[name] = r.Header().Get(name)
	}
	want := map[string]string{
		"body": "<b>", "Content-Type": "text/html", "Content-Disposition": "attachment",
		"X-Content-Type-Options": "nosniff", "Etag": `"sha256:1"`, "Content-Length": "3",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("raw answer (-got +want):\n%s", diff)
	}
	for field, status := range map[string]int{
		`"sha256:1"`: 304, `W/"sha256:1"`: 304, `"x", "sha256:1"`: 304, `*`: 304, `"sha256:2"`: 200, `sha256:1`: 200, ``: 200,
	} {
		r := w.do("GET", "/ns/demo/api/v2/notes/k?body=1", "worker", "", "If-None-Match: "+field)
		if r.Code != status || (status == 304) != (r.Body.Len() == 0) {
			t.Errorf("If-None-Match %s: %d with %d bytes, want %d", field, r.Code, r.Body.Len(), status)
		}
	}
}

func TestAdmissionIsShownWithAnswersAndRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		settings string
		status   int
		code     api.Code
	}{{`{"mode":"enforce"}`, 200, ""}, {`{"mode":"paused"}`, 429, api.RateLimited}} {
		w.settings(test.settings)
		r := w.do("POST", "/ns/demo/api/v2/tickets", "worker", "")
		w.want(r, test.status, test.code)
		if r.Header().Get("X-Claim-Wait-Ms") != "0" || r.Header().Get("X-Claim-Concurrency") != "32" {
			t.Errorf("%s: wait %q, concurrency %q, want 0 and 32", test.settings,
				r.Header().Get("X-Claim-Wait-Ms"), r.Header().Get("X-Claim-Concurrency"))
		}
	}
	if r := w.do("GET", "/ns/demo/api/v2/notes", "worker", ""); r.Header().Get("X-Claim-Wait-Ms") != "" {
		t.Error("a request that passes no admission shows a wait")
	}
}

func TestRequestIDIsTheClientsIfItIsSane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for id, kept := range map[string]bool{
		"a": true, "01J-x_y.z:1/2+3=": true, strings.Repeat("a", 128): true,
		"": false, "a b": false, "a\"b": false, "ü": false, strings.Repeat("a", 129): false, "a\tb": false,
	} {
		r := w.do("GET", "/healthz", "none", "", "X-Request-Id: "+id)
		got := r.Header().Get("X-Request-Id")
		if got == "" || (got == id) != kept {
			t.Errorf("request id %q became %q, want it kept: %v", id, got, kept)
		}
	}
}

func TestCancelledRequestIsNoInternalError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "POST", "/ns/demo/api/v2/tickets", nil)
	r.Header.Set("X-Api-Key", w.keys["worker"])
	recorder := httptest.NewRecorder()
	w.h.ServeHTTP(recorder, r)
	w.want(recorder, 503, api.NamespaceUnavailable)
	if logs := w.logs.String(); strings.Contains(logs, "request failed") {
		t.Errorf("a client that went away was logged as a failure:\n%s", logs)
	}
}

func TestLogsHoldNoSecretsQueriesOrBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("POST", "/ns/demo/api/v2/notes?q=hidden-query", "producer", `{"key":"hidden-key","value":"hidden-body"}`, "Idempotency-Key: hidden-idem")
	w.do("GET", "/ns/demo/api/v2/notes/hidden-key?q=hidden-query", "worker", "")
	w.do("POST", "/ns/demo/api/v2/notes", "producer", `{"hidden-field":1}`)
	made := w.do("POST", "/api/v2/namespaces/demo/keys", "admin", `{"principal":"p","roles":["worker"]}`)
	w.do("GET", "/api/v2/namespaces", "unknown", "", "X-Api-Key: hidden-key")
	logs := w.logs.String()
	for _, hidden := range []string{"hidden", w.keys["producer"], w.keys["admin"], secretOf(t, made.Body), operatorSecret} {
		if strings.Contains(logs, hidden) {
			t.Errorf("%q was logged:\n%s", hidden, logs)
		}
	}
	for _, wanted := range []string{
		"msg=request", "method=POST", "route=/ns/{namespace}/api/v2/notes", "status=201", "namespace=demo", "principal=the-producer", "duration=",
	} {
		if !strings.Contains(logs, wanted) {
			t.Errorf("%q was not logged:\n%s", wanted, logs)
		}
	}
}

func secretOf(t *testing.T, body io.Reader) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(body); err != nil {
		t.Fatal(err)
	}
	var key api.Key
	if err := namespace.Decode(b.Bytes(), &key); err != nil || key.Secret == "" {
		t.Fatalf("no secret in %s: %v", b.String(), err)
	}
	return key.Secret
}

func TestRetrySecondsRoundsUp(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int64{0: 0, 1: 1, time.Second: 1, time.Second + 1: 2, -time.Hour: 0} {
		if got := retrySeconds(api.Errorf(api.Conflict, "x").After(after)); got != want {
			t.Errorf("after %v: %d s, want %d", after, got, want)
		}
	}
}
