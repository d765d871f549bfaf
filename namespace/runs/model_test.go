package runs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/actors/actorstest"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// machine carries out the same commands on the model and on the service.
type machine struct {
	*world
	rt    *rapid.T
	m     naive
	fence int64 // the last one
	// reopened counts how often it was to open the runtime again.
	reopened int
}

// Settings under which the machine runs.
const (
	modelItems = 3
	modelCost  = 40
	modelBatch = 5
)

func modelSettings(s *namespace.Settings) {
	two, timeout := naiveAttempts, naiveTimeout.Milliseconds()
	kind := api.Kind{Pool: api.KindPool{Durable: true}, Cost: api.Measure{Field: "/cost", Value: 10}, MaxAttempts: &two, TimeoutMs: &timeout}
	s.Durability = "relaxed"
	s.Kinds = map[string]api.Kind{"work": kind, "twin": kind}
	s.Tenants = map[string]api.TenantSettings{"a": {Coalesce: true}, "b": {Coalesce: true}}
	s.QuantumItems, s.QuantumCost, s.BatchItems = modelItems, modelCost, modelBatch
	s.Budgets.Runs, s.Budgets.Items = 3, 20
}

func (x *machine) submitOne() {
	r := &naiveRun{
		tenant: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(x.rt, "tenant"), changed: true,
		kind: rapid.SampledFrom([]string{"work", "work", "twin"}).Draw(x.rt, "kind"), shared: rapid.SampledFrom([]string{"1", "2"}).Draw(x.rt, "shared"),
	}
	spec := api.RunSpec{Kind: r.kind, Shared: map[string]json.RawMessage{"s": json.RawMessage(r.shared)}}
	for n := range rapid.IntRange(1, 9).Draw(x.rt, "items") {
		i := &naiveItem{name: fmt.Sprintf("item-%d", n), cost: int64(rapid.IntRange(0, 30).Draw(x.rt, "cost")), status: api.ItemPending}
		r.items = append(r.items, i)
		spec.Items = append(spec.Items, api.RunItemSpec{Payload: map[string]json.RawMessage{"cost": json.RawMessage(fmt.Sprint(i.cost))}})
	}
	runs, items := x.m.used(r.tenant)
	got, err := x.as(r.tenant).Submit(x.ctx(), spec, "")
	if runs+1 > 3 || items+int64(len(r.items)) > 20 {
		x.wantCode(err, api.TenantRunQuotaExceeded)
		return
	}
	x.must(err)
	r.id = got.ID
	x.m.runs = append(x.m.runs, r)
}

// ask is a request for work that the machine makes up.
func (x *machine) ask() (worker string, spec api.QuantumSpec) {
	most := rapid.IntRange(1, 6).Draw(x.rt, "max items")
	lease := int64(rapid.IntRange(1, 8).Draw(x.rt, "lease")) * 1000
	return rapid.SampledFrom([]string{"w1", "w2"}).Draw(x.rt, "worker"), api.QuantumSpec{
		Pool: api.PoolDurable, MaxItems: &most, LeaseMs: &lease,
		Kinds: rapid.SampledFrom([][]string{nil, {"work"}, {"twin"}, {"twin", "other", "work"}}).Draw(x.rt, "kinds"),
	}
}

func (x *machine) take() { x.takeAs(x.ask()) }

// takeAs claims, and holds what comes against the model.
func (x *machine) takeAs(worker string, spec api.QuantumSpec) api.Quanta {
	candidates := x.m.candidates(spec.Kinds)
	got, err := x.as(worker).ClaimQuanta(x.ctx(), spec)
	x.must(err)
	if (got.Quantum == nil) != (len(candidates) == 0) {
		x.rt.Fatalf("claim: got %+v with %d candidates", got.Quantum, len(candidates))
	}
	if got.Quantum == nil {
		return got
	}
	room := *spec.MaxItems
	first := x.granted(worker, spec, got.Quantum, candidates, min(room, modelItems))
	room = min(room, modelBatch) - len(first.items)
	for n := range got.Also {
		q := x.granted(worker, spec, &got.Also[n], candidates, min(room, modelItems))
		room -= len(q.items)
		if a, b := first.run, q.run; a.kind != b.kind || a.shared != b.shared || a.tenant == "c" || b.tenant == "c" {
			x.rt.Fatalf("computed in one go: %s of %s, %s and %s of %s, %s", a.kind, a.tenant, a.shared, b.kind, b.tenant, b.shared)
		}
	}
	for _, r := range x.m.candidates([]string{first.run.kind}) {
		if room > 0 && first.run.tenant != "c" && r.tenant != "c" && r.shared == first.run.shared {
			x.rt.Fatalf("there was room for %d items, and %d of %s fit", room, r.count(api.ItemPending), r.tenant)
		}
	}
	return got
}

