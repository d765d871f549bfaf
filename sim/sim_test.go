package sim_test

import (
	"testing"

	"github.com/skerryhq/skerry/sim"
)

func TestShippedScenariosHoldEveryInvariant(t *testing.T) {
	t.Parallel()
	for _, name := range sim.Scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sim.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.Run(t.Context(), s, sim.Options{Seeds: []uint64{1}, Policies: sim.Policies()})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Summary.Policies) != len(sim.Policies()) || r.Steps == 0 {
				t.Errorf("got %d policies and %d steps", len(r.Summary.Policies), r.Steps)
			}
		})
	}
}
