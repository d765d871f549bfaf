package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
)

func newRunSubmit(e *env) *cobra.Command {
	var f runFlags
	var once idempotency
	var watch bool
	cmd := &cobra.Command{
		Use: "submit [FILE]", Short: "Submit a run", Args: cobra.MaximumNArgs(1),
		Long: `Submit a run: a batch of items of one kind, admitted whole or not at all, that goes
on without the client.

` + runInputHelp + `

If the command fails without knowing whether the run was taken, it prints the
idempotency key under which it can be run again without making a second run. With
--watch it then follows the run to its end; see skerry run watch.`,
		Example: `  skerry run submit run.json --watch
  skerry run submit --kind score --items molecules.csv --id-column name --typed
  jq -c '.[]' items.json | skerry run submit --kind score --items - --shared '{"model":"m1"}'
  skerry run submit --kind selection --shared @selection.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := e.runSpec(&f, argument(args, 0))
			if err != nil {
				return err
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			chosen := once.key != ""
			if !chosen {
				once.key = rand.Text()
			}
			run, err := once.on(cl, "").SubmitRun(cmd.Context(), spec)
			if err != nil {
				if !chosen && perhapsTaken(err) {
					e.note("whether the run was taken is not known: run this again with --idempotency-key %s, and there will be one", once.key)
				}
				return err
			}
			if err := e.printRun(run); err != nil || !watch {
				return err
			}
			return e.watch(cmd.Context(), cl, run)
		},
	}
	f.flags(cmd)
	once.flags(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "follow the run to its end")
	return cmd
}

// perhapsTaken reports whether a submission that failed may have had its effect:
// no refusal came.
func perhapsTaken(err error) bool {
	var refusal *api.Error
	return !errors.As(err, &refusal) || refusal.Code == api.IdempotencyInProgress || refusal.Code.Status() >= 500
}

func newRunEstimate(e *env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "estimate [FILE]", Short: "Tell what a run would cost, and whether it would be admitted now", Args: cobra.MaximumNArgs(1),
		Long: `Tell what a run would cost and whether it would be admitted now, without submitting
it. The exit code is 0 if it would and 1 if not.

` + runInputHelp,
		Example: "  skerry run estimate run.json\n  skerry run estimate --kind score --items molecules.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := e.runSpec(&f, argument(args, 0))
			if err != nil {
				return err
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			estimate, err := cl.EstimateRun(cmd.Context(), spec)
			if err != nil {
				return err
			}
			return e.printEstimate(estimate)
		},
	}
	f.flags(cmd)
	return cmd
}

// printEstimate shows an estimate. It is an error if the run would not be admitted.
func (e *env) printEstimate(s *api.RunEstimate) error {
	err := e.document(s,
		[2]string{"admissible", strconv.FormatBool(s.Admissible)},
		[2]string{"reason", s.Reason}, [2]string{"budget", s.Budget},
		[2]string{"items", strconv.Itoa(s.Work.Items)},
		[2]string{"result cells", strconv.FormatInt(s.Work.ResultCells, 10)},
		[2]string{"cost", strconv.FormatInt(s.Work.Cost, 10)},
		[2]string{"quanta", strconv.Itoa(s.Work.Quanta)},
	)
	switch {
	case err != nil || s.Admissible:
		return err
	case s.Budget != "":
		return fmt.Errorf("the run would not be admitted now: %s, budget %s", s.Reason, s.Budget)
	}
	return fmt.Errorf("the run would not be admitted now: %s", s.Reason)
}
