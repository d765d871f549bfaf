package admission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A vector is one event sequence with the decisions that every event must
// cause, and the state after it. Times count in milliseconds.
type vector struct {
	Name   string       `json:"name"`
	Config vectorConfig `json:"config"`
	Steps  []vectorStep `json:"steps"`
}

type vectorConfig struct {
	Initial    int     `json:"initial"`
	Min        int     `json:"min"`
	Max        int     `json:"max"`
	Pending    int     `json:"pending"`
	Target     int64   `json:"target"`
	Interval   int64   `json:"interval"`
	Factor     float64 `json:"factor"`
	Increase   float64 `json:"increase"`
	Alpha      float64 `json:"alpha"`
	MaxWait    int64   `json:"max_wait"`
	StaleAfter int64   `json:"stale_after"`
	RetryMin   int     `json:"retry_min"`
	RetryMax   int     `json:"retry_max"`
}

func (c vectorConfig) config() Config {
	return Config{
		Initial: c.Initial, Min: c.Min, Max: c.Max, Pending: c.Pending,
		Target: c.Target, Interval: c.Interval, MaxWait: c.MaxWait, StaleAfter: c.StaleAfter, Second: 1000,
		Factor: c.Factor, Increase: c.Increase, Alpha: c.Alpha,
		RetryMin: c.RetryMin, RetryMax: c.RetryMax,
	}
}

type vectorStep struct {
	Event     vectorEvent      `json:"event"`
	Decisions []vectorDecision `json:"decisions"`
	State     vectorState      `json:"state"`
}

type vectorEvent struct {
	T    int64  `json:"t"`
	Kind string `json:"kind"`
	ID   string `json:"id"`
	P    string `json:"p"`
	Dur  *int64 `json:"dur"`
	OK   *bool  `json:"ok"`
}

type vectorDecision struct {
	Do         string `json:"do"`
	ID         string `json:"id"`
	P          string `json:"p"`
	Reason     string `json:"reason"`
	Status     int    `json:"status"`
	RetryAfter int    `json:"retry_after"`
}

type vectorState struct {
	Limit    float64      `json:"limit"`
	Cap      int          `json:"cap"`
	EMA      *float64     `json:"ema"`
	InFlight []string     `json:"inflight"`
	Ring     []vectorRing `json:"ring"`
}

// vectorRing is a principal and its waiters, written as [name, [id, …]].
type vectorRing struct {
	Principal string
	Waiters   []string
}

func (r *vectorRing) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.Principal, &r.Waiters})
}

// vectorRun replays one vector. Ids are strings in vectors and numbers here.
type vectorRun struct {
	t       *testing.T
	c       *Controller
	numbers map[string]ID
	names   []string
}

func (v *vectorRun) number(name string) ID {
	id, ok := v.numbers[name]
	if !ok {
		id = ID(len(v.names))
		v.numbers[name], v.names = id, append(v.names, name)
	}
	return id
}

func (v *vectorRun) step(e vectorEvent) []Decision {
	switch e.Kind {
	case "arrive":
		return v.c.Arrive(e.T, v.number(e.ID), e.P)
	case "finish":
		switch id := v.number(e.ID); {
		case e.OK != nil && !*e.OK:
			return v.c.Discard(e.T, id)
		case e.Dur != nil:
			return v.c.FinishIn(e.T, id, *e.Dur)
		default:
			return v.c.Finish(e.T, id)
		}
	case "cancel":
		return v.c.Cancel(e.T, v.number(e.ID))
	case "tick":
		return v.c.Tick(e.T)
	}
	v.t.Fatalf("unknown event %q", e.Kind)
	return nil
}

func (v *vectorRun) decisions(ds []Decision) []vectorDecision {
	reasons := map[Reason]string{QueueFull: "queue_full", WaitDeadline: "max_wait", FairShare: "displaced"}
	var out []vectorDecision
	for _, d := range ds {
		w := vectorDecision{Do: d.Kind.String(), ID: v.names[d.ID], P: d.Principal}
		if d.Kind == Refuse {
			w.Do, w.Reason, w.Status, w.RetryAfter = "reject", reasons[d.Reason], 429, d.RetryAfter
		}
		out = append(out, w)
	}
	return out
}

func (v *vectorRun) state() vectorState {
	s := vectorState{Limit: v.c.Limit(), Cap: v.c.Concurrency()}
	if average, ok := v.c.Average(); ok {
		s.EMA = &average
	}
	for id, r := range v.c.requests {
		if r.running {
			s.InFlight = append(s.InFlight, v.names[id])
		}
	}
	slices.Sort(s.InFlight)
	for _, p := range ring(v.c) {
		entry := vectorRing{Principal: p.name}
		for r := p.oldest; r != nil; r = r.newer {
			entry.Waiters = append(entry.Waiters, v.names[r.id])
		}
		s.Ring = append(s.Ring, entry)
	}
	return s
}

// ring returns the principals with waiters in turn order.
func ring(c *Controller) []*principal {
	var all []*principal
	for p := c.queue.head; p != nil && (len(all) == 0 || p != c.queue.head); p = p.next {
		all = append(all, p)
	}
	return all
}

func loadVectors(t *testing.T) []vector {
	t.Helper()
	dir := os.Getenv("SKERRY_VECTORS")
	if dir == "" {
		dir = filepath.Join("testdata", "vectors")
	}
	text, err := os.ReadFile(filepath.Join(dir, "admission.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("found no vectors")
	}
	return file.Vectors
}

func TestVectors(t *testing.T) {
	t.Parallel()
	equal := cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-9)}
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if len(v.Steps) == 0 {
				t.Fatal("found no steps")
			}
			c, err := New(v.Config.config())
			if err != nil {
				t.Fatal(err)
			}
			run := &vectorRun{t: t, c: c, numbers: make(map[string]ID)}
			for i, s := range v.Steps {
				got := run.decisions(run.step(s.Event))
				if diff := cmp.Diff(got, s.Decisions, equal); diff != "" {
					t.Fatalf("step %d, %+v: decisions (-got +want):\n%s", i, s.Event, diff)
				}
				slices.Sort(s.State.InFlight)
				if diff := cmp.Diff(run.state(), s.State, equal); diff != "" {
					t.Fatalf("step %d, %+v: state (-got +want):\n%s", i, s.Event, diff)
				}
			}
		})
	}
}
