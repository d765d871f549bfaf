package runs_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors/actorstest"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/storage/storagetest"
)

// tables are those whose rows a command of the class may change.
var tables = []string{
	"runs_run", "runs_state", "runs_item", "runs_work", "runs_outcome", "runs_quantum", "runs_tenant", "runs_record", "ns_event", "ns_idempotency",
}

// dump is every row of the tables.
func (w *world) dump() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	_, err := w.ns.Read(w.ctx(), "runs", namespace.Caller{Principal: "test"}, look(func(v *namespace.View) error {
		for _, table := range tables {
			var columns, rows string
			_, err := v.QueryRow(`SELECT group_concat('quote(' || name || ')', ' || '','' || ') FROM pragma_table_info(?)`, []any{table}, &columns)
			if err == nil {
				_, err = v.QueryRow(`SELECT coalesce(group_concat(`+columns+`, char(10)), '') FROM `+table, nil, &rows)
			}
			if err != nil {
				return err
			}
			all[table] = rows
		}
		return nil
	}))
	if err != nil {
		w.t.Fatalf("dump: %v", err)
	}
	return all
}

// wantSound holds the file against the invariants of the package, and the memory
// against the file: a second runtime, which knows only a copy of the file, must pick
// the same.
func (w *world) wantSound() {
	w.t.Helper()
	for what, sql := range unsound {
		if n := w.number(sql); n != 0 {
			w.t.Errorf("%d %s", n, what)
		}
	}
	other := &world{t: w.t, dir: copyOf(w.t, w.dir), settings: w.settings, clock: actorstest.NewClock(w.clock.Now())}
	defer os.RemoveAll(other.dir)
	other.open()
	defer other.rt.Close()
	for more := true; more; {
		there, errThere := other.as("w").ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable})
		here, err := w.as("w").ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable})
		if err := errors.Join(err, errThere); err != nil {
			w.t.Fatal(err)
		}
		if diff := cmp.Diff(picked(here), picked(there)); diff != "" {
			w.t.Fatalf("picks (-in memory +read from the file):\n%s", diff)
		}
		if more = here.Quantum != nil; more {
			w.commit("w", here.Quantum)
			other.commit("w", there.Quantum)
		}
	}
	if n := w.number(`SELECT sum(runs + items + cells + bytes) FROM runs_tenant`); n != w.number(`SELECT coalesce(sum(1 + r.items + r.cells + r.bytes), 0)
		FROM runs_run r JOIN runs_state s ON s.id = r.id WHERE s.ended_at = 0`) {
		w.t.Errorf("%d is reserved", n)
	}
}

// trial is a world with two tenants' runs, some of it at work, and a command to be
// disturbed.
type trial struct {
	*world
	runs   map[string]string // by tenant
	q      *api.Quantum
	worker string
}

func newTrial(w *world) *trial {
	x := &trial{world: w, runs: map[string]string{}, worker: "w1"}
	for _, tenant := range []string{"a", "b"} {
		x.runs[tenant] = w.submit(tenant, batch(9)).ID
	}
	x.q = w.claim(x.worker)
	w.claim("w2")
	w.commit(x.worker, x.q, "item-0")
	return x
}

// commands are those that may be disturbed. Each can be given again.
var commands = map[string]func(x *trial) error{
	"submit": func(x *trial) error {
		_, err := x.as("c").Submit(x.ctx(), batch(3), "key")
		return err
	},
	"claim": func(x *trial) error {
		got, err := x.as(x.worker).ClaimQuanta(x.ctx(), api.QuantumSpec{Pool: api.PoolDurable})
		if err == nil && got.Quantum == nil {
			err = errors.New("there was no quantum")
		}
		return err
	},
	"commit": func(x *trial) error {
		_, err := x.report(x.worker, x.q, done("item-1"), broken("item-2"), done("item-3"))
		return err
	},
	"give back": func(x *trial) error {
		_, err := x.as(x.worker).CommitQuantum(x.ctx(), x.q.ID, api.CommitSpec{Fence: x.q.Fence, Results: []api.ItemResult{done("item-2")}, Done: true})
		return err
	},
	"release": func(x *trial) error {
		_, err := x.as(x.worker).ReleaseQuantum(x.ctx(), x.q.ID, api.QuantumReleaseSpec{Fence: x.q.Fence})
		return err
	},
	"cancel": func(x *trial) error {
		_, err := x.as("b").Cancel(x.ctx(), x.runs["b"])
		return err
	},
}

