package httpapi

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/actors/actorstest"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestHealthTellsLifeFromReadiness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	live := w.do("GET", "/healthz", "none", "")
	if diff := cmp.Diff(live.Body.String(), `{"status":"ok","version":"v1.2.3"}`); diff != "" {
		t.Errorf("alive (-got +want):\n%s", diff)
	}
	ready := w.do("GET", "/readyz", "none", "")
	want := `{"status":"ready","version":"v1.2.3","checks":{"accepting":"ok","operation":"ok"}}`
	if diff := cmp.Diff(ready.Body.String(), want); diff != "" {
		t.Errorf("ready (-got +want):\n%s", diff)
	}
}

func TestDrainingNodeIsAliveNotReadyAndRefusesClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.rt.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.want(w.do("GET", "/healthz", "none", ""), 200, "")
	ready := w.do("GET", "/readyz", "none", "")
	w.want(ready, 503, api.ShuttingDown)
	if !strings.Contains(ready.Body.String(), `"checks":{"accepting":"the node is shutting down"`) {
		t.Errorf("the check is not named: %s", ready.Body)
	}
	r := w.do("POST", "/ns/demo/api/v2/tickets", "worker", "")
	w.want(r, 503, api.ShuttingDown)
	w.want(w.do("GET", "/api/v2/namespaces/demo", "operator", ""), 503, api.ShuttingDown)
}

func TestReadinessRunsARealOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "/readyz", nil)
	recorder := httptest.NewRecorder()
	w.h.ServeHTTP(recorder, r)
	w.want(recorder, 503, api.NamespaceUnavailable)
	if !strings.Contains(recorder.Body.String(), `"operation":"failed"`) {
		t.Errorf("the check is not named: %s", recorder.Body)
	}
}

// wedge is a command that holds up its namespace's actor.
type wedge struct {
	echo
	entered, leave chan struct{}
}

func (c wedge) Next() namespace.Admitted {
	close(c.entered)
	<-c.leave
	return nil
}

func (wedge) Join(own, _ namespace.Answer, _ *api.Error) namespace.Answer { return own }

func TestStuckNamespaceIsNamedAndTheNodeAlive(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clock := actorstest.NewClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	rt, err := namespace.Open(ctx, t.TempDir(), namespace.Options{Classes: []namespace.Class{probeClass()}, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHandler(rt, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, rt: rt, h: h}
	if _, err := rt.Create(ctx, "demo"); err != nil {
		t.Fatal(err)
	}
	c := wedge{entered: make(chan struct{}), leave: make(chan struct{})}
	done := make(chan error)
	go func() {
		_, err := rt.Namespace("demo").Do(ctx, namespace.Call{Class: "probe", Caller: namespace.Caller{Principal: "p"}, Command: c})
		done <- err
	}()
	<-c.entered
	w.want(w.do("GET", "/readyz", "none", ""), 200, "")
	clock.Advance(time.Minute)
	r := w.do("GET", "/readyz", "none", "")
	w.want(r, 503, api.NamespaceUnavailable)
	if !strings.Contains(r.Body.String(), `"stuck":["demo"]`) {
		t.Errorf("the stuck namespace is not named: %s", r.Body)
	}
	w.want(w.do("GET", "/healthz", "none", ""), 200, "")
	close(c.leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	// The answer leaves before the message is at its end. That of the next command
	// does not leave before.
	if _, err := rt.Namespace("demo").Do(ctx, namespace.Call{
		Class: "probe", Caller: namespace.Caller{Principal: "p"}, Command: echo{},
	}); err != nil {
		t.Error(err)
	}
	w.want(w.do("GET", "/readyz", "none", ""), 200, "")
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
