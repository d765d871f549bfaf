package sim

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/skerryhq/skerry/sim/figure"
	"github.com/skerryhq/skerry/sim/policy"
	"github.com/skerryhq/skerry/sim/report"
	"github.com/skerryhq/skerry/sim/scenario"
)

// Options say how a scenario is run. The zero value runs it once with seed 0 under the
// production controller.
type Options struct {
	// Seeds are those to run it with, each under every policy; none is seed 0.
	Seeds []uint64
	// Policies are names of [Policies]; none is the first.
	Policies []string
	// Requests gets every attempt of every request, in order; it may be nil.
	Requests func(report.Request)
	// Progress is told how many of the simulations are done; it may be nil.
	Progress func(done, total int)
}

// Result is what came of a scenario.
type Result struct {
	report.Input
	// Steps is how many events were carried out.
	Steps int64
}

// Policies are the names of the policies that can be compared, the production
// controller first.
func Policies() []string { return policy.Names() }

// AboutPolicy says in a line what a policy is.
func AboutPolicy(name string) string { return policy.About(name) }

// Scenarios are the names of the scenarios that come with the package.
func Scenarios() []string { return scenario.Names() }

// Load reads a scenario: one that comes with the package by its name, or a file.
func Load(nameOrFile string) (*scenario.Scenario, error) {
	if slices.Contains(scenario.Names(), nameOrFile) {
		return scenario.Shipped(nameOrFile)
	}
	return scenario.Load(nameOrFile)
}

// ScenarioText is the YAML of a scenario that comes with the package.
func ScenarioText(name string) ([]byte, error) {
	if !slices.Contains(scenario.Names(), name) {
		return nil, fmt.Errorf("there is no scenario %s", name)
	}
	text, err := fs.ReadFile(scenario.Embedded(), name+".yaml")
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return text, nil
}

// Schema is the JSON Schema of scenario files.
func Schema() []byte { return scenario.Schema() }

// task is one world to simulate, and what came of it.
type task struct {
	seed    uint64
	policy  string
	space   *scenario.Namespace
	ledger  *ledger
	sample  figure.Sample
	parties []figure.Sample
	tenants []figure.Sample
	err     error
}

// Run simulates every namespace of a scenario under every policy with every seed. The
// simulations are independent of each other and may run side by side; the result does
// not depend on that. It fails with the first invariant that is violated.
func Run(ctx context.Context, s *scenario.Scenario, o Options) (*Result, error) {
	if len(o.Seeds) == 0 {
		o.Seeds = []uint64{0}
	}
	if len(o.Policies) == 0 {
		o.Policies = Policies()[:1]
	}
	var tasks []*task
	for _, name := range o.Policies {
		for i := range s.Namespaces {
			for _, seed := range o.Seeds {
				tasks = append(tasks, &task{seed: seed, policy: name, space: &s.Namespaces[i]})
			}
		}
	}
	if err := runAll(ctx, s, &o, tasks); err != nil {
		return nil, err
	}
	return collect(s, &o, tasks), nil
}

