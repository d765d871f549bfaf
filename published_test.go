package skerry_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// published speaks as a published Python client of the wire form does: it sends
// x-api-key and empty query parameters, cancels without a body, and reads links as
// strings, and results and errors as objects or null.
type published struct {
	t         *testing.T
	base, key string
}

func (p published) send(method, path, idempotencyKey, body string) (int, map[string]any) {
	p.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, reader)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("x-api-key", p.key)
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, doc
}

// collect reads every page of a list.
func (p published) collect(path string) []map[string]any {
	p.t.Helper()
	var all []map[string]any
	for cursor := ""; ; {
		status, page := p.send(http.MethodGet, path+"&cursor="+cursor, "", "")
		if status != http.StatusOK {
			p.t.Fatalf("%s: %d %v", path, status, page)
		}
		for _, row := range page["data"].([]any) {
			all = append(all, row.(map[string]any))
		}
		next, ok := page["next_cursor"].(string)
		if !ok {
			return all
		}
		cursor = next
	}
}

const publishedBatch = `{"schema_version":"run/1","kind":"selection_batch",
 "selection_template":{"portfolio":{"limit":7},"scorer":"fast"},
 "items":[{"id":"a","references":["CCO","CCN"]},{"id":"b","references":["CCC"]},{"id":"c","references":[]}],
 "failure_policy":"continue","metadata":{}}`

const publishedSingle = `{"schema_version":"run/1","kind":"selection","selection":{"references":["CCO"]},
 "items":[],"failure_policy":"continue","metadata":{}}`

// serviceWithKinds is the source service as an operator sets it up.
func serviceWithKinds(t *testing.T) (p published, worker *client.Client) {
	t.Helper()
	s := skerry.DefaultSettings()
	s.Kinds["selection"] = api.Kind{Pool: api.KindPool{Durable: true}, Single: true}
	s.Kinds["selection_batch"] = api.Kind{
		Pool: api.KindPool{Durable: true}, ResultCells: api.Measure{Field: "/selection_template/portfolio/limit"},
	}
	rt := open(t, t.TempDir(), skerry.Options{Single: "acme", OperatorKey: "op", Settings: &s})
	server := httptest.NewServer(rt.Handler())
	t.Cleanup(server.Close)
	operator, err := client.NewOperator(server.URL, "op", nil)
	if err != nil {
		t.Fatal(err)
	}
	key := func(principal string, role api.Role) string {
		made, err := operator.CreateKey(t.Context(), "acme", api.KeySpec{Principal: principal, Roles: []api.Role{role}})
		if err != nil {
			t.Fatal(err)
		}
		return made.Secret
	}
	if worker, err = client.New(server.URL, key("w", api.RoleWorker), nil); err != nil {
		t.Fatal(err)
	}
	return published{t, server.URL, key("chemist", api.RoleProducer)}, worker
}

func TestPublishedClientWorksUnchanged(t *testing.T) {
	t.Parallel()
	p, worker := serviceWithKinds(t)
	status, estimate := p.send(http.MethodPost, "/api/v2/runs:estimate", "", publishedBatch)
	work, _ := estimate["work"].(map[string]any)
	if status != http.StatusOK || estimate["admissible"] != true || work["result_cells"] != 21.0 || work["items"] != 3.0 {
		t.Fatalf("estimate: %d %v", status, estimate)
	}
	status, run := p.send(http.MethodPost, "/api/v2/runs", "batch-1", publishedBatch)
	if status != http.StatusAccepted || run["object"] != "run" || run["status"] != "queued" {
		t.Fatalf("submit: %d %v", status, run)
	}
	id := run["id"].(string)
	for name, link := range run["links"].(map[string]any) {
		if s, ok := link.(string); !ok || !strings.HasPrefix(s, "/api/v2/runs/"+id) {
			t.Errorf("link %s is %v", name, link)
		}
	}
	workRuns(t, worker)
	if status, got := p.send(http.MethodGet, "/api/v2/runs/"+id, "", ""); status != http.StatusOK || got["status"] != "completed_with_errors" {
		t.Fatalf("read: %d %v", status, got)
	}
	for _, path := range []string{"/items?status_filter=&limit=2", "/results?order=completion&limit=2", "/results?order=input&limit=2"} {
		rows := p.collect("/api/v2/runs/" + id + path)
		if len(rows) != 3 {
			t.Fatalf("%s: got %d rows, want 3", path, len(rows))
		}
		for _, row := range rows {
			_, result := row["result"].(map[string]any)
			_, failure := row["error"].(map[string]any)
			if (row["status"] == "succeeded") != result || (row["status"] == "failed") != failure {
				t.Errorf("%s: got %v", path, row)
			}
		}
	}
	events := p.collect("/api/v2/runs/" + id + "/events?after=0&limit=2")
	for n, e := range events {
		if e["sequence"] != float64(n+1) || e["run_id"] != id {
			t.Errorf("event %d: %v", n+1, e)
		}
	}
	if last := events[len(events)-1]["type"]; last != "run.completed_with_errors" {
		t.Errorf("the last event is %v", last)
	}
}

// workRuns works on what there is: items without references fail.
func workRuns(t *testing.T, worker *client.Client) {
	t.Helper()
	for {
		got, err := worker.ClaimQuanta(t.Context(), api.QuantumSpec{Pool: api.PoolDurable})
		if err != nil {
			t.Fatal(err)
		}
		q := got.Quantum
		if q == nil {
			return
		}
		spec := api.CommitSpec{Fence: q.Fence}
		for _, item := range q.Items {
			result := api.ItemResult{ID: item.ID, Status: api.ItemSucceeded, Result: item.Payload}
			if strings.Contains(string(item.Payload), `[]`) {
				result = api.ItemResult{ID: item.ID, Status: api.ItemFailed, Error: &api.Failure{Code: "empty", Message: "no references"}}
			}
			spec.Results = append(spec.Results, result)
		}
		if _, err := worker.CommitQuantum(t.Context(), q.ID, spec); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPublishedClientCancelsASingularRun(t *testing.T) {
	t.Parallel()
	p, _ := serviceWithKinds(t)
	_, run := p.send(http.MethodPost, "/api/v2/runs", "single-1", publishedSingle)
	id, _ := run["id"].(string)
	items := p.collect("/api/v2/runs/" + id + "/items?status_filter=")
	if len(items) != 1 || items[0]["id"] != "item-0" || items[0]["status"] != "pending" || items[0]["result"] != nil {
		t.Fatalf("items: %v", items)
	}
	status, got := p.send(http.MethodPost, "/api/v2/runs/"+id+":cancel", "", "")
	if status != http.StatusOK || got["status"] != "cancelled" {
		t.Fatalf("cancel: %d %v", status, got)
	}
	runs := p.collect("/api/v2/runs?status=&limit=1")
	if len(runs) != 1 || runs[0]["id"] != id {
		t.Errorf("runs: %v", runs)
	}
	_, catalog := p.send(http.MethodGet, "/api/v2/catalog", "", "")
	var kinds []string
	for kind := range catalog["kinds"].(map[string]any) {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"selection", "selection_batch"}) {
		t.Errorf("catalog: kinds %v", kinds)
	}
	for _, name := range []string{"default", "slow", "durable"} {
		if catalog["pools"].(map[string]any)[name] == nil {
			t.Errorf("catalog: no pool %s", name)
		}
	}
}
