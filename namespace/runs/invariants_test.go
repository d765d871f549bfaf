package runs_test

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// expire ends the leases that are due: a request that can get nothing does so, as the
// alarm does at its own pace.
func (x *machine) expire() {
	got, err := x.as("nobody").ClaimQuanta(x.ctx(), api.QuantumSpec{Pool: api.PoolDurable, Kinds: []string{"none"}})
	x.must(err)
	if got.Quantum != nil {
		x.rt.Fatalf("claim of no kind: got %+v", got.Quantum)
	}
}

// check holds the file against the model, and against itself.
func (x *machine) check() {
	x.expire()
	x.sound()
	file, model := x.inFile(), x.inModel()
	if diff := cmp.Diff(model, file); diff != "" {
		x.rt.Fatalf("file (-want +got):\n%s", diff)
	}
	for _, r := range x.m.runs {
		if r.changed {
			x.checkEvents(r)
			r.changed = false
		}
	}
}

// unsound counts, for every invariant, the rows that break it.
var unsound = map[string]string{
	"runs that ended with an open item, or not with their last": `SELECT count(*) FROM runs_state s WHERE (ended_at > 0) =
		EXISTS (SELECT 1 FROM runs_work w WHERE w.id >> 10 = s.id AND w.status IN ('pending', 'running'))`,
	"reservations that are not the sum over the runs in flight": `SELECT count(*) FROM runs_tenant t WHERE (runs, items, cells, bytes) IS NOT
		(SELECT count(*), coalesce(sum(r.items), 0), coalesce(sum(r.cells), 0), coalesce(sum(r.bytes), 0)
		FROM runs_run r JOIN runs_state s ON s.id = r.id WHERE r.tenant = t.name AND s.ended_at = 0)`,
	"counts that are not those of the items": `SELECT count(*) FROM runs_state s WHERE (pending, running, succeeded, failed, cancelled) IS NOT
		(SELECT sum(status = 'pending'), sum(status = 'running'), sum(status = 'succeeded'), sum(status = 'failed'), sum(status = 'cancelled')
		FROM runs_work w WHERE w.id >> 10 = s.id)`,
	"items with a result that did not succeed, or the reverse": `SELECT count(*) FROM runs_work w LEFT JOIN runs_outcome o ON o.id = w.id
		WHERE (w.status = 'succeeded') <> (coalesce(o.result, '') <> '') OR (w.status = 'failed') <> (coalesce(o.error, '') <> '')`,
	"running items whose quantum is not held": `SELECT count(*) FROM runs_work w WHERE status = 'running' AND NOT EXISTS
		(SELECT 1 FROM runs_quantum q WHERE q.fence = w.fence AND q.run = w.id >> 10)`,
	"quanta of which nothing is open": `SELECT count(*) FROM runs_quantum q WHERE NOT EXISTS
		(SELECT 1 FROM runs_work w WHERE w.fence = q.fence AND w.status = 'running')`,
	"quanta that are looked at too late": `SELECT count(*) FROM runs_quantum WHERE check_at > lease_until OR lease_until > deadline`,
}

// sound holds the file against the invariants of the package.
func (x *machine) sound() {
	x.look(func(v *namespace.View) error {
		for what, sql := range unsound {
			var n int64
			if _, err := v.QueryRow(sql, nil, &n); err != nil {
				return err
			}
			if n != 0 {
				x.rt.Fatalf("%d %s", n, what)
			}
		}
		return nil
	})
}

func (x *machine) look(l look) {
	_, err := x.ns.Read(x.ctx(), "runs", namespace.Caller{Principal: "test"}, l)
	x.must(err)
}

// standing is how a run stands, in a form that can be compared.
type standing struct {
	Status     api.RunStatus
	Cancelling bool
	Items      []string
}

func (x *machine) inFile() map[string]standing {
	all := map[string]standing{}
	x.look(func(v *namespace.View) error {
		rows, err := v.Query(`SELECT s.id, s.status, s.cancelling, (SELECT json_group_array(w.status || ' ' || w.attempts ORDER BY w.id)
			FROM runs_work w WHERE w.id >> 10 = s.id) FROM runs_state s ORDER BY s.id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var status, items string
			var s standing
			if err := rows.Scan(&id, &status, &s.Cancelling, &items); err != nil {
				return err
			}
			s.Status = api.RunStatus(status)
			if err := json.Unmarshal([]byte(items), &s.Items); err != nil {
				return err
			}
			all[fmt.Sprint("run ", id)] = s
		}
		return rows.Err()
	})
	return all
}

func (x *machine) inModel() map[string]standing {
	all := map[string]standing{}
	for n, r := range x.m.runs {
		s := standing{Status: r.status(), Cancelling: r.cancelling}
		for _, i := range r.items {
			s.Items = append(s.Items, fmt.Sprintf("%s %d", i.status, i.attempts))
		}
		all[fmt.Sprint("run ", n+1)] = s
	}
	return all
}

// checkEvents holds a run's events against how its items stand.
func (x *machine) checkEvents(r *naiveRun) {
	page, err := x.as(r.tenant).Events(x.ctx(), r.id, 0, 0, 1000)
	x.must(err)
	got, err := replay(r, page.Data)
	if err != nil {
		x.rt.Fatalf("events of a run: %v", err)
	}
	want := map[string]api.ItemStatus{}
	for _, i := range r.items {
		switch {
		case over(i.status):
			want[i.name] = i.status
		case i.attempts > 1 || i.attempts > 0 && i.status == api.ItemPending:
			want[i.name] = api.ItemPending // it was given back; grants are not told of
		}
	}
	if !maps.Equal(got, want) {
		x.rt.Fatalf("the events tell of %v, want %v", got, want)
	}
	if last, doc := page.Data[len(page.Data)-1], x.run(r.tenant, r.id); doc.LastEventSequence != last.Sequence {
		x.rt.Fatalf("the run's last event is %d, the last one told %d", doc.LastEventSequence, last.Sequence)
	}
}