// runAll runs the tasks side by side, or one after the other if each request is told of.
func runAll(ctx context.Context, s *scenario.Scenario, o *Options, tasks []*task) error {
	workers := min(runtime.GOMAXPROCS(0), len(tasks))
	if o.Requests != nil {
		workers = 1
	}
	next := make(chan *task)
	var group sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range workers {
		group.Go(func() {
			for t := range next {
				t.err = t.run(s, o)
				mu.Lock()
				done++
				if o.Progress != nil {
					o.Progress(done, len(tasks))
				}
				mu.Unlock()
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		next <- t
	}
	close(next)
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for _, t := range tasks {
		if t.err != nil {
			return fmt.Errorf("scenario %s, policy %s, namespace %s, seed %d: %w", s.Name, t.policy, t.space.Name, t.seed, t.err)
		}
	}
	return nil
}

// points is how many points a series has if the scenario does not say.
const points = 200

func (t *task) run(s *scenario.Scenario, o *Options) error {
	p, err := policy.New(t.policy, t.space.Settings, t.seed)
	if err != nil {
		return err
	}
	t.ledger = &ledger{
		seed: t.seed, policy: t.policy, sample: int64(s.Sample), warmup: int64(s.Warmup), end: int64(s.Duration), each: o.Requests,
	}
	if t.ledger.sample <= 0 {
		t.ledger.sample = max(int64(s.Duration)/points, 1)
	}
	w, err := newWorld(t.space, s, p, t.seed, t.ledger)
	if err != nil {
		return err
	}
	if err := w.run(); err != nil {
		return err
	}
	t.sample, t.parties = t.ledger.samples(w)
	if t.space.Runs == nil {
		return nil
	}
	fair := t.policy == Policies()[0]
	r, err := newYard(t.space, t.seed, int64(s.Duration), fair)
	if err != nil {
		return err
	}
	if err := r.run(); err != nil {
		return err
	}
	t.tenants = r.samples()
	t.ledger.steps += r.steps
	if len(t.space.Principals) == 0 {
		t.sample = r.whole()
	}
	return nil
}

// collect makes the summary out of all tasks, in the order of the scenario.
func collect(s *scenario.Scenario, o *Options, tasks []*task) *Result {
	r := &Result{}
	r.Summary = figure.Summary{
		Scenario: s.Name, Title: s.Title, About: s.About, Seeds: o.Seeds,
		DurationMs: s.Duration.Duration().Milliseconds(), WarmupMs: s.Warmup.Duration().Milliseconds(),
	}
	first := map[string][]figure.Sample{} // of the first policy, by namespace
	at := 0
	for _, name := range o.Policies {
		p := figure.Policy{Name: name}
		for i := range s.Namespaces {
			group := tasks[at : at+len(o.Seeds)]
			at += len(o.Seeds)
			space := &s.Namespaces[i]
			samples := r.add(&p, space, group)
			if name == o.Policies[0] {
				first[space.Name] = samples
				continue
			}
			r.Summary.Comparisons = append(r.Summary.Comparisons, figure.Compare(space.Name, o.Policies[0], name, first[space.Name], samples)...)
		}
		r.Summary.Policies = append(r.Summary.Policies, p)
	}
	for _, space := range s.Namespaces {
		for _, e := range space.Episodes {
			r.Episodes = append(r.Episodes, report.Episode{Namespace: space.Name, Kind: e.Kind, From: int64(e.From), To: int64(e.To)})
		}
	}
	return r
}

// add adds one namespace under one policy, over its seeds.
func (r *Result) add(p *figure.Policy, space *scenario.Namespace, group []*task) []figure.Sample {
	samples := make([]figure.Sample, len(group))
	waits := report.Waits{Policy: p.Name, Namespace: space.Name, Histogram: &figure.Histogram{}}
	for n, t := range group {
		samples[n] = t.sample
		r.Steps += t.ledger.steps
		waits.Histogram.Merge(&t.ledger.all.wait)
		r.Series = append(r.Series, figure.PolicySeries{Seed: t.seed, Policy: p.Name, Namespace: space.Name, Series: t.ledger.series})
	}
	r.Waits = append(r.Waits, waits)
	n := figure.Namespace{Name: space.Name, Figures: figure.Over(samples)}
	for i := range group[0].ledger.parties {
		n.Principals = append(n.Principals, party(group, group[0].ledger.parties[i].name, func(t *task) figure.Sample { return t.parties[i] }))
	}
	if space.Runs != nil {
		for i, name := range tenantsOf(space.Runs) {
			n.Tenants = append(n.Tenants, party(group, name, func(t *task) figure.Sample { return t.tenants[i] }))
		}
	}
	p.Namespaces = append(p.Namespaces, n)
	return samples
}

// party sums up one principal or tenant over the seeds.
func party(group []*task, name string, of func(*task) figure.Sample) figure.Party {
	samples := make([]figure.Sample, len(group))
	for n, t := range group {
		samples[n] = of(t)
	}
	return figure.Party{Name: name, Figures: figure.Over(samples)}
}
