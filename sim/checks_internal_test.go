package sim

import (
	"strings"
	"testing"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/policy"
	"github.com/skerryhq/skerry/sim/scenario"
)

// bug is what a planted policy does wrong.
type bug int

const (
	sound          bug = iota
	newestFirst        // within a principal
	favourite          // one principal is always served first
	overLimit          // one more than the limit
	afterDeadline      // nobody is ever refused for waiting too long
	restless           // the limit changes at every event
	miscounted         // what is pending is not counted
	forgetful          // one request is never decided
	refusedRunning     // a request that runs is refused
)

// planted is a fixed limit with turns, like the production controller's, and one bug.
type planted struct {
	bug      bug
	limit    float64
	running  int
	ring     []string
	queues   map[string][]admission.ID
	arrived  map[admission.ID]int64
	ds       []admission.Decision
	arrivals int
}

func (p *planted) Arrive(now int64, id admission.ID, who string) []admission.Decision {
	p.ds = p.ds[:0]
	p.arrivals++
	if p.bug == forgetful && p.arrivals == 100 {
		return nil
	}
	if len(p.queues[who]) == 0 {
		p.ring = append(p.ring, who)
	}
	p.queues[who] = append(p.queues[who], id)
	p.arrived[id] = now
	return p.serve(now)
}

func (p *planted) serve(now int64) []admission.Decision {
	if p.bug == restless {
		p.limit = float64(4 + p.arrivals%2)
	}
	most := int(p.limit)
	if p.bug == overLimit {
		most++
	}
	for p.running < most && len(p.ring) > 0 {
		at := 0
		if p.bug == favourite {
			for i, who := range p.ring {
				if who == "b" {
					at = i
				}
			}
		}
		who := p.ring[at]
		p.ring = append(p.ring[:at], p.ring[at+1:]...)
		queue, next := p.queues[who], 0
		if p.bug == newestFirst {
			next = len(queue) - 1
		}
		id := queue[next]
		p.queues[who] = append(queue[:next], queue[next+1:]...)
		if len(p.queues[who]) > 0 {
			p.ring = append(p.ring, who)
		}
		p.running++
		p.ds = append(p.ds, admission.Decision{Kind: admission.Start, ID: id})
		if p.bug == refusedRunning && p.arrivals == 50 {
			p.ds = append(p.ds, admission.Decision{Kind: admission.Refuse, Reason: admission.QueueFull, ID: id, RetryAfter: 1})
		}
	}
	return p.ds
}

func (p *planted) Finish(now int64, _ admission.ID, _ int64, _ bool) []admission.Decision {
	p.ds = p.ds[:0]
	p.running--
	return p.serve(now)
}

func (p *planted) Cancel(int64, admission.ID) []admission.Decision { return nil }
func (p *planted) Next() (int64, bool)                             { return 0, false }
func (p *planted) Tick(int64) []admission.Decision                 { return nil }

func (p *planted) Status() policy.Status {
	pending := 0
	for _, queue := range p.queues {
		pending += len(queue)
	}
	if p.bug == miscounted && pending > 5 {
		pending--
	}
	return policy.Status{Limit: p.limit, InFlight: p.running, Pending: pending}
}

// Each invariant catches the bug that breaks it, and nothing else does.
func TestEveryInvariantCatchesItsPlantedBug(t *testing.T) {
	t.Parallel()
	text := `
title: two principals at a fixed limit
duration: 60s
namespaces:
  - name: n
    settings: {claim_max_wait_ms: 2000, claim_target_ms: 500}
    service: {model: delay, time: {kind: exponential, mean: 100ms}}
    principals:
      - {name: a, arrivals: {kind: poisson, rate: 18}, client: {retry: never}}
      - {name: b, arrivals: {kind: poisson, rate: 18}, client: {retry: never}}
`
	for planting, want := range map[bug]string{
		sound:          "",
		newestFirst:    "before an older one",
		favourite:      "it is the turn of",
		overLimit:      "the limit is 4",
		afterDeadline:  "after its deadline",
		restless:       "changed twice",
		miscounted:     "pending",
		forgetful:      "pending",
		refusedRunning: "is refused in state",
	} {
		if planting == afterDeadline {
			text = strings.Replace(text, "claim_max_wait_ms: 2000", "claim_max_wait_ms: 200", 1)
		}
		s, err := scenario.Parse("n.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(text, "claim_max_wait_ms: 200,", "claim_max_wait_ms: 2000,", 1)
		if planting != afterDeadline {
			s.Namespaces[0].Settings.MaxWaitMs = 3_600_000
		}
		l := &ledger{policy: Policies()[0], sample: second, end: int64(s.Duration)}
		p := &planted{bug: planting, limit: 4, queues: map[string][]admission.ID{}, arrived: map[admission.ID]int64{}}
		w, err := newWorld(&s.Namespaces[0], s, p, 1, l)
		if err != nil {
			t.Fatal(err)
		}
		err = w.run()
		switch {
		case want == "" && err != nil:
			t.Errorf("without a bug: %v", err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "step ")):
			t.Errorf("bug %d: got %v, want it to say %q and the step", planting, err, want)
		}
	}
}
