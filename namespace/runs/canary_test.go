package runs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// canary is in everything that a tenant or a worker sends and that must stay between
// them.
const canary = "canary7f3a9c"

// spill collects what leaves a namespace by other ways than to its tenant. It is safe
// for concurrent use.
type spill struct {
	mu  sync.Mutex
	all bytes.Buffer
	n   int
}

func (s *spill) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return s.all.Write(p)
}

// tell notes a document that is for anybody.
func (s *spill) tell(what string, doc any) {
	text, err := json.Marshal(doc)
	fmt.Fprintf(s, "%s: %s %v\n", what, text, err)
}

// refuse notes an error, as it is sent and as it is logged, which must be one.
func (s *spill) refuse(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s was not refused", what)
		return
	}
	var own *api.Error
	if !errors.As(err, &own) {
		t.Errorf("%s: got %v, which is no error of the API", what, err)
		return
	}
	s.tell(what, own)
	for e := err; e != nil; e = errors.Unwrap(e) {
		fmt.Fprintf(s, "%s: %v %+v\n", what, e, e)
	}
}

// secret is a run with the canary in all its parts.
func secret(n int) api.RunSpec {
	spec := api.RunSpec{
		Kind: "work", Metadata: json.RawMessage(`{"m` + canary + `":"` + canary + `"}`),
		Shared: map[string]json.RawMessage{"s" + canary: json.RawMessage(`"` + canary + `"`)},
	}
	for range n {
		spec.Items = append(spec.Items, api.RunItemSpec{Payload: map[string]json.RawMessage{"p" + canary: json.RawMessage(`"` + canary + `"`)}})
	}
	return spec
}

func secretResult(id string) api.ItemResult {
	return api.ItemResult{ID: id, Status: api.ItemSucceeded, Result: json.RawMessage(`{"r` + canary + `":"` + canary + `"}`)}
}

func secretFailure(id string) api.ItemResult {
	return api.ItemResult{ID: id, Status: api.ItemFailed, Error: &api.Failure{Code: canary, Message: canary}}
}

func TestNothingOfAPayloadLeavesItsTenantAndItsWorkers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		out := &spill{}
		log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w := newWorldWith(t, func(w *world) { w.log = log }, func(s *namespace.Settings) {
			s.Budgets.Items, s.QuantumLeaseMs = 20, 1_000
			kind := s.Kinds["work"]
			kind.Cost = api.Measure{Field: "/cost", Value: 1}
			s.Kinds["work"], s.Kinds["measured"] = kind, api.Kind{Pool: s.Kinds["call"].Pool, Cost: api.Measure{Field: "/cost"}}
		})
		r := w.secretLife(out)
		w.secretRefusals(out, r)
		w.secretCalls(out)
		w.secretTrouble(out)
		w.told(out, r)
		if out.n < 60 {
			t.Errorf("only %d pieces were looked at", out.n)
		}
		for line := range strings.Lines(out.all.String()) {
			if strings.Contains(line, canary) {
				t.Errorf("a payload got out: %.400s", line)
			}
		}
		// It is the canary that is looked for: its tenant reads all of it.
		if items, run := w.items("acme", r.ID), w.run("acme", r.ID); !strings.Contains(string(items[0].Result), canary) ||
			items[1].Error.Message != canary || !strings.Contains(string(run.Metadata), canary) {
			t.Errorf("the tenant itself reads %+v of %s", items[:2], run.Metadata)
		}
	})
}

// secretLife takes a run through its life: results, failures, lost and late workers, a
// cancel, a restart.
func (w *world) secretLife(out *spill) api.Run {
	w.t.Helper()
	r := w.submit("acme", secret(9))
	q := w.claim("w1")
	if _, err := w.report("w1", q, secretResult("item-0"), secretFailure("item-1")); err != nil {
		w.t.Fatal(err)
	}
	w.lapse(time.Second)
	_, err := w.report("w1", q, secretResult("item-2"))
	out.refuse(w.t, "late result", err)
	w.reopen(time.Second)
	q = w.claim("w1")
	beat, err := w.as("w1").HeartbeatQuantum(w.ctx(), q.ID, api.HeartbeatSpec{Fence: q.Fence})
	out.tell("heartbeat", []any{beat, err})
	if _, err := w.as("acme").Cancel(w.ctx(), r.ID); err != nil {
		w.t.Fatal(err)
	}
	got, err := w.report("w1", q, secretResult("item-2"), secretFailure("item-3"))
	got.Run = nil
	out.tell("cancelled commit", []any{got, err})
	released, err := w.as("w1").ReleaseQuantum(w.ctx(), q.ID, api.QuantumReleaseSpec{Fence: q.Fence})
	released.Run = nil
	out.tell("release", []any{released, err})
	return r
}

