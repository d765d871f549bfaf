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
	"sync/atomic"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// crew opens a runtime with handlers, on the system's clock.
func crew(t *testing.T, o runs.Options) *world {
	t.Helper()
	return crewWith(t, func(*namespace.Settings) {}, o)
}

// crewWith is crew with settings that the function changed.
func crewWith(t *testing.T, change func(*namespace.Settings), o runs.Options) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), settings: namespace.DefaultSettings()}
	short := int64(300)
	w.settings.Kinds = map[string]api.Kind{
		"work":  {Pool: api.KindPool{Durable: true}},
		"short": {Pool: api.KindPool{Durable: true}, TimeoutMs: &short},
		"call":  {Pool: api.KindPool{PerScorer: map[string]string{"*": "default", "heavy": "slow"}}},
	}
	w.settings.QuantumLeaseMs = 3_000
	change(&w.settings)
	rt, err := namespace.Open(t.Context(), w.dir, namespace.Options{
		Classes: []namespace.Class{runs.Class(o)}, Defaults: &w.settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("close runtime: %v", err)
		}
	})
	w.rt, w.ns = rt, rt.Namespace("test")
	if _, err := rt.Create(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	return w
}

// ended waits for the end of a run.
func (w *world) ended(tenant, id string) api.Run {
	w.t.Helper()
	for after := int64(0); ; {
		page, err := w.as(tenant).Events(w.ctx(), id, after, 20*time.Second, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(page.Data) == 0 {
			return w.run(tenant, id)
		}
		after = page.Data[len(page.Data)-1].Sequence
	}
}

func echo(_ context.Context, item runs.Item) (json.RawMessage, error) { return item.Payload, nil }

func TestHandlersWorkOnRuns(t *testing.T) {
	t.Parallel()
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": echo}, Slots: 3})
	r := w.ended("acme", w.submit("acme", batch(50)).ID)
	if r.Status != api.RunCompleted {
		t.Fatalf("got %+v, want a completed run", r)
	}
	for n, item := range w.items("acme", r.ID) {
		if want := fmt.Sprintf(`{"n":%d}`, n); string(item.Result) != want || item.AttemptCount != 1 {
			t.Errorf("item %d: got %s at attempt %d, want %s", n, item.Result, item.AttemptCount, want)
		}
	}
}

func TestHandlersServeSingularCallsOfTheirPools(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"call": func(ctx context.Context, item runs.Item) (json.RawMessage, error) {
		if item.Scorer == "heavy" {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
		return item.Payload, nil
	}}})
	var group sync.WaitGroup
	defer group.Wait()
	defer close(hold)
	group.Go(func() {
		if _, err := w.as("p").Invoke(w.ctx(), api.InvokeSpec{Kind: "call", Scorer: "heavy"}); err != nil {
			t.Error(err)
		}
	})
	// The slow slot is taken, and the default one is not.
	for range 20 {
		got, err := w.as("p").Invoke(w.ctx(), api.InvokeSpec{Kind: "call", Input: json.RawMessage(`{"a":1}`)})
		if err != nil || got.Status != api.ItemSucceeded || string(got.Result) != `{"a":1}` {
			t.Fatalf("got %+v and %v", got, err)
		}
	}
}

