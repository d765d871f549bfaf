package httpapi

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/skerryhq/skerry/namespace"
)

func scrape(t *testing.T, w *world) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	MetricsHandler(w.rt).ServeHTTP(recorder, httptest.NewRequest("GET", "/", nil))
	if recorder.Code != 200 {
		t.Fatalf("%d %s", recorder.Code, recorder.Body)
	}
	return strings.Split(recorder.Body.String(), "\n")
}

func TestMetricsShowNodeNamespacesAndProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", "/ns/demo/api/v2/tickets", "worker", ""), 200, "")
	w.settings(`{"mode":"paused"}`)
	w.want(w.do("POST", "/ns/demo/api/v2/tickets", "worker", ""), 429, "rate_limited")
	w.want(w.do("GET", "/ns/demo/api/v2/admission", "worker", ""), 200, "")
	w.want(w.do("POST", notesPath, "producer", `{"key":"k"}`), 201, "")
	lines := scrape(t, w)
	for _, want := range []string{
		"skerry_namespaces 2",
		"skerry_namespaces_stuck 0",
		`skerry_admission_limit{namespace="demo"} 32`,
		`skerry_admission_in_flight{namespace="demo"} 0`,
		`skerry_admission_admitted_total{namespace="demo"} 1`,
		`skerry_admission_refused_total{namespace="demo",reason="paused"} 1`,
		`skerry_service_seconds_count{namespace="demo"} 1`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %s in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	for _, want := range []string{
		`skerry_commits_total{namespace="demo"} `, `skerry_commit_operations_bucket{namespace="demo",le="64"} `, "go_goroutines ", "process_open_fds ",
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("no line begins with %s", want)
		}
	}
	if body := w.do("GET", "/metrics", "none", "").Body.String(); !strings.Contains(body, "skerry_namespaces 2\n") {
		t.Errorf("/metrics: %s", body)
	}
}

func TestNamespaceThatBearsTheSumsNameIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("PUT", "/api/v2/namespaces/other", "operator", ""), 200, "")
	w.keys["o"] = w.key("other", "p", "producer").Secret
	w.want(w.do("POST", "/ns/other/api/v2/notes", "o", `{"key":"k"}`), 201, "")
	lines := scrape(t, w)
	if !slices.Contains(lines, `skerry_admission_limit{namespace="other"} 32`) {
		t.Errorf("the namespace called other is missing:\n%s", strings.Join(lines, "\n"))
	}
}

func TestOnlyTheBusiestHaveSeriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	all := make([]namespace.Stats, 0, maxSeries+10)
	for i := range maxSeries + 10 {
		s := namespace.Stats{
			Namespace: fmt.Sprintf("n%d", i), Limit: 1, InFlight: 2, Pending: 3, Parked: 4, Admitted: 5, WouldWait: 6,
			Refused: map[string]int64{"paused": 7}, WouldRefuse: map[string]int64{"wait deadline": 8},
			Service: namespace.Histogram{Counts: []uint64{1, 0, 2}, Sum: time.Second},
		}
		s.Storage.Ops, s.Storage.Commits, s.Storage.WALBytes = int64(i), 9, 10
		s.Storage.Batches[1] = 11
		all = append(all, s)
	}
	shown := busiest(all)
	if len(shown) != maxSeries+1 {
		t.Fatalf("%d namespaces shown, want %d and the sum", len(shown), maxSeries)
	}
	if first, last := shown[0].Namespace, shown[maxSeries-1].Namespace; first != "n1009" || last != "n10" {
		t.Errorf("shown from %s to %s, want n1009 to n10", first, last)
	}
	want := namespace.Stats{
		Namespace: "other", Limit: 10, InFlight: 20, Pending: 30, Parked: 40, Admitted: 50, WouldWait: 60,
		Refused: map[string]int64{"paused": 70}, WouldRefuse: map[string]int64{"wait deadline": 80},
		Service: namespace.Histogram{Counts: []uint64{10, 0, 20}, Sum: 10 * time.Second},
	}
	want.Storage.Ops, want.Storage.Commits, want.Storage.WALBytes = 45, 90, 100
	want.Storage.Batches[1] = 110
	if diff := cmp.Diff(shown[maxSeries], want); diff != "" {
		t.Errorf("the sum (-got +want):\n%s", diff)
	}
	for _, s := range all {
		if got := s.Refused["paused"]; got != 7 {
			t.Errorf("summing changed the figures of %s: %d", s.Namespace, got)
		}
	}
}

func TestNamespaceThatBearsTheSumsNameIsPartOfIt(t *testing.T) {
	t.Parallel()
	all := make([]namespace.Stats, maxSeries+2)
	for i := range all {
		all[i] = namespace.Stats{Namespace: fmt.Sprintf("n%d", i), Limit: 1}
	}
	all[0].Namespace, all[0].Storage.Ops = otherNamespaces, 1
	shown := busiest(all)
	if got := shown[len(shown)-1]; got.Namespace != otherNamespaces || got.Limit != 2 {
		t.Errorf("the sum is %s with %v, want other with 2", got.Namespace, got.Limit)
	}
	names := map[string]bool{}
	for _, s := range shown {
		if names[s.Namespace] {
			t.Errorf("%s is shown twice", s.Namespace)
		}
		names[s.Namespace] = true
	}
}

func TestCollectorAnnouncesWhatItGives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", notesPath, "producer", `{"key":"k"}`), 201, "")
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(&collector{rt: w.rt}); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Error(err)
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "skerry_") || f.GetHelp() == "" {
			t.Errorf("metric %s: %q", f.GetName(), f.GetHelp())
		}
	}
}