// secretRefusals are requests that hold the canary and make no sense.
func (w *world) secretRefusals(out *spill, r api.Run) {
	w.t.Helper()
	raw := func(s string) json.RawMessage { return json.RawMessage(strings.ReplaceAll(s, "$", canary)) }
	for what, edit := range map[string]func(*api.RunSpec){
		"unknown kind":   func(s *api.RunSpec) { s.Kind = canary },
		"over budget":    func(s *api.RunSpec) { *s = secret(21) },
		"bad cost":       func(s *api.RunSpec) { s.Items[0].Payload["cost"] = raw(`"$"`) },
		"shared cost":    func(s *api.RunSpec) { s.Shared["cost"] = raw(`{"$":"$"}`) },
		"bad metadata":   func(s *api.RunSpec) { s.Metadata = raw(`["$"]`) },
		"broken payload": func(s *api.RunSpec) { s.Items[0].Payload["x"] = raw(`{"$":$`) },
		"big metadata":   func(s *api.RunSpec) { s.Metadata = raw(`{"$":"` + strings.Repeat("$", 2_000) + `"}`) },
		"priority":       func(s *api.RunSpec) { s.Shared["priority"] = raw(`"$"`) },
	} {
		spec := secret(1)
		edit(&spec)
		_, err := w.as("acme").Submit(w.ctx(), spec, "key of "+what)
		out.refuse(w.t, what, err)
	}
	q := w.submit("acme", secret(1))
	quantum := w.claim("w1")
	for what, bad := range map[string]api.ItemResult{
		"array":     {ID: "item-0", Status: api.ItemSucceeded, Result: raw(`["$"]`)},
		"broken":    {ID: "item-0", Status: api.ItemSucceeded, Result: raw(`{"$":$}`)},
		"twice":     {ID: "item-0", Status: api.ItemSucceeded, Result: raw(`{"$":1,"$":2}`)},
		"no UTF-8":  {ID: "item-0", Status: api.ItemSucceeded, Result: raw("{\"$\xff\":1}")},
		"large":     {ID: "item-0", Status: api.ItemSucceeded, Result: raw(`{"$":"` + strings.Repeat("$", 100_000) + `"}`)},
		"both":      {ID: "item-0", Status: api.ItemSucceeded, Result: raw(`{"$":1}`), Error: &api.Failure{Code: canary, Message: canary}},
		"long code": {ID: "item-0", Status: api.ItemFailed, Error: &api.Failure{Code: strings.Repeat(canary, 9), Message: canary}},
		"status":    {ID: "item-0", Status: api.ItemStatus(canary), Result: raw(`{"$":1}`)},
	} {
		_, err := w.report("w1", quantum, bad)
		out.refuse(w.t, what+" result", err)
	}
	for _, reader := range []string{"other", canary} {
		_, err := w.as(reader).Run(w.ctx(), r.ID)
		out.refuse(w.t, "another's run", err)
	}
	_, err := w.as("acme").Run(w.ctx(), "run_"+canary)
	out.refuse(w.t, "no id", err)
	w.commit("w1", quantum)
	_, err = w.as("acme").Cancel(w.ctx(), q.ID)
	out.refuse(w.t, "cancel", err)
}

