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

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

func TestCatalogTellsTheSlotsOfHandlers(t *testing.T) {
	t.Parallel()
	one := 1
	for name, tt := range map[string]struct {
		options              runs.Options
		quick, slow, durable int
	}{
		"none":       {},
		"with slots": {runs.Options{Handlers: map[string]runs.Handler{"work": echo}, Slots: 5}, 1, 1, 5},
		"by default": {runs.Options{Handlers: map[string]runs.Handler{"work": echo}}, 1, 1, 1},
	} {
		w := crewWith(t, func(s *namespace.Settings) { s.QuantumItems, s.BatchItems, s.QuantumCost = 3, 7, 11 }, tt.options)
		got, err := w.ns.Catalog(w.ctx(), namespace.Caller{Principal: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]api.Pool{
			"default": {SlotsPerWorker: &one, InProcess: tt.quick}, "slow": {SlotsPerWorker: &one, InProcess: tt.slow},
			"durable": {InProcess: tt.durable},
		}
		if diff := cmp.Diff(got.Pools, want); diff != "" {
			t.Errorf("%s: pools (-got +want):\n%s", name, diff)
		}
		if got.QuantumItems != 3 || got.BatchItems != 7 || got.QuantumCost != 11 || got.Budgets.Runs != 8 || !got.Kinds["work"].Pool.Durable {
			t.Errorf("%s: got %+v", name, got)
		}
		clear(got.Kinds) // the caller's own
		if got, err := w.ns.Catalog(w.ctx(), namespace.Caller{Principal: "acme"}); err != nil || len(got.Kinds) == 0 {
			t.Errorf("%s: got kinds %v and %v after a caller cleared its copy", name, got.Kinds, err)
		}
	}
}

// journal is a log that can be written from anywhere.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// Whatever handlers do with it, nothing of an item, a shared document or a result comes
// into the log.
func TestLogHoldsNothingOfItems(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	var j journal
	log := slog.New(slog.NewJSONHandler(&j, &slog.HandlerOptions{Level: slog.LevelDebug}))
	handler := func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		switch item.InputIndex {
		case 0:
			panic(string(item.Payload))
		case 1:
			panic(fmt.Errorf("with %s", item.Shared))
		case 2:
			return nil, errors.New(string(item.Payload))
		case 3:
			return nil, &runs.Failure{Code: canary, Message: string(item.Payload)}
		case 4:
			return append(item.Payload, canary...), nil
		}
		return item.Payload, nil
	}
	settings := namespace.DefaultSettings()
	settings.Kinds = map[string]api.Kind{"work": {Pool: api.KindPool{Durable: true}}}
	rt, err := namespace.Open(t.Context(), t.TempDir(), namespace.Options{
		Classes:  []namespace.Class{runs.Class(runs.Options{Handlers: map[string]runs.Handler{"work": handler}, Logger: log})},
		Defaults: &settings, Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if _, err := rt.Create(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, rt: rt, ns: rt.Namespace("test")}
	text := json.RawMessage(`"` + canary + `"`)
	spec := batch(6)
	spec.Shared = map[string]json.RawMessage{"note": text}
	for i := range spec.Items {
		spec.Items[i].Payload["text"] = text
	}
	if got := w.ended("acme", w.submit("acme", spec).ID); got.Progress.Failed != 5 {
		t.Errorf("got %+v, want five items failed", got.Progress)
	}
	if got := strings.Count(j.String(), "panic in a handler"); got != 2 {
		t.Errorf("the log tells of %d panics, want 2", got)
	}
	if strings.Contains(j.String(), canary) {
		t.Errorf("the log holds what items hold: %s", j.String())
	}
}

// A run that waits for a slot that handlers of others keep does not say that there is
// no worker for its kind.
func TestRunThatWaitsForHandlersSaysSlot(t *testing.T) {
	t.Parallel()
	begun, hold := make(chan struct{}, 1), make(chan struct{})
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		if item.Namespace == "test" {
			begun <- struct{}{}
			<-hold
		}
		return item.Payload, nil
	}}})
	defer close(hold)
	w.submit("acme", batch(1))
	<-begun
	if _, err := w.rt.Create(w.ctx(), "other"); err != nil {
		t.Fatal(err)
	}
	w.ns = w.rt.Namespace("other")
	r := w.submit("acme", batch(1))
	w.until("the run waits for a slot", func() bool {
		got := w.run("acme", r.ID)
		return got.WaitingFor != nil && got.WaitingFor.Reason == "slot"
	})
}
