package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skerryhq/skerry/actors/actorstest"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a runtime on a real file with a clock that stands still. It knows the kinds
// "work", of cost 10 and two attempts, and "call", a singular one.
type world struct {
	t        *testing.T
	dir      string
	clock    *actorstest.Clock
	settings namespace.Settings
	rt       *namespace.Runtime
	ns       namespace.Namespace
	// vfs names the file system under the files, and log gets what is logged.
	vfs string
	log *slog.Logger
}

// newWorld opens a runtime whose settings the functions may have changed.
func newWorld(t *testing.T, change ...func(*namespace.Settings)) *world {
	t.Helper()
	return newWorldWith(t, func(*world) {}, change...)
}

// newWorldWith opens a runtime of a world that edit has prepared.
func newWorldWith(t *testing.T, edit func(*world), change ...func(*namespace.Settings)) *world {
	t.Helper()
	w := &world{
		t: t, dir: t.TempDir(), settings: namespace.DefaultSettings(),
		clock: actorstest.NewClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)),
	}
	edit(w)
	w.settings.IdleTimeoutMs = (8_000 * time.Hour).Milliseconds()
	two, tenSeconds := 2, int64(10_000)
	w.settings.Kinds = map[string]api.Kind{
		"work": {Pool: api.KindPool{Durable: true}, Cost: api.Measure{Value: 10}, MaxAttempts: &two, TimeoutMs: &tenSeconds},
		"call": {Pool: api.KindPool{PerScorer: map[string]string{"*": "default", "heavy": "slow"}}, MaxAttempts: &two, TimeoutMs: &tenSeconds},
	}
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
		Classes: []namespace.Class{runs.Class(runs.Options{})}, Defaults: &w.settings, Clock: w.clock,
		VFS: w.vfs, Logger: w.log,
	})
	if err != nil {
		w.t.Fatalf("open runtime: %v", err)
	}
	w.rt, w.ns = rt, rt.Namespace("test")
	if _, err := rt.Create(w.ctx(), "test"); err != nil {
		w.t.Fatalf("create namespace: %v", err)
	}
}

// reopen closes the runtime and opens it again, when the clock shows a time later by
// jump, which may be negative.
func (w *world) reopen(jump time.Duration) {
	w.t.Helper()
	if err := w.rt.Close(); err != nil {
		w.t.Fatalf("close runtime: %v", err)
	}
	w.clock = actorstest.NewClock(w.clock.Now().Add(jump))
	w.open()
}

func (w *world) ctx() context.Context { return w.t.Context() }

// as is the service for a principal and tenant of one name.
func (w *world) as(name string) runs.Service {
	return runs.Of(w.ns, namespace.Caller{Principal: name})
}

// batch is a run of the kind work with n items.
func batch(n int) api.RunSpec {
	spec := api.RunSpec{Kind: "work"}
	for i := range n {
		spec.Items = append(spec.Items, api.RunItemSpec{Payload: map[string]json.RawMessage{"n": json.RawMessage(fmt.Sprint(i))}})
	}
	return spec
}

// submit admits a run that must be admitted.
func (w *world) submit(tenant string, spec api.RunSpec) api.Run {
	w.t.Helper()
	r, err := w.as(tenant).Submit(w.ctx(), spec, "")
	if err != nil {
		w.t.Fatalf("submit: %v", err)
	}
	return r
}

// claim asks for a quantum of runs, and must get one.
func (w *world) claim(worker string) *api.Quantum {
	w.t.Helper()
	q, err := w.as(worker).ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable})
	if err != nil {
		w.t.Fatalf("claim: %v", err)
	}
	if q.Quantum == nil {
		w.t.Fatal("there was no quantum")
	}
	return q.Quantum
}

// idle asserts that there is nothing to do.
func (w *world) idle() {
	w.t.Helper()
	q, err := w.as("idle").ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable})
	if err != nil || q.Quantum != nil {
		w.t.Fatalf("got quantum %+v and error %v, want nothing to do", q.Quantum, err)
	}
	if q.Idle == nil || q.Idle.PollAfterMs <= 0 {
		w.t.Errorf("got idle %+v, want advice", q.Idle)
	}
}

// done is a result for an item.
func done(id string) api.ItemResult {
	return api.ItemResult{ID: id, Status: api.ItemSucceeded, Result: json.RawMessage(`{"of":"` + id + `"}`)}
}

// commit reports that items of a quantum succeeded: those named, or all.
func (w *world) commit(worker string, q *api.Quantum, ids ...string) api.Committed {
	w.t.Helper()
	c, err := w.tryCommit(worker, q, ids...)
	if err != nil {
		w.t.Fatalf("commit: %v", err)
	}
	return c
}

func (w *world) tryCommit(worker string, q *api.Quantum, ids ...string) (api.Committed, error) {
	spec := api.CommitSpec{Fence: q.Fence}
	if len(ids) == 0 {
		for _, i := range q.Items {
			ids = append(ids, i.ID)
		}
	}
	for _, id := range ids {
		spec.Results = append(spec.Results, done(id))
	}
	return w.as(worker).CommitQuantum(w.ctx(), q.ID, spec)
}

// run reads a run.
func (w *world) run(tenant, id string) api.Run {
	w.t.Helper()
	r, err := w.as(tenant).Run(w.ctx(), id)
	if err != nil {
		w.t.Fatalf("read run: %v", err)
	}
	return r
}

// events are all events of a run.
func (w *world) events(tenant, id string) []string {
	w.t.Helper()
	page, err := w.as(tenant).Events(w.ctx(), id, 0, 0, 1000)
	if err != nil {
		w.t.Fatalf("read events: %v", err)
	}
	var types []string
	for n, e := range page.Data {
		if e.Sequence != int64(n)+1 {
			w.t.Fatalf("event %d has the number %d", n+1, e.Sequence)
		}
		types = append(types, e.Type)
	}
	return types
}

// items are all items of a run.
func (w *world) items(tenant, id string) []*api.RunItem {
	w.t.Helper()
	page, err := w.as(tenant).Items(w.ctx(), id, "", runs.Page{Limit: 1000})
	if err != nil {
		w.t.Fatalf("read items: %v", err)
	}
	return page.Data
}

// pass lets time go by, and alarms that fall due go off.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.clock.Advance(d)
	w.settle()
}

// settle waits until the alarms that are due have gone off.
func (w *world) settle() {
	w.t.Helper()
	for range 3 {
		if _, err := w.ns.Do(w.ctx(), namespace.Call{Class: "runs", Caller: namespace.Caller{Principal: "test"}, Command: nothing{}}); err != nil {
			w.t.Fatalf("settle: %v", err)
		}
	}
}

// nothing is a command that comes behind everything else.
type nothing struct{}

func (nothing) Apply(*namespace.Turn) (namespace.Answer, error) {
	return namespace.Answer{NoEffect: true}, nil
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
	_, err := w.ns.Read(w.ctx(), "runs", namespace.Caller{Principal: "test"}, look(func(v *namespace.View) error {
		_, err := v.QueryRow(sql, args, &n)
		return err
	}))
	if err != nil {
		w.t.Fatalf("read number: %v", err)
	}
	return n
}

// code asserts an error's code.
func code(t *testing.T, err error, want api.Code) *api.Error {
	t.Helper()
	if err == nil || !api.IsCode(err, want) {
		t.Fatalf("got error %v, want %s", err, want)
	}
	return api.AsError(err)
}