// secretCalls are singular calls with the canary in what is sent.
func (w *world) secretCalls(out *spill) {
	w.t.Helper()
	call := func(kind, input string) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := w.as("acme").Invoke(w.ctx(), api.InvokeSpec{Kind: kind, Input: json.RawMessage(strings.ReplaceAll(input, "$", canary))})
			done <- err
		}()
		return done
	}
	for what, input := range map[string]string{
		"array": `["$"]`, "broken": `{"$":$}`, "twice": `{"$":1,"$":2}`, "cost": `{"cost":"$"}`, "no UTF-8": "{\"$\xff\":1}",
	} {
		out.refuse(w.t, what+" input", <-call("measured", input))
	}
	waiting := call("call", `{"$":"$"}`)
	w.lapse(0)
	w.lapse(time.Second)
	out.refuse(w.t, "call without a slot", <-waiting)
	late := call("call", `{"$":"$"}`)
	w.lapse(0)
	q := w.slot("w1", "default")
	if _, err := w.report("w1", q, api.ItemResult{ID: "item-0", Status: api.ItemFailed, Error: &api.Failure{Code: "item_timeout", Message: canary}}); err != nil {
		w.t.Fatal(err)
	}
	out.refuse(w.t, "call out of time", <-late)
}

// secretTrouble is trouble with the file while the canary is on its way into it.
func (w *world) secretTrouble(out *spill) {
	w.t.Helper()
	w.submit("acme", secret(1))
	q := w.claim("w1")
	for _, statement := range []string{"INSERT ON runs_outcome", "INSERT ON ns_event", "INSERT ON runs_item"} {
		w.exec(`CREATE TRIGGER stumble BEFORE ` + statement + ` BEGIN SELECT RAISE(ABORT, 'stumbled'); END`)
		_, err := w.report("w1", q, secretResult("item-0"))
		if statement == "INSERT ON runs_item" {
			_, err = w.as("acme").Submit(w.ctx(), secret(1), "")
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			fmt.Fprintf(out, "trouble: %v %+v\n", e, e)
		}
		w.exec(`DROP TRIGGER stumble`)
	}
}

// told notes what a namespace tells of itself, and of a run to those who follow it.
func (w *world) told(out *spill, r api.Run) {
	w.t.Helper()
	events, err := w.as("acme").Events(w.ctx(), r.ID, 0, 0, 1000)
	out.tell("events", []any{events, err})
	if len(events.Data) < 10 {
		w.t.Errorf("there are only %d events", len(events.Data))
	}
	anybody := namespace.Caller{Principal: "anybody"}
	catalog, err := w.ns.Catalog(w.ctx(), anybody)
	out.tell("catalog", []any{catalog, err})
	status, err := w.ns.Admission(w.ctx(), anybody)
	out.tell("admission", []any{status, err})
	description, err := w.ns.Describe(w.ctx())
	out.tell("namespace", []any{description, err})
	for s := range w.rt.Stats() {
		out.tell("figures", s)
	}
	out.tell("figures of the node", w.rt.NodeStats())
	estimate, err := w.as("acme").Estimate(w.ctx(), secret(3))
	out.tell("estimate", []any{estimate, err})
	list, err := w.as("other").Runs(w.ctx(), "", runs.Page{})
	out.tell("another's runs", []any{list, err})
	quanta, err := w.as("idle").ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: api.PoolDurable, Kinds: []string{"none"}})
	out.tell("nothing to do", []any{quanta, err})
}

// What a handler panics with, or fails with, is told to its tenant at most.
func TestNothingOfAPayloadIsLoggedOfHandlers(t *testing.T) {
	t.Parallel()
	out := &spill{}
	log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := crew(t, runs.Options{Logger: log, Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		switch item.InputIndex {
		case 0:
			panic(string(item.Payload))
		case 1:
			return nil, fmt.Errorf("cannot do %s", item.Payload)
		}
		return item.Payload[:len(item.Payload)-1], nil // no JSON
	}}})
	r := w.submit("acme", secret(3))
	if got := w.ended("acme", r.ID); got.Status != api.RunFailed {
		t.Errorf("got %+v", got)
	}
	if out.n == 0 {
		t.Error("the panic was not logged")
	}
	if strings.Contains(out.all.String(), canary) {
		t.Errorf("a payload was logged: %s", out.all.String())
	}
}
