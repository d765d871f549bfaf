package runs_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

func longLease(s *namespace.Settings) { s.QuantumLeaseMs = 60_000 }

// A namespace that is deleted does not wait for the handlers that work for it.
func TestDeletionDoesNotWaitForHandlers(t *testing.T) {
	t.Parallel()
	begun, hold := make(chan struct{}, 1), make(chan struct{})
	w := crewWith(t, longLease, runs.Options{Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		begun <- struct{}{}
		<-hold
		return item.Payload, nil
	}}})
	defer close(hold)
	w.submit("acme", batch(1))
	<-begun
	ctx, cancel := context.WithTimeout(w.ctx(), 10*time.Second)
	defer cancel()
	if err := w.rt.Delete(ctx, "test"); err != nil {
		t.Fatalf("delete: %v", err)
	}
}

// The handlers of a namespace that is deleted learn of it with the next heartbeat, and
// their slot is free for others.
func TestHandlersLearnThatTheirNamespaceIsGone(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(ctx context.Context, item runs.Item) (json.RawMessage, error) {
		if item.Namespace == "other" {
			return item.Payload, nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	w.submit("acme", batch(1))
	<-begun
	if err := w.rt.Delete(w.ctx(), "test"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	if _, err := w.rt.Create(w.ctx(), "other"); err != nil {
		t.Fatal(err)
	}
	w.ns = w.rt.Namespace("other")
	if got := w.ended("acme", w.submit("acme", batch(1)).ID); got.Status != api.RunCompleted {
		t.Errorf("got %s, want the slot free again", got.Status)
	}
}

// A namespace that stands in line for a slot of others does not hold up its deletion.
func TestDeletionDoesNotWaitForASlot(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 8)
	w := crewWith(t, longLease, runs.Options{Handlers: map[string]runs.Handler{"work": func(ctx context.Context, _ runs.Item) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	w.submit("acme", batch(1))
	<-begun
	if _, err := w.rt.Create(w.ctx(), "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Of(w.rt.Namespace("other"), namespace.Caller{Principal: "p"}).Submit(w.ctx(), batch(1), ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.ctx(), 10*time.Second)
	defer cancel()
	if err := w.rt.Delete(ctx, "other"); err != nil {
		t.Fatalf("delete: %v", err)
	}
}

// Namespaces that stood in line, more than may be active at once, come to rest when
// there is nothing to do for them.
func TestNamespacesWithoutWorkAreNotActivatedInTurnForEver(t *testing.T) {
	t.Parallel()
	begun, hold := make(chan struct{}, 1), make(chan struct{})
	handler := func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		begun <- struct{}{}
		<-hold
		return item.Payload, nil
	}
	settings := namespace.DefaultSettings()
	settings.Kinds = map[string]api.Kind{"work": {Pool: api.KindPool{Durable: true}}}
	rt, err := namespace.Open(t.Context(), t.TempDir(), namespace.Options{
		Classes:  []namespace.Class{runs.Class(runs.Options{Handlers: map[string]runs.Handler{"work": handler}})},
		Defaults: &settings, MaxActive: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, name := range names {
		if _, err := rt.Create(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	busy := runs.Of(rt.Namespace("a"), namespace.Caller{Principal: "p"})
	if _, err := busy.Submit(t.Context(), batch(1), ""); err != nil {
		t.Fatal(err)
	}
	<-begun
	for _, name := range names[1:] {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, _ = rt.Namespace(name).Describe(ctx) // activates it, unless all are in line
		cancel()
	}
	close(hold)
	before, same := int64(-1), 0
	for range 100 {
		now := rt.NodeStats().Activations
		if same++; now != before {
			same = 0
		}
		if before = now; same > 5 {
			return
		}
		rest(t, 50*time.Millisecond)
	}
	t.Errorf("after %d activations of %d namespaces without work there is no end", before, len(names))
}

// rest lets time go by in which something may happen that must not.
func rest(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// A namespace that is worked for stays active, and does not once it is not.
func TestNamespaceStaysActiveWhileHandlersWorkForIt(t *testing.T) {
	t.Parallel()
	begun, hold := make(chan struct{}, 1), make(chan struct{})
	var calls atomic.Int64
	w := crewWith(t, func(s *namespace.Settings) { s.IdleTimeoutMs = 100 }, runs.Options{
		Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
			if calls.Add(1) == 1 {
				begun <- struct{}{}
				<-hold
			}
			return item.Payload, nil
		}},
	})
	r := w.submit("acme", batch(1))
	<-begun
	before := w.rt.NodeStats()
	rest(t, 500*time.Millisecond)
	if got := w.rt.NodeStats(); got.Active != 1 || got.Activations != before.Activations {
		t.Errorf("while a handler works: %d active namespaces after %d activations, want the one still active", got.Active, got.Activations)
	}
	close(hold)
	if got := w.ended("acme", r.ID); got.Status != api.RunCompleted {
		t.Errorf("got %s", got.Status)
	}
	for wait := 0; w.rt.NodeStats().Active > 0; wait++ {
		if wait > 100 {
			t.Fatal("a namespace without work stays active")
		}
		rest(t, 50*time.Millisecond)
	}
}
