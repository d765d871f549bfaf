package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/sim"
)

func newSimCommand(e *env) *cobra.Command {
	return group("sim", "Simulate admission and scheduling on virtual time", nil,
		newSimRun(e), newSimList(e), newSimShow(e), newSimPolicies(e), newSimSchema(e))
}

// simFlags are the flags of skerry sim run.
type simFlags struct {
	seed     uint64
	seeds    int
	policies []string
	out      string
	requests bool
}

func newSimRun(e *env) *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use: "run SCENARIO", Short: "Run a scenario, perhaps under several policies", Args: cobra.ExactArgs(1),
		Long: `Run a scenario on virtual time: the name of one that comes with the program (see
skerry sim list), or a YAML file. It runs the production controller and scheduler, and
with --policy others before the same arrivals.

The same scenario and seeds give the same bytes in every file of --out: summary.json,
series.csv, report.html for a person to read, and with --requests requests.csv. With
--seeds N each policy is run with N seeds, from --seed on, and figures come with their
95 % intervals and the paired differences to the first policy.`,
		Example: `  skerry sim run noisy-neighbour --policy all --out results
  skerry sim run my.yaml --seed 7 --seeds 10 --policy ours,fixed`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.simulate(cmd.Context(), &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 0, "seed, or the first of --seeds")
	flags.IntVar(&f.seeds, "seeds", 1, "how many seeds")
	flags.StringSliceVar(&f.policies, "policy", nil, "policies to compare, or all (default: "+sim.Policies()[0]+")")
	flags.StringVar(&f.out, "out", "", "folder for the report and the data")
	flags.BoolVar(&f.requests, "requests", false, "with --out: every attempt of every request as requests.csv")
	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(append(sim.Policies(), "all"), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *simFlags) check() error {
	if f.seeds < 1 {
		return usage("--seeds is below 1")
	}
	if f.requests && f.out == "" {
		return usage("--requests needs --out")
	}
	if slices.Equal(f.policies, []string{"all"}) {
		f.policies = sim.Policies()
	}
	for _, name := range f.policies {
		if !slices.Contains(sim.Policies(), name) {
			return usage("there is no policy %s; there are %s, and all", name, strings.Join(sim.Policies(), ", "))
		}
	}
	return nil
}

func (e *env) simulate(ctx context.Context, f *simFlags, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := sim.Load(name)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no scenario and no file %s; skerry sim list names the scenarios", name)
	}
	if err != nil {
		return err
	}
	o := sim.Options{Policies: f.policies}
	for n := range f.seeds {
		o.Seeds = append(o.Seeds, f.seed+uint64(n))
	}
	var requests []sim.Request
	if f.requests {
		o.Requests = func(r sim.Request) { requests = append(requests, r) }
	}
	bar := e.countBar(int64(len(s.Namespaces)*max(len(f.policies), 1)*f.seeds), "simulating")
	o.Progress = func(done, _ int) { _ = bar.Set(done) }
	r, err := sim.Run(ctx, s, o)
	bar.done()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := r.WriteFiles(f.out, requests); err != nil {
			return err
		}
	}
	if e.json {
		return e.line(r.Summary)
	}
	return r.Table(e.out)
}

func newSimList(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the scenarios that come with the program", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var rows [][2]string
			for _, name := range sim.Scenarios() {
				s, err := sim.Load(name)
				if err != nil {
					return err
				}
				rows = append(rows, [2]string{name, s.Title})
			}
			return e.named(rows)
		},
	}
}

func newSimPolicies(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "policies", Short: "List the policies that can be compared", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var rows [][2]string
			for _, name := range sim.Policies() {
				rows = append(rows, [2]string{name, sim.AboutPolicy(name)})
			}
			return e.named(rows)
		},
	}
}

// named prints names with what they stand for.
func (e *env) named(rows [][2]string) error {
	for _, r := range rows {
		var err error
		if e.json {
			err = e.line(map[string]string{"name": r[0], "about": r[1]})
		} else {
			_, err = fmt.Fprintf(e.out, "%-28s  %s\n", r[0], r[1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func newSimShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a scenario that comes with the program, to begin one's own with", Args: cobra.ExactArgs(1),
		ValidArgs: sim.Scenarios(),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := sim.ScenarioText(args[0])
			if err != nil {
				return err
			}
			_, err = e.out.Write(text)
			return err
		},
	}
}

func newSimSchema(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of scenario files", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := e.out.Write(sim.Schema())
			return err
		},
	}
}
