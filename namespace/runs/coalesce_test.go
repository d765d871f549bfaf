package runs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// consenting makes the tenants consent to coalescing.
func consenting(tenants ...string) func(*namespace.Settings) {
	return func(s *namespace.Settings) {
		s.Tenants = map[string]api.TenantSettings{}
		for _, tenant := range tenants {
			s.Tenants[tenant] = api.TenantSettings{Coalesce: true}
		}
	}
}

func batchOf(items int) func(*namespace.Settings) {
	return func(s *namespace.Settings) { s.BatchItems = items }
}

// sharing is a run of n items with a shared document.
func sharing(n int, shared string) api.RunSpec {
	spec := batch(n)
	spec.Shared = map[string]json.RawMessage{"s": json.RawMessage(shared)}
	return spec
}

// together asks for a quantum and what goes with it: for every one, the run and its
// items.
func (w *world) together(worker string, most int) ([]api.Quantum, []string) {
	w.t.Helper()
	spec := api.QuantumSpec{Pool: api.PoolDurable}
	if most > 0 {
		spec.MaxItems = &most
	}
	got, err := w.as(worker).ClaimQuanta(w.ctx(), spec)
	if err != nil || got.Quantum == nil {
		w.t.Fatalf("claim: got %+v and %v", got.Quantum, err)
	}
	all := append([]api.Quantum{*got.Quantum}, got.Also...)
	var told []string
	for _, q := range all {
		told = append(told, fmt.Sprintf("%s: %d", *q.Run, len(q.Items)))
	}
	return all, told
}

func TestOnlyWhatIsAlikeAndConsentedIsComputedInOneGo(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		consent []string
		second  func() api.RunSpec
		batch   int
		most    int
		want    int // quanta
	}{
		{"alike and consented", []string{"a", "b"}, func() api.RunSpec { return sharing(1, `1`) }, 4, 0, 2},
		{"written in another order of bytes", []string{"a", "b"}, func() api.RunSpec { return sharing(1, ` 1 `) }, 4, 0, 2},
		{"nobody consents", nil, func() api.RunSpec { return sharing(1, `1`) }, 4, 0, 1},
		{"the first does not", []string{"b"}, func() api.RunSpec { return sharing(1, `1`) }, 4, 0, 1},
		{"the second does not", []string{"a"}, func() api.RunSpec { return sharing(1, `1`) }, 4, 0, 1},
		{"another shared document", []string{"a", "b"}, func() api.RunSpec { return sharing(1, `2`) }, 4, 0, 1},
		{"no shared document", []string{"a", "b"}, func() api.RunSpec { return batch(1) }, 4, 0, 1},
		{"another kind", []string{"a", "b"}, func() api.RunSpec { s := sharing(1, `1`); s.Kind = "twin"; return s }, 4, 0, 1},
		{"no room in a batch", []string{"a", "b"}, func() api.RunSpec { return sharing(1, `1`) }, 1, 0, 1},
		{"no room at the worker", []string{"a", "b"}, func() api.RunSpec { return sharing(1, `1`) }, 4, 1, 1},
	}
	for _, c := range cases {
		w := newWorld(t, consenting(c.consent...), batchOf(c.batch), func(s *namespace.Settings) { s.Kinds["twin"] = s.Kinds["work"] })
		w.submit("a", sharing(1, `1`))
		w.submit("b", c.second())
		if got, _ := w.together("w1", c.most); len(got) != c.want {
			t.Errorf("%s: got %d quanta, want %d", c.name, len(got), c.want)
		}
	}
}

func TestABatchIsFilledInFairOrderAndChargedAsPicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, consenting("a", "b", "c"), batchOf(7))
	c := w.submit("c", sharing(20, `1`))
	w.together("w0", 4) // c has attained 40 before the others come
	// Whoever comes starts level with c; then a's and b's turns are before c's.
	a, b := w.submit("a", sharing(3, `1`)), w.submit("b", sharing(20, `1`))
	_, told := w.together("w1", 0)
	want := []string{a.ID + ": 3", b.ID + ": 4"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("first batch (-want +got):\n%s", diff)
	}
	// c stands at 40, b at 80: c's quantum is first. Then both stand at 80, and b was
	// picked longer ago.
	_, told = w.together("w1", 0)
	if diff := cmp.Diff([]string{c.ID + ": 4", b.ID + ": 3"}, told); diff != "" {
		t.Errorf("second batch (-want +got):\n%s", diff)
	}
	attained := func(tenant string) int64 { return w.number(`SELECT attained FROM runs_tenant WHERE name = ?`, tenant) }
	if a, b, c := attained("a"), attained("b"), attained("c"); a != 40+30 || b != 40+70 || c != 40+40 {
		t.Errorf("attained: got a %d, b %d, c %d; want 70, 110, 80", a, b, c)
	}
}

