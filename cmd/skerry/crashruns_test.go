package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// Tenants submit and cancel runs and workers work on them while the node is killed
// again and again. What was acknowledged must be there after each start: every run
// once, every committed result as it was, events without a gap, and at the end no
// budget that is still reserved.
func TestCrashesUnderRunsLoseNothingAcknowledged(t *testing.T) {
	n := startNode(t)
	settings := map[string]json.RawMessage{
		"kinds":            json.RawMessage(`{"k":{"pool":"durable","max_attempts":100,"cost":{"field":"/cost","default":1}}}`),
		"budgets":          json.RawMessage(`{"runs":20,"items":200}`),
		"quantum_lease_ms": json.RawMessage(`1500`),
	}
	operator := n.operator(t)
	if _, err := operator.CreateNamespace(t.Context(), "storm"); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.PatchSettings(t.Context(), "storm", settings); err != nil {
		t.Fatal(err)
	}
	l := &runLedger{runs: map[string]*ledgerRun{}, fences: map[int64]bool{}}
	var crowd []*runActor
	for i := range 2 {
		a := newRunActor(l, i, fmt.Sprintf("t%d", i), n.key(t, "storm", fmt.Sprintf("t%d", i), api.RoleProducer))
		a.step = a.produce
		crowd = append(crowd, a)
	}
	for i := range 4 {
		a := newRunActor(l, 100+i, fmt.Sprintf("w%d", i), n.key(t, "storm", fmt.Sprintf("w%d", i), api.RoleWorker))
		a.step = a.work
		crowd = append(crowd, a)
	}
	moments := rand.New(rand.NewPCG(*crashSeed, 998))
	for crash := range *crashes {
		killUnderRuns(n, crowd, time.Duration(100+moments.IntN(500))*time.Millisecond)
		n.start(t)
		for _, a := range crowd {
			a.sendAgain(n.url())
			if a.err != nil {
				t.Errorf("%s: %v", a.name, a.err)
			}
		}
		l.audit(t, n, crowd)
		if t.Failed() {
			t.Fatalf("after crash %d of seed %d", crash+1, *crashSeed)
		}
	}
	l.drain(t, n, crowd)
	l.audit(t, n, crowd)
	l.released(t, n, crowd)
	t.Log(l.summary())
}

func killUnderRuns(n *process, crowd []*runActor, after time.Duration) {
	var wg sync.WaitGroup
	for _, a := range crowd {
		wg.Go(func() {
			for a.step(n.url()) {
			}
		})
	}
	time.AfterFunc(after, func() { n.cmd.Process.Kill() })
	n.cmd.Wait()
	wg.Wait()
}

// runLedger is what the node has acknowledged.
type runLedger struct {
	mu     sync.Mutex
	runs   map[string]*ledgerRun
	order  []*ledgerRun
	fences map[int64]bool
	// committed and recovered count results, and answers that were lost and came again.
	committed, recovered int
}

type ledgerRun struct {
	id, tenant string
	items      int
	results    map[string]string // by item, as they were acknowledged
}

// runActor is one client, with at most one request under way.
type runActor struct {
	ledger    *runLedger
	name, key string
	rng       *rand.Rand
	step      func(url string) bool // false once the node is gone, or err is set
	made      int
	lost      *request
	err       error
}

func newRunActor(l *runLedger, seed int, name, key string) *runActor {
	return &runActor{ledger: l, name: name, key: key, rng: rand.New(rand.NewPCG(*crashSeed, uint64(seed)))}
}

// post sends a request and reports whether the actor may go on.
func (a *runActor) post(url, path string, body any, allowed api.Code, accept func([]byte) error) bool {
	a.made++
	encoded, err := json.Marshal(body)
	if err != nil {
		a.err = err
		return false
	}
	r := &request{key: a.key, idem: fmt.Sprintf("%s-%d", a.name, a.made), path: path, body: encoded, accept: accept, overtaken: allowed}
	status, _, answer, err := r.send(url)
	if err != nil {
		a.lost = r
		return false
	}
	a.err = a.take(r, status, answer)
	return a.err == nil
}

// sendAgain sends the request whose answer was lost once more.
func (a *runActor) sendAgain(url string) {
	r := a.lost
	if r == nil {
		return
	}
	a.lost = nil
	status, replayed, answer, err := r.send(url)
	if err == nil {
		err = a.take(r, status, answer)
	}
	if a.err = err; replayed {
		a.ledger.mu.Lock()
		a.ledger.recovered++
		a.ledger.mu.Unlock()
	}
}