// stumbles are statements of the class that may fail, by the commands that make them.
var stumbles = map[string]string{
	"INSERT ON runs_run": "submit", "INSERT ON runs_item": "submit", "INSERT ON runs_record": "submit",
	"INSERT ON runs_tenant": "submit", "UPDATE ON runs_tenant": "submit claim commit release cancel give back",
	"INSERT ON ns_event": "submit commit release cancel give back", "UPDATE ON runs_state": "submit claim commit release cancel give back",
	"UPDATE ON runs_work": "claim commit release cancel give back", "INSERT ON runs_quantum": "claim",
	"DELETE ON runs_quantum": "commit release give back", "INSERT ON runs_outcome": "commit give back",
}

// A command that fails half way through has done nothing, in the file and in memory.
func TestCommandThatFailsHalfWayHasDoneNothing(t *testing.T) {
	t.Parallel()
	for statement, names := range stumbles {
		for name, command := range commands {
			if !strings.Contains(names, name) {
				continue
			}
			t.Run(name+" and "+statement, func(t *testing.T) {
				t.Parallel()
				x := newTrial(newWorld(t, func(s *namespace.Settings) { s.Durability = "relaxed" }))
				x.exec(`CREATE TRIGGER stumble BEFORE ` + statement + ` BEGIN SELECT RAISE(ABORT, 'stumbled'); END`)
				before := x.dump()
				if err := command(x); err == nil || api.IsCode(err, api.StaleFence) {
					t.Fatalf("got %v of a command that must have failed", err)
				}
				if diff := cmp.Diff(before, x.dump()); diff != "" {
					t.Errorf("rows (-before +after):\n%s", diff)
				}
				x.exec(`DROP TRIGGER stumble`)
				if err := command(x); err != nil {
					t.Fatalf("the second time: %v", err)
				}
				x.wantSound()
			})
		}
	}
}

// exec carries out a statement of the test's own.
func (w *world) exec(sql string) {
	w.t.Helper()
	if _, err := w.ns.Do(w.ctx(), namespace.Call{Class: "runs", Caller: namespace.Caller{Principal: "test"}, Command: write(sql)}); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// onFaultyDisk is a world on a disk that misbehaves at a test's will.
func onFaultyDisk(t *testing.T) (*world, *storagetest.VFS) {
	t.Helper()
	vfs := storagetest.NewVFS(t, "faulty")
	return newWorldWith(t, func(w *world) { w.vfs = vfs.Name() }), vfs
}

// A commit that did not become durable is one that is told to nobody; what is in the
// file after it is all of it or nothing.
func TestSyncThatFailsLeavesAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, command := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, vfs := onFaultyDisk(t)
			x := newTrial(w)
			before := x.dump()
			vfs.Files("ns-test.sqlite-wal").FailSync(1)
			err := command(x)
			if e := api.AsError(err); err == nil || e.Code.Status() != 503 {
				t.Fatalf("got %v, want 503", err)
			}
			x.recovered()
			after := x.dump()
			if diff := cmp.Diff(before, after); diff == "" {
				if err := command(x); err != nil {
					t.Fatalf("the second time: %v", err)
				}
			}
			x.wantSound()
		})
	}
}

// recovered waits until the namespace has started again.
func (w *world) recovered() {
	w.t.Helper()
	for {
		_, err := w.ns.Do(w.ctx(), namespace.Call{Class: "runs", Caller: namespace.Caller{Principal: "test"}, Command: nothing{}})
		if err == nil {
			return
		}
		if api.AsError(err).Code.Status() != 503 {
			w.t.Fatalf("recover: %v", err)
		}
	}
}

func TestFullDiskRefusesRunsAndLetsWorkEnd(t *testing.T) {
	t.Parallel()
	w, vfs := onFaultyDisk(t)
	x := newTrial(w)
	vfs.Full(true)
	before := x.dump()
	large := batch(1_000)
	large.Metadata = sized(16 << 10)
	_, err := x.as("c").Submit(x.ctx(), large, "key")
	if e := code(t, err, api.StorageUnavailable); e.Reason != "disk full" {
		t.Errorf("got reason %q", e.Reason)
	}
	if diff := cmp.Diff(before, x.dump()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
	if got := x.commit(x.worker, x.q); len(got.Committed) != 4 {
		t.Errorf("commit on a full disk: got %+v", got)
	}
	if got, err := x.as("b").Cancel(x.ctx(), x.runs["b"]); err != nil || !got.CancelRequested {
		t.Errorf("cancel on a full disk: got %+v and %v", got, err)
	}
	vfs.Full(false)
	if got, err := x.as("c").Submit(x.ctx(), large, "key"); err != nil || got.Progress.Pending != 1_000 {
		t.Errorf("with room again: got %+v and %v", got, err)
	}
	if n := x.number(`SELECT items FROM runs_tenant WHERE name = 'c'`); n != 1_000 {
		t.Errorf("%d items are reserved, want those of the one run", n)
	}
	for what, sql := range unsound {
		if n := x.number(sql); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
