package namespace_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// world is a runtime with one namespace on real files.
type world struct {
	t       testing.TB
	dir     string
	options namespace.Options
	runtime *namespace.Runtime
	namespace.Namespace
}

// newWorld opens a runtime with the class depot and makes the namespace "a".
func newWorld(t testing.TB, edit ...func(*namespace.Options)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), options: namespace.Options{Classes: []namespace.Class{depot(nil)}}}
	for _, e := range edit {
		e(&w.options)
	}
	w.open()
	t.Cleanup(func() { w.runtime.Close() })
	w.create("a")
	w.Namespace = w.runtime.Namespace("a")
	return w
}

func withPowers(p *powers) func(*namespace.Options) {
	return func(o *namespace.Options) { o.Classes = []namespace.Class{depot(p)} }
}

func withSettings(edit func(*namespace.Settings)) func(*namespace.Options) {
	return func(o *namespace.Options) {
		s := namespace.DefaultSettings()
		edit(&s)
		o.Defaults = &s
	}
}

func (w *world) open() {
	w.t.Helper()
	r, err := namespace.Open(w.t.Context(), w.dir, w.options)
	if err != nil {
		w.t.Fatalf("open runtime: %v", err)
	}
	w.runtime, w.Namespace = r, r.Namespace("a")
}

func (w *world) create(name string) {
	w.t.Helper()
	if created, err := w.runtime.Create(w.t.Context(), name); err != nil || !created {
		w.t.Fatalf("create %s: %v %v", name, created, err)
	}
}

// restart ends the runtime, properly or not, and opens another one.
func (w *world) restart(properly bool) {
	w.t.Helper()
	end := w.runtime.Close
	if properly {
		end = func() error { return w.runtime.Shutdown(w.t.Context()) }
	}
	if err := end(); err != nil {
		w.t.Fatalf("end runtime: %v", err)
	}
	w.open()
}

// crashCopy is the data directory as a process that dies now leaves it. No
// checkpoint may be in course.
func (w *world) crashCopy() string {
	w.t.Helper()
	dir := w.t.TempDir()
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(dir, rel), 0o700)
		}
		if filepath.Ext(path) == ".sqlite-shm" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), content, 0o600)
	})
	if err != nil {
		w.t.Fatalf("copy data directory: %v", err)
	}
	return dir
}

// me is who asks where it does not matter.
var me = namespace.Caller{Principal: "me"}

func as(principal string) namespace.Caller { return namespace.Caller{Principal: principal} }

// call is a command of the depot.
func call(c namespace.Command) namespace.Call {
	return namespace.Call{Class: "depot", Caller: me, Command: c}
}

func callAs(principal string, c namespace.Command) namespace.Call {
	return namespace.Call{Class: "depot", Caller: as(principal), Command: c}
}

// keyed is a command of the depot with an idempotency key and a body.
func keyed(key, body string, c namespace.Command) namespace.Call {
	k := call(c)
	k.Idempotency = namespace.Idempotency{Key: key, Scope: "POST /x"}
	copy(k.Idempotency.BodySHA256[:], body)
	return k
}

// must carries out a command that has to succeed.
func (w *world) must(c namespace.Call) namespace.Outcome {
	w.t.Helper()
	out, err := w.try(c)
	if err != nil {
		w.t.Fatalf("command: %v", err)
	}
	return out
}

// try carries out a command, which has to be answered within a minute.
func (w *world) try(c namespace.Call) (namespace.Outcome, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	return w.Do(ctx, c)
}

// fails carries out a command that has to fail with the code.
func (w *world) fails(c namespace.Call, code api.Code) *api.Error {
	w.t.Helper()
	_, err := w.try(c)
	return wantCode(w.t, err, code)
}

func wantCode(t testing.TB, err error, code api.Code) *api.Error {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	return e
}

// items are the rows of the depot.
func (w *world) items() []item {
	w.t.Helper()
	var all []item
	_, err := w.Read(w.t.Context(), "depot", me, ask(func(_ context.Context, v *namespace.View) (a namespace.Answer, err error) {
		all, err = items(v)
		return namespace.Answer{}, err
	}))
	if err != nil {
		w.t.Fatalf("read items: %v", err)
	}
	return all
}

// status is the state of admission as an admin sees it.
func (w *world) status() api.AdmissionStatus {
	w.t.Helper()
	s, err := w.Admission(w.t.Context(), namespace.Caller{Principal: "admin", Roles: []api.Role{api.RoleAdmin}})
	if err != nil {
		w.t.Fatalf("admission: %v", err)
	}
	return s
}

// count reads one number.
func (w *world) count(sql string) int64 {
	w.t.Helper()
	var n int64
	_, err := w.Read(w.t.Context(), "depot", me, ask(func(_ context.Context, v *namespace.View) (namespace.Answer, error) {
		_, err := v.QueryRow(sql, nil, &n)
		return namespace.Answer{}, err
	}))
	if err != nil {
		w.t.Fatalf("count: %v", err)
	}
	return n
}

// patch changes settings.
func (w *world) patch(document string) api.Namespace {
	w.t.Helper()
	var patch map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &patch); err != nil {
		w.t.Fatal(err)
	}
	doc, err := w.PatchSettings(w.t.Context(), patch)
	if err != nil {
		w.t.Fatalf("patch settings: %v", err)
	}
	return doc
}

// stats are the figures of namespace a.
func (w *world) stats() namespace.Stats {
	w.t.Helper()
	for s := range w.runtime.Stats() {
		if s.Namespace == "a" {
			return s
		}
	}
	w.t.Fatal("namespace a is not active")
	return namespace.Stats{}
}

// describe is what the operator sees of the namespace.
func (w *world) describe() api.Namespace {
	w.t.Helper()
	doc, err := w.Describe(w.t.Context())
	if err != nil {
		w.t.Fatalf("describe: %v", err)
	}
	return doc
}

// active reports whether a namespace is listed, and whether it is active.
func (w *world) active(name string) (listed, active bool) {
	w.t.Helper()
	refs, _, err := w.runtime.List(w.t.Context(), "", false, 1000)
	if err != nil {
		w.t.Fatalf("list: %v", err)
	}
	for _, r := range refs {
		if r.Name == name {
			return true, r.Active
		}
	}
	return false, false
}

// key makes an API key.
func (w *world) key(principal string, roles ...api.Role) api.Key {
	w.t.Helper()
	if len(roles) == 0 {
		roles = []api.Role{api.RoleWorker}
	}
	k, err := w.CreateKey(w.t.Context(), api.KeySpec{Principal: principal, Roles: roles})
	if err != nil {
		w.t.Fatalf("create key: %v", err)
	}
	return k
}

// recovered waits until a namespace that has failed is open again: requests that
// come before that are told to try again.
func (w *world) recovered() {
	w.t.Helper()
	for {
		_, err := w.try(call(act(func(*namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, nil })))
		if err == nil {
			return
		}
		if e := api.AsError(err); e.Code.Status() != 503 {
			w.t.Fatalf("recover: %v", err)
		}
	}
}