func (a *runActor) take(r *request, status int, answer []byte) error {
	if status < 300 {
		return r.accept(answer)
	}
	var e api.ErrorBody
	if err := json.Unmarshal(answer, &e); err != nil {
		return fmt.Errorf("%s: %d with %q", r.path, status, answer)
	}
	if e.Error.Code == r.overtaken || status == http.StatusTooManyRequests {
		return nil
	}
	return fmt.Errorf("%s: %d %s: %s", r.path, status, e.Error.Code, e.Error.Message)
}

// produce submits a run, or cancels one.
func (a *runActor) produce(url string) bool {
	l := a.ledger
	if a.rng.IntN(8) == 0 {
		l.mu.Lock()
		var id string
		if n := len(l.order); n > 0 {
			if r := l.order[n-1-a.rng.IntN(min(n, 5))]; r.tenant == a.name {
				id = r.id
			}
		}
		l.mu.Unlock()
		if id == "" {
			return true
		}
		return a.post(url, "/runs/"+id+":cancel", struct{}{}, api.RunTerminal, func([]byte) error { return nil })
	}
	items := make([]map[string]any, 1+a.rng.IntN(9))
	for i := range items {
		items[i] = map[string]any{"n": i, "cost": a.rng.IntN(5)}
	}
	return a.post(url, "/runs", map[string]any{"kind": "k", "items": items}, "", func(answer []byte) error {
		var r api.Run
		if err := json.Unmarshal(answer, &r); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.runs[r.ID] != nil {
			return fmt.Errorf("run %s was given twice", r.ID)
		}
		made := &ledgerRun{id: r.ID, tenant: a.name, items: len(items), results: map[string]string{}}
		l.runs[r.ID], l.order = made, append(l.order, made)
		return nil
	})
}

// work takes a quantum, and commits it item by item, gives it back or leaves it.
func (a *runActor) work(url string) bool {
	var q *api.Quantum
	l := a.ledger
	if !a.post(url, "/quanta:claim", map[string]any{"pool": "durable", "wait_ms": 200}, "", func(answer []byte) error {
		var got api.Quanta
		if err := json.Unmarshal(answer, &got); err != nil || got.Quantum == nil {
			return err
		}
		q = got.Quantum
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.fences[q.Fence] {
			return fmt.Errorf("fence %d was given twice", q.Fence)
		}
		l.fences[q.Fence] = true
		return nil
	}) {
		return false
	}
	if q == nil {
		return true
	}
	switch p := a.rng.IntN(12); {
	case p == 0:
		return true // its lease runs out
	case p == 1:
		return a.post(url, "/quanta/"+q.ID+":release", map[string]any{"fence": q.Fence}, api.StaleFence, func([]byte) error { return nil })
	}
	for len(q.Items) > 0 {
		n := 1 + a.rng.IntN(len(q.Items))
		spec := api.CommitSpec{Fence: q.Fence}
		for _, item := range q.Items[:n] {
			result := fmt.Sprintf(`{"by":"%s","fence":%d}`, a.name, q.Fence)
			spec.Results = append(spec.Results, api.ItemResult{ID: item.ID, Status: api.ItemSucceeded, Result: json.RawMessage(result)})
		}
		q.Items = q.Items[n:]
		run := *q.Run
		if !a.post(url, "/quanta/"+q.ID+":commit", spec, api.StaleFence, func(answer []byte) error { return l.commit(run, spec, answer) }) {
			return false
		}
	}
	return true
}

// commit notes the results that were taken.
func (l *runLedger) commit(run string, spec api.CommitSpec, answer []byte) error {
	var got api.Committed
	if err := json.Unmarshal(answer, &got); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.runs[run]
	if r == nil {
		return nil // its producer has not seen the answer yet
	}
	for _, id := range got.Committed {
		for _, result := range spec.Results {
			if result.ID != id {
				continue
			}
			if before, ok := r.results[id]; ok && before != string(result.Result) {
				return fmt.Errorf("item %s of %s was committed twice", id, run)
			}
			r.results[id] = string(result.Result)
			l.committed++
		}
	}
	return nil
}

