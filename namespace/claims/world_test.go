package claims_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skerryhq/skerry/actors/actorstest"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a runtime on a real file with a clock that stands still.
type world struct {
	t        *testing.T
	dir      string
	clock    *actorstest.Clock
	settings namespace.Settings
	rt       *namespace.Runtime
	ns       namespace.Namespace
	// sent counts the submissions of command.
	sent int
}

// newWorld opens a runtime whose settings the functions may have changed.
func newWorld(t *testing.T, change ...func(*namespace.Settings)) *world {
	t.Helper()
	w := &world{
		t: t, dir: t.TempDir(), settings: namespace.DefaultSettings(),
		clock: actorstest.NewClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)),
	}
	w.settings.IdleTimeoutMs = (1000 * time.Hour).Milliseconds()
	w.settings.ClaimInitialConcurrency = 1024
	for _, c := range change {
		c(&w.settings)
	}
	w.open()
	t.Cleanup(func() {
		if err := w.rt.Close(); err != nil {
			t.Errorf("close runtime: %v", err)
		}
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	rt, err := namespace.Open(w.ctx(), w.dir, namespace.Options{
		Classes: []namespace.Class{claims.Class()}, Defaults: &w.settings, Clock: w.clock,
	})
	if err != nil {
		w.t.Fatalf("open runtime: %v", err)
	}
	w.rt, w.ns = rt, rt.Namespace("test")
	if _, err := rt.Create(w.ctx(), "test"); err != nil {
		w.t.Fatalf("create namespace: %v", err)
	}
}

// reopen closes the runtime and opens it again, when the clock shows a time
// later by jump, which may be negative.
func (w *world) reopen(jump time.Duration) {
	w.t.Helper()
	if err := w.rt.Close(); err != nil {
		w.t.Fatalf("close runtime: %v", err)
	}
	w.clock = actorstest.NewClock(w.clock.Now().Add(jump))
	w.open()
}

func (w *world) ctx() context.Context { return w.t.Context() }

func (w *world) as(principal string) claims.Service {
	return claims.Of(w.ns, namespace.Caller{Principal: principal})
}

// look runs a query's body.
type look func(v *namespace.View) error

func (l look) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	return namespace.Answer{}, l(v)
}

// number reads one number from the file.
func (w *world) number(sql string, args ...any) int64 {
	w.t.Helper()
	var n int64
	_, err := w.ns.Read(w.ctx(), "claims", namespace.Caller{Principal: "test"}, look(func(v *namespace.View) error {
		_, err := v.QueryRow(sql, args, &n)
		return err
	}))
	if err != nil {
		w.t.Fatalf("read number: %v", err)
	}
	return n
}

// write carries out a statement of the test's own.
type write struct {
	sql  string
	args []any
}

func (w write) Apply(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Exec(w.sql, w.args...)
	return namespace.Answer{}, err
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	call := namespace.Call{Class: "claims", Caller: namespace.Caller{Principal: "test"}, Command: write{sql, args}}
	if _, err := w.ns.Do(w.ctx(), call); err != nil {
		w.t.Fatalf("write: %v", err)
	}
}

func (w *world) verb(spec api.VerbSpec) api.Verb {
	w.t.Helper()
	if spec.Kind == "" {
		spec.Kind = "k"
	}
	if spec.Artifact == "" {
		spec.Artifact = "out/a"
	}
	v, err := w.as("producer").CreateVerb(w.ctx(), spec)
	if err != nil {
		w.t.Fatalf("create verb: %v", err)
	}
	return v
}

func (w *world) group(spec api.VerbSpec, attempts int) api.VerbGroup {
	w.t.Helper()
	spec.Kind, spec.Artifact, spec.Attempts = "k", "out/a", &attempts
	g, err := w.as("producer").CreateGroup(w.ctx(), spec)
	if err != nil {
		w.t.Fatalf("create group: %v", err)
	}
	return g
}

func (w *world) noun(key, body string) api.Noun {
	w.t.Helper()
	n, err := w.as("producer").CreateNoun(w.ctx(), api.NounSpec{Key: key, Content: text(body)})
	if err != nil {
		w.t.Fatalf("create noun: %v", err)
	}
	return n
}

// claim claims exactly one verb.
func (w *world) claim(principal string) api.Claim {
	w.t.Helper()
	got := w.claims(principal, api.ClaimSpec{})
	if len(got.Claims) != 1 {
		w.t.Fatalf("claim of %s: got %d claims, want 1", principal, len(got.Claims))
	}
	return got.Claims[0]
}

func (w *world) claims(principal string, spec api.ClaimSpec) api.Claims {
	w.t.Helper()
	got, err := w.as(principal).Claim(w.ctx(), spec)
	if err != nil {
		w.t.Fatalf("claim of %s: %v", principal, err)
	}
	return got
}

func (w *world) submit(principal string, c api.Claim, body string) api.Submitted {
	w.t.Helper()
	got, err := w.as(principal).Submit(w.ctx(), c.ID, api.SubmitSpec{Fence: c.Fence, Output: text(body)}, "")
	if err != nil {
		w.t.Fatalf("submit of %s: %v", principal, err)
	}
	return got
}

func (w *world) fail(principal string, c api.Claim, final bool, retryAfterMs int64) api.Verb {
	w.t.Helper()
	got, err := w.as(principal).Fail(w.ctx(), c.ID, api.FailSpec{
		Fence: c.Fence, Error: api.Failure{Code: "broken", Message: "it broke"}, Final: final, RetryAfterMs: &retryAfterMs,
	})
	if err != nil {
		w.t.Fatalf("fail of %s: %v", principal, err)
	}
	return got.Verb
}

// await waits until the verb is in the state: an alarm goes off on its own.
func (w *world) await(id string, state api.VerbState) api.Verb {
	w.t.Helper()
	for {
		v, err := w.as("producer").Verb(w.ctx(), id)
		if err != nil {
			w.t.Fatalf("read verb: %v", err)
		}
		if v.State == state {
			return v
		}
		if v.State.Ended() {
			w.t.Fatalf("verb %s: got state %s, want %s", id, v.State, state)
		}
	}
}

func (w *world) wantState(id string, state api.VerbState) api.Verb {
	w.t.Helper()
	v, err := w.as("producer").Verb(w.ctx(), id)
	if err != nil {
		w.t.Fatalf("read verb: %v", err)
	}
	if v.State != state {
		w.t.Fatalf("verb %s: got state %s, want %s", id, v.State, state)
	}
	return v
}

// wantCode checks that err is an error of the code.
func wantCode(t *testing.T, err error, code api.Code) *api.Error {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	return e
}

func text(body string) api.Content { return api.Content{Body: &body} }

func keys(names ...string) []api.Input {
	inputs := make([]api.Input, len(names))
	for i, n := range names {
		inputs[i].Key = n
	}
	return inputs
}

func ptr[T any](v T) *T { return &v }

func numbered(format string, n int) string { return fmt.Sprintf(format, n) }

func patch(name, value string) map[string]json.RawMessage {
	return map[string]json.RawMessage{name: json.RawMessage(value)}
}
