package runs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// report commits results of a quantum.
func (w *world) report(worker string, q *api.Quantum, results ...api.ItemResult) (api.Committed, error) {
	return w.as(worker).CommitQuantum(w.ctx(), q.ID, api.CommitSpec{Fence: q.Fence, Results: results})
}

// broken is the result of an item that failed.
func broken(id string) api.ItemResult {
	return api.ItemResult{ID: id, Status: api.ItemFailed, Error: &api.Failure{Code: "odd", Message: "no"}}
}

func TestCommitSaysWhyAResultWasIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 1_000 })
	r := w.submit("acme", batch(6))
	old := w.claim("w1") // items 0 to 3
	w.commit("w1", old, "item-0")
	w.pass(time.Second)
	fresh := w.claim("w2") // items 1 to 4
	w.commit("w2", fresh, "item-1")
	if _, err := w.as("acme").Cancel(w.ctx(), r.ID); err != nil {
		t.Fatal(err)
	}
	want := []api.IgnoredItem{
		{ID: "item-1", Reason: "stale_fence"}, // ended by another
		{ID: "item-2", Reason: "stale_fence"}, // held by another
		{ID: "item-5", Reason: "cancelled"},   // never granted, and cancelled
		{ID: "elsewhere", Reason: "unknown"},
	}
	got := w.commit("w1", old, "item-1", "item-0", "item-2", "item-5", "elsewhere")
	if diff := cmp.Diff(want, got.Ignored); diff != "" || !slices.Equal(got.Committed, []string{"item-0"}) {
		t.Errorf("committed %v, ignored (-want +got):\n%s", got.Committed, diff)
	}
	if diff := cmp.Diff([]api.IgnoredItem{{ID: "item-2", Reason: "cancelled"}}, w.commit("w2", fresh, "item-2").Ignored); diff != "" {
		t.Errorf("ignored of the live quantum (-want +got):\n%s", diff)
	}
}

func TestCommitSentAgainIsSafeAfterTheRunHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 1_000 })
	r := w.submit("acme", batch(2))
	old := w.claim("w1")
	w.commit("w1", old, "item-0")
	w.pass(time.Second)
	fresh := w.claim("w2")
	w.commit("w2", fresh)
	if got := w.run("acme", r.ID).Status; got != api.RunCompleted {
		t.Fatalf("got %s", got)
	}
	for range 2 {
		got := w.commit("w1", old)
		if !slices.Equal(got.Committed, []string{"item-0"}) || got.Ignored[0] != (api.IgnoredItem{ID: "item-1", Reason: "stale_fence"}) {
			t.Errorf("got %+v", got)
		}
		if got := w.commit("w2", fresh); !slices.Equal(got.Committed, []string{"item-1"}) || got.Run.Status != api.RunCompleted {
			t.Errorf("got %+v", got)
		}
	}
	_, err := w.tryCommit("w1", old, "item-1") // nothing of it was ever this fence's
	code(t, err, api.StaleFence)
	w.pass(31 * 24 * time.Hour)
	_, err = w.tryCommit("w2", fresh)
	code(t, err, api.StaleFence)
}