// audit holds everything that was acknowledged against the node.
func (l *runLedger) audit(t *testing.T, n *process, crowd []*runActor) {
	t.Helper()
	for _, a := range crowd[:2] {
		c := n.client(t, "storm", a.key)
		seen := map[string]bool{}
		for r, err := range c.Runs(t.Context(), "", &client.ListOptions{PageSize: 1000}) {
			if err != nil {
				t.Fatal(err)
			}
			seen[r.ID] = true
			l.auditRun(t, c, &r)
		}
		for _, r := range l.order {
			if r.tenant == a.name && !seen[r.id] {
				t.Errorf("run %s was acknowledged and is gone", r.id)
			}
		}
		if len(seen) > len(l.order) {
			t.Errorf("there are %d runs of %s, and %d were acknowledged in all", len(seen), a.name, len(l.order))
		}
	}
}

func (l *runLedger) auditRun(t *testing.T, c *client.Client, r *api.Run) {
	t.Helper()
	known := l.runs[r.ID]
	if known == nil {
		t.Errorf("run %s is there, and its answer never came, not even when it was asked for again", r.ID)
		return
	}
	// Leases end meanwhile, so what is read last knows most.
	results := map[string]string{}
	for item, err := range c.RunResults(t.Context(), r.ID, &client.ResultOptions{PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		results[item.ID] = string(item.Result)
	}
	last, then := int64(0), 0
	ended := map[string]int{}
	for e, err := range c.RunEvents(t.Context(), r.ID, &client.EventOptions{PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		if last++; e.Sequence != last {
			t.Fatalf("run %s: event %d where %d should be", r.ID, e.Sequence, last)
		}
		switch e.Type {
		case "item.succeeded", "item.failed", "item.cancelled":
			ended[e.ItemID]++
			if e.Sequence <= r.LastEventSequence {
				then++
			}
		}
	}
	p := r.Progress
	if p.Total != known.items || p.Pending+p.Running+p.Succeeded+p.Failed+p.Cancelled != p.Total || then != p.Succeeded+p.Failed+p.Cancelled {
		t.Errorf("run %s: progress %+v of %d items, %d with an event of their end by then", r.ID, p, known.items, then)
	}
	for id := range results {
		if ended[id] != 1 {
			t.Errorf("run %s: item %s has ended in %d events", r.ID, id, ended[id])
		}
	}
	for id, want := range known.results {
		if results[id] != want {
			t.Errorf("run %s: item %s has result %s, and %s was acknowledged", r.ID, id, results[id], want)
		}
	}
}

// drain lets one worker end everything.
func (l *runLedger) drain(t *testing.T, n *process, crowd []*runActor) {
	t.Helper()
	worker := n.client(t, "storm", n.key(t, "storm", "drain", api.RoleWorker))
	wait := int64(2_000) // longer than a lease: what nobody holds any more is seen
	for {
		got, err := worker.ClaimQuanta(t.Context(), api.QuantumSpec{Pool: api.PoolDurable, WaitMs: &wait})
		if err != nil {
			t.Fatal(err)
		}
		q := got.Quantum
		if q == nil {
			return
		}
		spec := api.CommitSpec{Fence: q.Fence}
		for _, item := range q.Items {
			spec.Results = append(spec.Results, api.ItemResult{ID: item.ID, Status: api.ItemSucceeded, Result: json.RawMessage(`{"by":"drain"}`)})
		}
		if _, err := worker.CommitQuantum(t.Context(), q.ID, spec); err != nil && !api.IsCode(err, api.StaleFence) {
			t.Fatal(err)
		}
	}
}

// released wants every run ended and every budget free: a run that takes all of it is
// admissible.
func (l *runLedger) released(t *testing.T, n *process, crowd []*runActor) {
	t.Helper()
	whole := api.RunSpec{Kind: "k", Items: make([]api.RunItemSpec, 200)}
	for _, a := range crowd[:2] {
		c := n.client(t, "storm", a.key)
		for r, err := range c.Runs(t.Context(), "", nil) {
			if err != nil || !r.Status.Ended() {
				t.Fatal(errors.Join(err, fmt.Errorf("run %s is %s", r.ID, r.Status)))
			}
		}
		if e, err := c.EstimateRun(t.Context(), whole); err != nil || !e.Admissible {
			t.Errorf("%s: the whole budget is not free: %+v, %v", a.name, e, err)
		}
	}
}

func (l *runLedger) summary() string {
	return fmt.Sprintf("%d runs, %d results, %d quanta, %d answers recovered", len(l.runs), l.committed, len(l.fences), l.recovered)
}
