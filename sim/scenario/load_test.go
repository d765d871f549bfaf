package scenario_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/sim/scenario"
)

func shipped() []string {
	return []string{
		"burst-idle", "gc-pause", "heterogeneous-cost", "incident-and-recovery", "noisy-neighbour",
		"one-heavy-run-vs-many-small", "retry-storm", "self-lock", "slow-drift", "wake-herd",
	}
}

func TestShippedScenariosAreTenAndReadable(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(scenario.Names(), shipped()); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	for _, name := range shipped() {
		s, err := scenario.Shipped(name)
		if err != nil {
			t.Error(err)
			continue
		}
		lines := strings.Count(strings.TrimSpace(s.About), "\n") + 1
		if s.Name != name || s.Title == "" || lines < 3 || lines > 8 {
			t.Errorf("%s: got name %q, title %q and an about of %d lines; want its name, a title and 3 to 8 lines", name, s.Name, s.Title, lines)
		}
		if m := s.Duration.Duration().Minutes(); m < 2 || m > 20 {
			t.Errorf("%s: takes %v minutes, want 2 to 20", name, m)
		}
	}
}

// What was read, written and read again is the same.
func TestAScenarioSurvivesARoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range scenario.Names() {
		s, err := scenario.Shipped(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenario.Parse(name+".yaml", text, nil)
		if err != nil {
			t.Fatalf("%s written:\n%s\n%v", name, text, err)
		}
		if diff := cmp.Diff(again, s); diff != "" {
			t.Errorf("%s: -got +want:\n%s", name, diff)
		}
	}
}