// granted holds one quantum against the model, and grants it there.
func (x *machine) granted(worker string, spec api.QuantumSpec, q *api.Quantum, candidates []*naiveRun, most int) *naiveQuantum {
	at := slices.IndexFunc(candidates, func(r *naiveRun) bool { return r.id == *q.Run })
	if at < 0 {
		x.rt.Fatalf("granted %+v, which is no candidate", q)
	}
	r := candidates[at]
	n := &naiveQuantum{id: q.ID, worker: worker, fence: q.Fence, run: r, length: time.Duration(*spec.LeaseMs) * time.Millisecond}
	n.items = r.due(most, modelCost)
	var got, want []string
	for _, i := range q.Items {
		got = append(got, fmt.Sprintf("%s for the %d. time", i.ID, i.AttemptCount))
	}
	for _, i := range n.items {
		want = append(want, fmt.Sprintf("%s for the %d. time", i.name, i.attempts+1))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		x.rt.Fatalf("items of quantum (-want +got):\n%s", diff)
	}
	if q.Fence <= x.fence {
		x.rt.Fatalf("fence %d after %d", q.Fence, x.fence)
	}
	x.fence = q.Fence
	x.m.grant(n)
	if !q.ExpiresAt.Equal(n.until) {
		x.rt.Fatalf("granted until %v, want %v", q.ExpiresAt, n.until)
	}
	return n
}

// held draws a quantum that was ever granted, mostly a late one.
func (x *machine) held() *naiveQuantum {
	if len(x.m.quanta) == 0 {
		return nil
	}
	n := len(x.m.quanta)
	return x.m.quanta[max(n-1-rapid.IntRange(0, 5).Draw(x.rt, "quantum"), 0)]
}

func (x *machine) commitSome() {
	q := x.held()
	if q == nil {
		return
	}
	spec := api.CommitSpec{Fence: q.fence, Done: rapid.IntRange(0, 3).Draw(x.rt, "done") == 0}
	names := []string{"ghost"}
	for _, i := range q.run.items {
		names = append(names, i.name)
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID).Draw(x.rt, "results") {
		result := done(name)
		if rapid.IntRange(0, 3).Draw(x.rt, "failed") == 0 {
			result = api.ItemResult{ID: name, Status: api.ItemFailed, Error: &api.Failure{Code: "odd", Message: "no"}}
		}
		if rapid.Bool().Draw(x.rt, "measured") {
			cost := int64(rapid.IntRange(0, 99).Draw(x.rt, "actual"))
			result.Cost = &cost
		}
		spec.Results = append(spec.Results, result)
	}
	committed, ignored, stale := x.m.commit(q, spec.Results, spec.Done)
	got, err := x.as(q.worker).CommitQuantum(x.ctx(), q.id, spec)
	if stale {
		x.wantCode(err, api.StaleFence)
		return
	}
	x.must(err)
	if diff := cmp.Diff([]any{committed, ignored, q.run.status()}, []any{got.Committed, got.Ignored, got.Run.Status}); diff != "" {
		x.rt.Fatalf("commit (-want +got):\n%s", diff)
	}
}

// misuse is refused whatever stands behind it.
func (x *machine) misuse() {
	q := x.held()
	if q == nil {
		return
	}
	_, err := x.as(q.worker).CommitQuantum(x.ctx(), q.id, api.CommitSpec{Fence: q.fence + 1, Results: []api.ItemResult{done("item-0")}})
	x.wantCode(err, api.StaleFence)
	_, err = x.as("thief").CommitQuantum(x.ctx(), q.id, api.CommitSpec{Fence: q.fence, Results: []api.ItemResult{done("item-0")}})
	x.wantCode(err, api.NotFound)
}

func (x *machine) beat() {
	q := x.held()
	if q == nil {
		return
	}
	length := int64(rapid.IntRange(1, 12).Draw(x.rt, "lease")) * 1000
	got, err := x.as(q.worker).HeartbeatQuantum(x.ctx(), q.id, api.HeartbeatSpec{Fence: q.fence, LeaseMs: &length})
	if q.over {
		x.wantCode(err, api.StaleFence)
		return
	}
	x.must(err)
	q.length = time.Duration(length) * time.Millisecond
	x.m.renew(q)
	if !got.ExpiresAt.Equal(q.until) || got.CancelRequested != q.run.cancelling {
		x.rt.Fatalf("heartbeat: got %+v, want until %v and cancelled %t", got, q.until, q.run.cancelling)
	}
}

func (x *machine) giveBack() {
	q := x.held()
	if q == nil {
		return
	}
	got, err := x.as(q.worker).ReleaseQuantum(x.ctx(), q.id, api.QuantumReleaseSpec{Fence: q.fence})
	if q.over {
		x.wantCode(err, api.StaleFence)
		return
	}
	x.must(err)
	if want := x.m.end(q, false); !slices.Equal(got.Returned, want) || got.Run.Status != q.run.status() {
		x.rt.Fatalf("release: got %+v, want %v and %s", got, want, q.run.status())
	}
}