// A batch that was overtaken in part: what was not is taken.
func TestCancelInBetweenEndsTheRestOfABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(4))
	q := w.claim("w1")
	w.commit("w1", q, "item-0", "item-1")
	if _, err := w.as("acme").Cancel(w.ctx(), r.ID); err != nil {
		t.Fatal(err)
	}
	got, err := w.report("w1", q, done("item-1"), done("item-2"))
	want := api.IgnoredItem{ID: "item-2", Reason: "cancelled"}
	if err != nil || !slices.Equal(got.Committed, []string{"item-1"}) || !slices.Equal(got.Ignored, []api.IgnoredItem{want}) {
		t.Errorf("got %+v and %v", got, err)
	}
	if got.Run.Status != api.RunRunning || !got.Run.CancelRequested {
		t.Errorf("got %+v, want the run to wait for the last item", got.Run)
	}
	if got, err := w.report("w1", q, broken("item-3")); err != nil || got.Run.Status != api.RunCancelled {
		t.Errorf("got %+v and %v, want a cancelled run", got, err)
	}
	var statuses []api.ItemStatus
	for _, i := range w.items("acme", r.ID) {
		statuses = append(statuses, i.Status)
	}
	if diff := cmp.Diff([]api.ItemStatus{api.ItemSucceeded, api.ItemSucceeded, api.ItemCancelled, api.ItemCancelled}, statuses); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestCommitIsStaleOnlyIfNothingIsOpenOrCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit("acme", batch(2))
	q := w.claim("w1")
	for _, results := range [][]api.ItemResult{nil, {done("ghost")}} {
		if got, err := w.report("w1", q, results...); err != nil || len(got.Committed) != 0 || len(got.Ignored) != len(results) {
			t.Errorf("with open items: got %+v and %v", got, err)
		}
	}
	w.commit("w1", q)
	if got := w.commit("w1", q, "item-0", "ghost"); len(got.Committed) != 1 || got.Ignored[0].Reason != "unknown" {
		t.Errorf("with a committed item: got %+v", got)
	}
	for _, results := range [][]api.ItemResult{nil, {done("ghost")}} {
		_, err := w.report("w1", q, results...)
		code(t, err, api.StaleFence)
	}
}

func TestResultsThatMakeNoSenseAreRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(2))
	q := w.claim("w1")
	object, failure := json.RawMessage(`{}`), &api.Failure{Message: "no"}
	costing := func(cost int64) api.ItemResult {
		result := done("item-1")
		result.Cost = &cost
		return result
	}
	cases := map[string]struct {
		bad   api.ItemResult
		field string
	}{
		"no id":                 {api.ItemResult{Status: api.ItemSucceeded, Result: object}, "results[1].id"},
		"an id twice":           {done("item-0"), "results[1].id"},
		"no status":             {api.ItemResult{ID: "item-1", Result: object}, "results[1].status"},
		"status of a worker's":  {api.ItemResult{ID: "item-1", Status: api.ItemCancelled}, "results[1].status"},
		"no result":             {api.ItemResult{ID: "item-1", Status: api.ItemSucceeded}, "results[1].result"},
		"null":                  {api.ItemResult{ID: "item-1", Status: api.ItemSucceeded, Result: json.RawMessage("null")}, "results[1].result"},
		"an array":              {api.ItemResult{ID: "item-1", Status: api.ItemSucceeded, Result: json.RawMessage("[1]")}, "results[1].result"},
		"result and error":      {api.ItemResult{ID: "item-1", Status: api.ItemSucceeded, Result: object, Error: failure}, "results[1].error"},
		"failure with a result": {api.ItemResult{ID: "item-1", Status: api.ItemFailed, Result: object, Error: failure}, "results[1].result"},
		"failure without error": {api.ItemResult{ID: "item-1", Status: api.ItemFailed}, "results[1].error"},
		"error says nothing":    {api.ItemResult{ID: "item-1", Status: api.ItemFailed, Error: &api.Failure{Code: "x"}}, "results[1].error.message"},
		"long code":             {api.ItemResult{ID: "item-1", Status: api.ItemFailed, Error: &api.Failure{Code: strings.Repeat("x", 65), Message: "no"}}, "results[1].error.code"},
		"cost below nothing":    {costing(-1), "results[1].cost"},
		"cost beyond bounds":    {costing(1_000_000_000_001), "results[1].cost"},
		"too large":             {api.ItemResult{ID: "item-1", Status: api.ItemSucceeded, Result: sized(1<<20 + 1)}, "results[1].result"},
	}
	for name, c := range cases {
		_, err := w.report("w1", q, done("item-0"), c.bad)
		if e := api.AsError(err); err == nil || e.Code.Status() != 422 || e.Field != c.field {
			t.Errorf("%s: got %v at %q, want 422 at %s", name, err, e.Field, c.field)
		}
	}
	if got := w.run("acme", r.ID).Progress; got != (api.Progress{Total: 2, Running: 2}) {
		t.Errorf("got %+v, want nothing taken", got)
	}
}