// Tenants that share a batch share nothing else.
func TestWhatIsComputedInOneGoIsCommittedApart(t *testing.T) {
	t.Parallel()
	tenants := []string{"a", "b", "c"}
	w := newWorld(t, consenting(tenants...), batchOf(9))
	owner := map[string]string{}
	for _, tenant := range tenants {
		spec := sharing(3, `1`)
		for n := range spec.Items {
			spec.Items[n].Payload["canary"] = json.RawMessage(`"payload of ` + tenant + `"`)
		}
		owner[w.submit(tenant, spec).ID] = tenant
	}
	quanta, told := w.together("w1", 0)
	if len(quanta) != 3 {
		t.Fatalf("got %v, want three quanta", told)
	}
	for n, q := range quanta {
		tenant := owner[*q.Run]
		for _, i := range q.Items {
			if !strings.Contains(string(i.Payload), "payload of "+tenant) {
				t.Errorf("quantum of %s has the payload %s", tenant, i.Payload)
			}
		}
		// The fence of one quantum opens no other.
		other := quanta[(n+1)%3]
		_, err := w.as("w1").CommitQuantum(w.ctx(), q.ID, api.CommitSpec{Fence: other.Fence, Results: []api.ItemResult{done("item-0")}})
		code(t, err, api.StaleFence)
		spec := api.CommitSpec{Fence: q.Fence}
		for _, i := range q.Items {
			spec.Results = append(spec.Results, api.ItemResult{ID: i.ID, Status: api.ItemSucceeded, Result: json.RawMessage(`{"of":"` + tenant + `"}`)})
		}
		got, err := w.as("w1").CommitQuantum(w.ctx(), q.ID, spec)
		if err != nil || got.Run.ID != *q.Run || got.Run.Status != api.RunCompleted {
			t.Fatalf("commit for %s: got %+v and %v", tenant, got, err)
		}
	}
	for id, tenant := range owner {
		for _, i := range w.items(tenant, id) {
			if string(i.Result) != `{"of":"`+tenant+`"}` {
				t.Errorf("%s of %s has the result %s", i.ID, tenant, i.Result)
			}
		}
		for _, other := range tenants {
			if _, err := w.as(other).Run(w.ctx(), id); (err == nil) != (other == tenant) {
				t.Errorf("%s reads a run of %s: %v", other, tenant, err)
			}
		}
		stray := w.number(`SELECT count(*) FROM runs_outcome o JOIN runs_run r ON r.id = o.id >> 10
			WHERE r.tenant = ? AND o.result <> ?`, tenant, `{"of":"`+tenant+`"}`)
		if stray != 0 {
			t.Errorf("%d outcomes of %s are another's", stray, tenant)
		}
	}
}

// One tenant's lost quantum is its own.
func TestAReleasedQuantumLeavesTheRestOfItsBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, consenting("a", "b"), batchOf(4))
	a, b := w.submit("a", sharing(2, `1`)), w.submit("b", sharing(2, `1`))
	quanta, _ := w.together("w1", 0)
	at := slices.IndexFunc(quanta, func(q api.Quantum) bool { return *q.Run == a.ID })
	if len(quanta) != 2 {
		t.Fatalf("got %d quanta", len(quanta))
	}
	if _, err := w.as("w1").ReleaseQuantum(w.ctx(), quanta[at].ID, api.QuantumReleaseSpec{Fence: quanta[at].Fence}); err != nil {
		t.Fatal(err)
	}
	w.commit("w1", &quanta[1-at])
	if got := w.run("a", a.ID).Progress; got.Pending != 2 {
		t.Errorf("a: got %+v, want both back", got)
	}
	if got := w.run("b", b.ID).Status; got != api.RunCompleted {
		t.Errorf("b: got %s", got)
	}
}
