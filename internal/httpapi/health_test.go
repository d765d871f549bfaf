package httpapi

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
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
