package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// At no time do more handlers work on items of runs than there are slots, however many
// namespaces have work; and with enough work all slots are used.
func TestSlotsBoundHandlersOfAllNamespacesTogether(t *testing.T) {
	t.Parallel()
	const slots = 3
	var busy, most atomic.Int64
	var once sync.Once
	full := make(chan struct{}) // closed when all slots have been at work at once
	handler := func(ctx context.Context, item runs.Item) (json.RawMessage, error) {
		n := busy.Add(1)
		defer busy.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == slots {
			once.Do(func() {
				rest(t, 200*time.Millisecond) // for one too many to come
				close(full)
			})
		}
		select {
		case <-full:
		case <-ctx.Done():
		}
		return item.Payload, nil
	}
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": handler}, Slots: slots})
	ids := map[string]string{}
	for i := range 4 {
		name := fmt.Sprintf("ns%d", i)
		if _, err := w.rt.Create(w.ctx(), name); err != nil {
			t.Fatal(err)
		}
		w.ns = w.rt.Namespace(name)
		ids[name] = w.submit("acme", batch(20)).ID
	}
	for name, id := range ids {
		w.ns = w.rt.Namespace(name)
		if got := w.ended("acme", id); got.Status != api.RunCompleted {
			t.Errorf("%s: got %s with %+v", name, got.Status, got.Progress)
		}
	}
	if got := most.Load(); got != slots {
		t.Errorf("at most %d handlers worked at once, want %d", got, slots)
	}
}

// The lease of a quantum is kept for as long as its items may take.
func TestLeaseIsKeptWhileHandlersWork(t *testing.T) {
	t.Parallel()
	w := crewWith(t, func(s *namespace.Settings) { s.QuantumLeaseMs = 300 }, runs.Options{
		Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
			rest(t, 900*time.Millisecond)
			return item.Payload, nil
		}},
	})
	r := w.ended("acme", w.submit("acme", batch(2)).ID)
	for _, item := range w.items("acme", r.ID) {
		if item.Status != api.ItemSucceeded || item.AttemptCount != 1 {
			t.Errorf("got %s at attempt %d, want it done at the first", item.Status, item.AttemptCount)
		}
	}
}

// A handler that does not obey its context loses its item at its time limit, and keeps
// its slot until it returns.
func TestHandlerThatDoesNotObeyKeepsItsSlot(t *testing.T) {
	t.Parallel()
	back := make(chan struct{})
	var obeyed atomic.Bool
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"short": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		if item.ID == "stubborn" {
			<-back
			return item.Payload, nil
		}
		if !obeyed.Load() {
			t.Error("an item was begun in a slot that is taken")
		}
		return item.Payload, nil
	}}})
	spec := batch(3)
	spec.Kind, spec.Items[0].ID = "short", "stubborn"
	r := w.submit("acme", spec)
	w.until("the stubborn item has failed", func() bool { return w.items("acme", r.ID)[0].Status == api.ItemFailed })
	if got := w.items("acme", r.ID)[0].Error.Code; got != "item_timeout" {
		t.Errorf("got code %s, want item_timeout", got)
	}
	w.until("the others are given back", func() bool { return w.run("acme", r.ID).Progress.Pending == 2 })
	rest(t, 200*time.Millisecond)
	obeyed.Store(true)
	close(back)
	if got := w.ended("acme", r.ID); got.Progress.Succeeded != 2 {
		t.Errorf("got %+v, want the others done", got.Progress)
	}
}

// until waits for a state that must come.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for range 500 {
		if is() {
			return
		}
		rest(w.t, 20*time.Millisecond)
	}
	w.t.Fatalf("it did not come to pass that %s", what)
}

// With time, Shutdown lets the items under way end and keeps what came of them; the
// rest goes back, and nothing new is begun.
func TestStopWaitsForItemsUnderWay(t *testing.T) {
	t.Parallel()
	begun, hold := make(chan struct{}, 4), make(chan struct{})
	var calls atomic.Int64
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(ctx context.Context, item runs.Item) (json.RawMessage, error) {
		calls.Add(1)
		begun <- struct{}{}
		<-hold
		return item.Payload, ctx.Err() // its context has not ended
	}}})
	r := w.submit("acme", batch(9))
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- w.rt.Shutdown(context.WithoutCancel(w.ctx())) }()
	w.until("the runtime is stopping", w.rt.Draining)
	rest(t, 100*time.Millisecond)
	select {
	case err := <-stopped:
		t.Fatalf("shutdown ended with %v while a handler worked", err)
	default:
	}
	close(hold)
	if err := <-stopped; err != nil {
		t.Fatalf("shutdown: %v", err)
	}
	if got := calls.Load(); got != 1 {
		t.Errorf("%d items were begun, want the one", got)
	}
	rt, err := namespace.Open(w.ctx(), w.dir, namespace.Options{Classes: []namespace.Class{runs.Class(runs.Options{})}, Defaults: &w.settings})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	got, err := runs.Of(rt.Namespace("test"), namespace.Caller{Principal: "acme"}).Run(w.ctx(), r.ID)
	if err != nil || got.Progress != (api.Progress{Total: 9, Pending: 8, Succeeded: 1}) {
		t.Errorf("got %+v and %v, want one item kept and eight back", got.Progress, err)
	}
}

// A restarted process goes on with what another one left, by itself.
func TestHandlersGoOnAfterARestart(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(ctx context.Context, _ runs.Item) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	r := w.submit("acme", batch(6))
	<-begun
	if err := w.rt.Close(); err != nil {
		t.Fatal(err)
	}
	rt, err := namespace.Open(w.ctx(), w.dir, namespace.Options{
		Classes:  []namespace.Class{runs.Class(runs.Options{Handlers: map[string]runs.Handler{"work": echo}})},
		Defaults: &w.settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	w.rt, w.ns = rt, rt.Namespace("test")
	if got := w.ended("acme", r.ID); got.Status != api.RunCompleted {
		t.Errorf("got %s with %+v", got.Status, got.Progress)
	}
}