func (x *machine) cancelOne() {
	if len(x.m.runs) == 0 {
		return
	}
	r := rapid.SampledFrom(x.m.runs).Draw(x.rt, "run")
	got, err := x.as(r.tenant).Cancel(x.ctx(), r.id)
	if !r.cancel() {
		x.wantCode(err, api.RunTerminal)
		return
	}
	x.must(err)
	if got.Status != r.status() || got.CancelRequested != !r.ended() {
		x.rt.Fatalf("cancel: got %+v, want %s", got, r.status())
	}
}

func (x *machine) advance() {
	d := time.Duration(rapid.IntRange(1, 9_000).Draw(x.rt, "ms")) * time.Millisecond
	x.clock.Advance(d)
	x.m.pass(d)
}

func (x *machine) again() {
	if x.reopened++; x.reopened != 2 {
		return // once a case is enough: it takes its time
	}
	name := x.ns.Name()
	x.world.reopen(0)
	x.ns = x.world.rt.Namespace(name)
}

// fork holds what is picked from now on against the picks of a second runtime, which
// knows only the file.
func (x *machine) fork() {
	for range 4 {
		x.submitOne()
	}
	x.take()
	for x.number(`SELECT count(*) FROM runs_state WHERE pending > 0 AND waiting_since <= ?`, x.m.now.UnixMilli()-5_000) > 0 {
		x.take() // whether the last pick was by aging is not kept
	}
	other := &world{t: x.t, dir: copyOf(x.rt, x.dir), settings: x.settings, clock: actorstest.NewClock(x.clock.Now())}
	defer os.RemoveAll(other.dir)
	other.open()
	defer other.rt.Close()
	other.ns = other.rt.Namespace(x.ns.Name())
	for more := true; more; { // to the end: what is restored badly shows in some pick
		worker, spec := x.ask()
		spec.Kinds = nil
		there, err := other.as(worker).ClaimQuanta(x.ctx(), spec)
		x.must(err)
		here := x.takeAs(worker, spec)
		if diff := cmp.Diff(picked(here), picked(there)); diff != "" {
			x.rt.Fatalf("picks (-in memory +read from the file):\n%s", diff)
		}
		more = here.Quantum != nil
	}
}

// picked is what was granted, but for the fences.
func picked(q api.Quanta) []string {
	if q.Quantum == nil {
		return nil
	}
	var got []string
	for _, one := range append([]api.Quantum{*q.Quantum}, q.Also...) {
		for _, i := range one.Items {
			got = append(got, *one.Run+" "+i.ID)
		}
	}
	return got
}

// copyOf is a data directory as a process that dies now leaves it.
func copyOf(t interface{ Fatalf(string, ...any) }, dir string) string {
	to, err := os.MkdirTemp("", "runs")
	if err == nil {
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			rel, relErr := filepath.Rel(dir, path)
			switch {
			case err != nil || relErr != nil:
				return err
			case d.IsDir():
				return os.MkdirAll(filepath.Join(to, rel), 0o700)
			case filepath.Ext(path) == ".sqlite-shm":
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, rel), content, 0o600)
		})
	}
	if err != nil {
		t.Fatalf("copy data directory: %v", err)
	}
	return to
}

func (x *machine) must(err error) {
	if err != nil {
		x.rt.Fatal(err)
	}
}

func (x *machine) wantCode(err error, want api.Code) {
	if !api.IsCode(err, want) {
		x.rt.Fatalf("got error %v, want %s", err, want)
	}
}

func TestServiceDoesWhatTheModelSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelSettings)
	spaces, most := 0, 15 // each makes a namespace, which takes its time
	if f := flag.Lookup("rapid.checks"); f.Value.String() != f.DefValue {
		most = math.MaxInt
	}
	rapid.Check(t, func(rt *rapid.T) {
		if spaces++; spaces > most {
			return
		}
		name := fmt.Sprintf("model%d", spaces)
		if _, err := w.rt.Create(w.ctx(), name); err != nil {
			rt.Fatal(err)
		}
		w.ns = w.rt.Namespace(name)
		x := &machine{world: w, rt: rt, m: naive{now: w.clock.Now()}}
		rt.Repeat(map[string]func(*rapid.T){
			"submit": func(*rapid.T) { x.submitOne() }, "claim": func(*rapid.T) { x.take() }, "claim again": func(*rapid.T) { x.take() },
			"commit": func(*rapid.T) { x.commitSome() }, "commit again": func(*rapid.T) { x.commitSome() },
			"misuse": func(*rapid.T) { x.misuse() }, "heartbeat": func(*rapid.T) { x.beat() }, "release": func(*rapid.T) { x.giveBack() },
			"cancel": func(*rapid.T) { x.cancelOne() }, "advance": func(*rapid.T) { x.advance() },
			"reopen": func(*rapid.T) { x.again() }, "": func(*rapid.T) { x.check() },
		})
		x.fork()
		x.check()
		if err := w.rt.Delete(w.ctx(), name); err != nil {
			rt.Fatal(err)
		}
	})
}
