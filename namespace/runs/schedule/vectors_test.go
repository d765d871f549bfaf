package schedule_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// A vector is one event sequence with the decision that every event must cause, and
// the state after it. Times count in milliseconds.
type vector struct {
	Name        string       `json:"name"`
	QuantumCost int64        `json:"quantum_cost"`
	Steps       []vectorStep `json:"steps"`
}

type vectorStep struct {
	Event    vectorEvent     `json:"event"`
	Decision *vectorDecision `json:"decision"`
	State    vectorState     `json:"state"`
}

type vectorEvent struct {
	T        int64   `json:"t"`
	Kind     string  `json:"kind"`
	Run      string  `json:"run"`
	Tenant   string  `json:"tenant"`
	Pool     string  `json:"pool"`
	Costs    []int64 `json:"costs"`
	Quantum  string  `json:"quantum"`
	MaxItems int     `json:"max_items"`
	Actual   *int64  `json:"actual"`
}

type vectorDecision struct {
	Run   string `json:"run"`
	Items []int  `json:"items"`
	Cost  int64  `json:"cost"`
	Aged  bool   `json:"aged"`
}

type vectorState struct {
	Tenants map[string]int64     `json:"tenants"`
	Runs    map[string]vectorRun `json:"runs"`
}

type vectorRun struct {
	Attained int64 `json:"attained"`
	Pending  []int `json:"pending"`
}

// replay replays one vector. Runs and quanta have names in vectors.
type replay struct {
	t       *testing.T
	s       *schedule.Scheduler
	cost    int64
	numbers map[string]int64
	names   []string
	quanta  map[string]schedule.Pick
}

func (r *replay) step(e vectorEvent) *vectorDecision {
	quantum := r.quanta[e.Quantum]
	switch e.Kind {
	case "admit":
		r.numbers[e.Run] = int64(len(r.names))
		r.names = append(r.names, e.Run)
		if err := r.s.Admit(e.T, schedule.Run{ID: r.numbers[e.Run], Tenant: e.Tenant, Pool: e.Pool, Costs: e.Costs}); err != nil {
			r.t.Fatal(err)
		}
	case "pick":
		p, ok := r.s.Pick(e.T, schedule.Request{Pool: e.Pool, MaxItems: e.MaxItems, MaxCost: r.cost})
		if !ok {
			return nil
		}
		p.Items = slices.Clone(p.Items)
		r.quanta[e.Quantum] = p
		return &vectorDecision{Run: r.names[p.Run], Items: p.Items, Cost: p.Cost, Aged: p.Aged}
	case "commit":
		actual := quantum.Cost
		if e.Actual != nil {
			actual = *e.Actual
		}
		r.s.Settle(quantum.Run, quantum.Items, actual)
	case "back":
		r.s.Return(quantum.Run, quantum.Items)
	case "cancel":
		r.s.Cancel(r.numbers[e.Run])
	default:
		r.t.Fatalf("unknown event %q", e.Kind)
	}
	return nil
}

// state is that of the runs and tenants which the vector knows.
func (r *replay) state(known vectorState) vectorState {
	got := vectorState{Tenants: map[string]int64{}, Runs: map[string]vectorRun{}}
	for name, state := range r.s.Tenants() {
		got.Tenants[name] = state.Attained
	}
	for name := range known.Runs {
		number, ok := r.numbers[name]
		if !ok {
			continue
		}
		if state, ok := r.s.Run(number); ok {
			pending := append([]int{}, slices.Collect(r.s.Pending(number))...)
			got.Runs[name] = vectorRun{Attained: state.Attained, Pending: pending}
		}
	}
	return got
}

// TestVectors replays every sequence of run_scheduler.json, in testdata/vectors or
// in the folder that SKERRY_VECTORS names.
func TestVectors(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "vectors")
	if other := os.Getenv("SKERRY_VECTORS"); other != "" {
		folder = other
	}
	document, err := os.ReadFile(filepath.Join(folder, "run_scheduler.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(document, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := &replay{t: t, s: schedule.New(5000), cost: v.QuantumCost, numbers: map[string]int64{}, quanta: map[string]schedule.Pick{}}
			if len(v.Steps) == 0 {
				t.Fatal("there are no steps")
			}
			for i, step := range v.Steps {
				if diff := cmp.Diff(step.Decision, r.step(step.Event)); diff != "" {
					t.Fatalf("step %d (%s): decision (-want +got):\n%s", i, step.Event.Kind, diff)
				}
				if diff := cmp.Diff(step.State, r.state(step.State)); diff != "" {
					t.Fatalf("step %d (%s): state (-want +got):\n%s", i, step.Event.Kind, diff)
				}
			}
		})
	}
}
