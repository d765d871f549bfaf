package sim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skerryhq/skerry/sim"
)

// files runs a scenario and gives the bytes of every file that comes of it.
func files(t *testing.T, name string) map[string][]byte {
	t.Helper()
	s, err := sim.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var requests []sim.Request
	o := sim.Options{Seeds: seeds(2), Policies: sim.Policies(), Requests: func(r sim.Request) { requests = append(requests, r) }}
	r, err := sim.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.WriteFiles(dir, requests); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, file := range []string{"summary.json", "series.csv", "requests.csv", "report.html"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		all[file] = content
	}
	return all
}

// It changes GOMAXPROCS, so it is not parallel.
func TestSameScenarioAndSeedGiveTheSameBytes(t *testing.T) {
	first := files(t, "burst-idle")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for file, content := range files(t, "burst-idle") {
		if len(content) == 0 || !bytes.Equal(content, first[file]) {
			t.Errorf("%s: %d bytes differ from %d", file, len(content), len(first[file]))
		}
	}
}

// A principal more draws from streams of its own: what the others ask for stays.
func TestAnotherPrincipalShiftsNobodysDraws(t *testing.T) {
	t.Parallel()
	arrivals := func(extra bool) []int64 {
		s := model(t, 20, 4, 100, "{kind: exponential, mean: 50ms}")
		s.Duration = 30e9
		if extra {
			more := s.Namespaces[0].Principals[0]
			more.Name = "another"
			s.Namespaces[0].Principals = append(s.Namespaces[0].Principals, more)
		}
		var at []int64
		_, err := sim.Run(t.Context(), s, sim.Options{Requests: func(r sim.Request) {
			if r.Principal == "p" {
				at = append(at, r.Arrived)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	alone, beside := map[int64]bool{}, 0
	for _, at := range arrivals(false) {
		alone[at] = true
	}
	for _, at := range arrivals(true) {
		if !alone[at] {
			t.Fatalf("an arrival at %d is new", at)
		}
		beside++
	}
	if beside != len(alone) || beside < 300 {
		t.Errorf("%d arrivals alone and %d beside another", len(alone), beside)
	}
}

func BenchmarkEvents(b *testing.B) {
	s, err := sim.Load("noisy-neighbour")
	if err != nil {
		b.Fatal(err)
	}
	var steps int64
	for b.Loop() {
		r, err := sim.Run(b.Context(), s, sim.Options{})
		if err != nil {
			b.Fatal(err)
		}
		steps += r.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "events/s")
}