// sized is an object of n bytes.
func sized(n int) json.RawMessage {
	return json.RawMessage(`{"x":"` + strings.Repeat("y", n-len(`{"x":""}`)) + `"}`)
}

func TestResultsOfAMebibyteAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(1))
	large := sized(1 << 20)
	spaced := slices.Concat([]byte(" { "), large[1:len(large)-1], []byte("\n}")) // it is the compact size that counts
	if _, err := w.report("w1", w.claim("w1"), api.ItemResult{ID: "item-0", Status: api.ItemSucceeded, Result: spaced}); err != nil {
		t.Fatal(err)
	}
	if got := w.items("acme", r.ID)[0].Result; string(got) != string(large) {
		t.Errorf("got a result of %d bytes, want %d", len(got), len(large))
	}
}

func TestTwoResultsForOneItemAreOfTheFirstCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.submit("acme", batch(2))
	q := w.claim("w1")
	if _, err := w.report("w1", q, done("item-0")); err != nil {
		t.Fatal(err)
	}
	again, err := w.report("w1", q, broken("item-0"))
	if err != nil || !slices.Equal(again.Committed, []string{"item-0"}) {
		t.Errorf("got %+v and %v, want it to count as committed", again, err)
	}
	if got := w.items("acme", r.ID)[0]; got.Status != api.ItemSucceeded || got.Error != nil || string(got.Result) != `{"of":"item-0"}` {
		t.Errorf("got %+v, want what was committed first", got)
	}
}

// posted carries out a worker's request as its route does, with an idempotency key.
func (w *world) posted(worker, path, id, key, body string) (namespace.Outcome, error) {
	w.t.Helper()
	for _, route := range runs.Class(runs.Options{}).Routes {
		if route.Path != path || route.Command == nil {
			continue
		}
		request := &namespace.Request{Body: []byte(body), Path: map[string]string{"id": id}, Base: "/ns/test/api/v2"}
		command, err := route.Command(request)
		if err != nil {
			return namespace.Outcome{}, err
		}
		idem := namespace.Idempotency{Key: key, Scope: "POST " + path + id, BodySHA256: sha256.Sum256([]byte(body))}
		return w.ns.Do(w.ctx(), namespace.Call{Class: "runs", Caller: namespace.Caller{Principal: worker}, Command: command, Idempotency: idem})
	}
	w.t.Fatalf("there is no route %s", path)
	return namespace.Outcome{}, nil
}

func TestClaimAndCommitWithAKeyAreAnsweredAgainByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit("acme", batch(2))
	claimed, err := w.posted("w1", "/quanta:claim", "", "k1", `{"pool":"durable"}`)
	if err != nil {
		t.Fatal(err)
	}
	quanta := claimed.Answer.Body.(*api.Quanta)
	q := quanta.Quantum
	body := `{"fence":` + fmt.Sprint(q.Fence) + `,"results":[{"id":"item-0","status":"succeeded","result":{"x":1}}]}`
	committed, err := w.posted("w1", "/quanta/{id}:commit", q.ID, "k2", body)
	if err != nil {
		t.Fatal(err)
	}
	w.commit("w1", q) // the second item, and with it the run
	w.reopen(time.Second)
	for _, again := range []struct {
		first                  namespace.Outcome
		path, key, sent, other string
		id                     string
	}{
		{claimed, "/quanta:claim", "k1", `{"pool":"durable"}`, `{"pool":"slow"}`, ""},
		{committed, "/quanta/{id}:commit", "k2", body, `{"fence":1}`, q.ID},
	} {
		got, err := w.posted("w1", again.path, again.id, again.key, again.sent)
		if err != nil || !got.Replayed {
			t.Fatalf("%s: got %+v and %v, want a replay", again.path, got, err)
		}
		want, _ := again.first.Answer.Encoded()
		if bytes, _ := got.Answer.Encoded(); len(want) == 0 || string(bytes) != string(want) {
			t.Errorf("%s: got\n%s, want\n%s", again.path, bytes, want)
		}
		_, err = w.posted("w1", again.path, again.id, again.key, again.other)
		code(t, err, api.IdempotencyConflict)
	}
}

