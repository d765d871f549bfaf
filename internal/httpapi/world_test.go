package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
	"github.com/skerryhq/skerry/namespace/runs"
)

const operatorSecret = "operator-secret"

// errSecret is the inside of an error that no client may see.
var errSecret = errors.New("inner text")

// world is a runtime with two namespaces, "demo" and "other", and its handler.
type world struct {
	t    *testing.T
	rt   *namespace.Runtime
	h    *handler
	logs *logBuffer
	// keys holds the secrets of demo by role, and those of nobody: "none",
	// "unknown", "revoked", "foreign" (an admin of other), "operator".
	keys map[string]string
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	return newWorldWith(t, namespace.Options{}, change...)
}

// newWorldWith is newWorld with the runtime's bounds in its own hands.
func newWorldWith(t *testing.T, bounds namespace.Options, change ...func(*Options)) *world {
	t.Helper()
	bounds.Classes = []namespace.Class{probeClass(), claims.Class(), runs.Class(runs.Options{})}
	bounds.Version = "v1.2.3"
	w := &world{t: t, logs: new(logBuffer), keys: map[string]string{
		"none": "", "unknown": "skerry_unknown", "operator": operatorSecret,
	}}
	ctx := context.Background()
	var err error
	w.rt, err = namespace.Open(ctx, t.TempDir(), bounds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.rt.Close(); err != nil {
			t.Error(err)
		}
	})
	o := Options{
		OperatorKey: operatorSecret, Metrics: true,
		Logger: slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&o)
	}
	if w.h, err = newHandler(w.rt, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"demo", "other"} {
		if _, err := w.rt.Create(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range everyRole {
		w.keys[string(role)] = w.key("demo", "the-"+string(role), role).Secret
	}
	w.keys["foreign"] = w.key("other", "the-admin", api.RoleAdmin).Secret
	revoked := w.key("demo", "the-revoked", everyRole[:]...)
	w.keys["revoked"] = revoked.Secret
	if err := w.rt.Namespace("demo").RevokeKey(ctx, revoked.ID); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) key(space, principal string, roles ...api.Role) api.Key {
	w.t.Helper()
	key, err := w.rt.Namespace(space).CreateKey(context.Background(), api.KeySpec{Principal: principal, Roles: roles})
	if err != nil {
		w.t.Fatal(err)
	}
	return key
}

// serve puts the handler on a real server and gives its address.
func (w *world) serve() string {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	server := NewServer(w.h, ServerOptions{Logger: w.h.log})
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	w.t.Cleanup(func() {
		if err := server.Close(); err != nil {
			w.t.Error(err)
		}
		<-done
	})
	return l.Addr().String()
}

// settings changes the settings of demo.
func (w *world) settings(patch string) {
	w.t.Helper()
	if r := w.do("PATCH", "/api/v2/namespaces/demo/settings", "operator", patch); r.Code != 200 {
		w.t.Fatalf("patch settings: %d %s", r.Code, r.Body)
	}
}

// do sends a request as the bearer of the named key. Headers are "Name: value".
func (w *world) do(method, target, key, body string, headers ...string) *httptest.ResponseRecorder {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	if secret := w.keys[key]; secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	recorder := httptest.NewRecorder()
	w.h.ServeHTTP(recorder, r)
	return recorder
}

// want checks the status and, for an error, its form and code.
func (w *world) want(r *httptest.ResponseRecorder, status int, code api.Code) {
	w.t.Helper()
	if r.Code != status {
		w.t.Errorf("status %d, want %d: %s", r.Code, status, r.Body)
	}
	if status < 400 {
		return
	}
	if detail := wantErrorForm(w.t, r.Result(), r.Body.Bytes()); detail.Code != code {
		w.t.Errorf("code %q, want %q: %s", detail.Code, code, detail.Message)
	}
}

// wantErrorForm checks all that every error's answer must have.
func wantErrorForm(t *testing.T, r *http.Response, body []byte) api.ErrorDetail {
	t.Helper()
	var doc api.ErrorBody
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Errorf("%d is not in the error form: %v: %q", r.StatusCode, err, body)
		return api.ErrorDetail{}
	}
	e := doc.Error
	if e.Code.Status() != r.StatusCode {
		t.Errorf("status %d, want %d for code %q", r.StatusCode, e.Code.Status(), e.Code)
	}
	if e.Message == "" || e.RequestID == "" || e.RequestID != r.Header.Get("X-Request-Id") {
		t.Errorf("error %+v without message or request id; header %q", e, r.Header.Get("X-Request-Id"))
	}
	if e.Retryable != e.Code.Retryable() {
		t.Errorf("retryable %v, want %v for code %q", e.Retryable, e.Code.Retryable(), e.Code)
	}
	if diff := cmp.Diff(r.Header.Get("Content-Type"), "application/json"); diff != "" {
		t.Errorf("content type (-got +want):\n%s", diff)
	}
	if r.StatusCode == 429 || r.StatusCode == 503 {
		if r.Header.Get("Retry-After") == "" || e.RetryAfterMs < 1000 {
			t.Errorf("%d without advice: Retry-After %q, retry_after_ms %d", r.StatusCode, r.Header.Get("Retry-After"), e.RetryAfterMs)
		}
	}
	if bytes.Contains(body, []byte(errSecret.Error())) {
		t.Errorf("the inner text was sent: %s", body)
	}
	return e
}

// logBuffer keeps what was logged. It is safe for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