func TestHandlersFailuresAreTheirItems(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	handlers := map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		switch item.InputIndex {
		case 0:
			return nil, &runs.Failure{Code: "odd", Message: "said"}
		case 1:
			return nil, errors.New("plain")
		case 2:
			panic("secret")
		case 3:
			return json.RawMessage(`[1]`), nil
		case 4:
			return json.RawMessage(`{"big":"` + strings.Repeat("x", 1<<20) + `"}`), nil
		}
		return item.Payload, nil
	}}
	w := crew(t, runs.Options{Handlers: handlers, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r := w.ended("acme", w.submit("acme", batch(6)).ID)
	if r.Status != api.RunCompletedWithErrors {
		t.Errorf("got %s", r.Status)
	}
	for n, want := range []string{"odd", "handler_error", "handler_panic", "invalid_result", "invalid_result", ""} {
		got := ""
		if e := w.items("acme", r.ID)[n].Error; e != nil {
			got = e.Code
		}
		if got != want {
			t.Errorf("item %d: got code %q, want %q", n, got, want)
		}
	}
	if s := log.String(); !strings.Contains(s, "panic in a handler") || strings.Contains(s, "secret") {
		t.Errorf("got log %q, want the panic without its value", s)
	}
}

func TestHandlerIsStoppedAtTheItemsTimeLimit(t *testing.T) {
	t.Parallel()
	back := make(chan struct{})
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"short": func(ctx context.Context, item runs.Item) (json.RawMessage, error) {
		switch item.InputIndex {
		case 0:
			<-ctx.Done()
			return nil, ctx.Err()
		case 1:
			<-back // does not obey
		}
		return json.RawMessage(`{}`), nil
	}}})
	defer close(back)
	spec := batch(2)
	spec.Kind = "short"
	r := w.ended("acme", w.submit("acme", spec).ID)
	for _, item := range w.items("acme", r.ID) {
		if item.Error == nil || item.Error.Code != "item_timeout" {
			t.Errorf("got %+v, want item_timeout", item)
		}
	}
}

func TestCancelReachesTheHandler(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 4)
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(ctx context.Context, _ runs.Item) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	r := w.submit("acme", batch(2))
	<-begun
	if _, err := w.as("acme").Cancel(w.ctx(), r.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.ended("acme", r.ID); got.Status != api.RunCancelled || got.Progress.Cancelled != 2 {
		t.Errorf("got %+v, want a cancelled run", got)
	}
}

func TestNamespacesShareTheSlotsInTurn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	gate := make(chan struct{})
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		<-gate
		mu.Lock()
		defer mu.Unlock()
		order = append(order, item.Namespace)
		return item.Payload, nil
	}}})
	other := w.rt.Namespace("other")
	if _, err := w.rt.Create(w.ctx(), "other"); err != nil {
		t.Fatal(err)
	}
	r := w.submit("acme", batch(40))
	s, err := runs.Of(other, namespace.Caller{Principal: "p"}).Submit(w.ctx(), batch(8), "")
	if err != nil {
		t.Fatal(err)
	}
	close(gate)
	w.ended("acme", r.ID)
	if got, err := runs.Of(other, namespace.Caller{Principal: "p"}).Run(w.ctx(), s.ID); err != nil || got.Status != api.RunCompleted {
		t.Fatalf("got %+v and %v", got, err)
	}
	last := 0
	for n, name := range order {
		if name == "other" {
			last = n
		}
	}
	if last > 30 {
		t.Errorf("the small run of the other namespace ended after %d items, want one quantum each in turn", last)
	}
}

func TestStopGivesBackWhatIsNotDone(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	var calls atomic.Int64
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(ctx context.Context, item runs.Item) (json.RawMessage, error) {
		if calls.Add(1) == 2 {
			begun <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return item.Payload, nil
	}}})
	r := w.submit("acme", batch(4))
	<-begun
	ctx, cancel := context.WithTimeout(w.ctx(), 50*time.Millisecond)
	defer cancel()
	_ = w.rt.Shutdown(ctx)
	rt, err := namespace.Open(w.ctx(), w.dir, namespace.Options{Classes: []namespace.Class{runs.Class(runs.Options{})}, Defaults: &w.settings})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	got, err := runs.Of(rt.Namespace("test"), namespace.Caller{Principal: "acme"}).Run(w.ctx(), r.ID)
	if err != nil || got.Progress != (api.Progress{Total: 4, Pending: 3, Succeeded: 1}) {
		t.Errorf("got %+v and %v, want one item kept and three back", got.Progress, err)
	}
}