// What changed nothing is carried out anew, and leaves nothing behind.
func TestWithoutEffectNoAnswerIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := func() int64 { return w.number(`SELECT count(*) FROM ns_idempotency`) }
	if got, err := w.posted("w1", "/quanta:claim", "", "k1", `{"pool":"durable"}`); err != nil || got.Answer.Body.(*api.Quanta).Idle == nil || records() != 0 {
		t.Fatalf("claim of nothing: got %+v, %v and %d records", got, err, records())
	}
	w.submit("acme", batch(2))
	got, err := w.posted("w1", "/quanta:claim", "", "k1", `{"pool":"durable"}`)
	if err != nil || got.Answer.Body.(*api.Quanta).Quantum == nil {
		t.Fatalf("the same claim when there is work: got %+v and %v", got, err)
	}
	q := got.Answer.Body.(*api.Quanta).Quantum
	before := records()
	body := `{"fence":` + fmt.Sprint(q.Fence) + `,"results":[{"id":"item-0","status":"succeeded","result":{}}]}`
	for n, effect := range []int64{1, 0} { // the second commit finds its item committed
		if _, err := w.posted("w1", "/quanta/{id}:commit", q.ID, fmt.Sprint("c", n), body); err != nil {
			t.Fatal(err)
		}
		if got := records() - before; got != effect {
			t.Errorf("commit %d: %d records, want %d", n, got, effect)
		}
		before = records()
	}
	if _, err := w.posted("w1", "/quanta/{id}:commit", q.ID, "c2", `{"fence":`+fmt.Sprint(q.Fence)+`}`); err != nil || records() != before {
		t.Errorf("empty commit: got %v and %d more records", err, records()-before)
	}
}

// Two processes that hold one key, and believe in one quantum, agree on what came of it.
func TestTwoProcessesWithOneQuantumAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		r := w.submit("acme", batch(4))
		q := w.claim("w1")
		var both [2]api.Committed
		var wg sync.WaitGroup
		for n := range both {
			wg.Go(func() {
				spec := api.CommitSpec{Fence: q.Fence}
				for _, i := range q.Items {
					spec.Results = append(spec.Results, api.ItemResult{ID: i.ID, Status: api.ItemSucceeded, Result: json.RawMessage(fmt.Sprintf(`{"by":%d}`, n))})
				}
				var err error
				if both[n], err = w.as("w1").CommitQuantum(w.ctx(), q.ID, spec); err != nil {
					t.Errorf("process %d: %v", n, err)
				}
			})
		}
		wg.Wait()
		for n, got := range both {
			if len(got.Committed) != 4 || len(got.Ignored) != 0 || got.Run.Status != api.RunCompleted {
				t.Errorf("process %d: got %+v", n, got)
			}
		}
		items := w.items("acme", r.ID)
		for _, i := range items {
			if string(i.Result) != string(items[0].Result) {
				t.Errorf("%s has the result %s, and %s %s", i.ID, i.Result, items[0].ID, items[0].Result)
			}
		}
		if got := len(w.events("acme", r.ID)); got != 7 {
			t.Errorf("%d events, want one end for every item", got)
		}
	}
}

// A commit of results for a thousand items that are not the quantum's is judged at once.
func TestEveryResultOfALargeCommitGetsItsReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit("acme", batch(1_000))
	old := w.claim("w1")
	w.claim("w2")
	var ids []string
	for n := range 500 {
		ids = append(ids, fmt.Sprint("item-", n), fmt.Sprint("ghost-", n))
	}
	got := w.commit("w1", old, ids...)
	if len(got.Committed) != 4 || len(got.Ignored) != 996 {
		t.Fatalf("committed %d and ignored %d", len(got.Committed), len(got.Ignored))
	}
	for n, i := range got.Ignored {
		want := "stale_fence" // pending or held by another
		if strings.HasPrefix(i.ID, "ghost") {
			want = "unknown"
		}
		if i.Reason != want {
			t.Fatalf("%d: %s is ignored for %s, want %s", n, i.ID, i.Reason, want)
		}
	}
}
