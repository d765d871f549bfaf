package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func newRunCommand(e *env) *cobra.Command {
	return group("run", "Submit, follow and read durable runs", []string{"runs"},
		newRunSubmit(e), newRunEstimate(e), newRunWatch(e), newRunGet(e), newRunList(e),
		newRunResults(e), newRunItems(e), newRunEvents(e), newRunCancel(e))
}

func newRunGet(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Describe a run", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.onRun(cmd, args[0], (*client.Client).Run)
		},
	}
}

func newRunCancel(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "End a run that has not ended", Args: cobra.ExactArgs(1),
		Long: `End a run. Its pending items end at once. Those that are being worked on end as
soon as their workers notice; until then the run says "cancel requested".`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.onRun(cmd, args[0], (*client.Client).CancelRun)
		},
	}
}

// onRun does something with a run and describes it.
func (e *env) onRun(cmd *cobra.Command, id string, do func(*client.Client, context.Context, string) (*api.Run, error)) error {
	cl, err := e.client(e.options())
	if err != nil {
		return err
	}
	defer cl.Close()
	run, err := do(cl, cmd.Context(), id)
	if err != nil {
		return err
	}
	return e.printRun(run)
}

func newRunList(e *env) *cobra.Command {
	var p paging
	var status string
	cmd := &cobra.Command{
		Use: "list", Short: "List the runs of the key's tenant", Args: cobra.NoArgs,
		Example: "  skerry run list --status running\n  skerry run list --newest --limit 1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			head := []string{"ID", "KIND", "STATUS", "ENDED", "FAILED", "CREATED"}
			return printList(e, &p, cl.Runs(cmd.Context(), api.RunStatus(status), p.options()), head, func(r api.Run) []string {
				return []string{r.ID, r.Kind, string(r.Status), share(r.Progress), strconv.Itoa(r.Progress.Failed), stamp(r.CreatedAt)}
			})
		},
	}
	p.flags(cmd)
	statusFlag(cmd, &status, string(api.RunQueued), string(api.RunRunning), string(api.RunCompleted),
		string(api.RunCompletedWithErrors), string(api.RunFailed), string(api.RunCancelled))
	return cmd
}

// statusFlag is the flag that chooses by status.
func statusFlag(cmd *cobra.Command, status *string, of ...string) {
	last := len(of) - 1
	cmd.Flags().StringVar(status, "status", "", strings.Join(of[:last], ", ")+" or "+of[last])
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
}

func (e *env) printRun(r *api.Run) error {
	status := string(r.Status) + runWaiting(r.WaitingFor)
	if r.CancelRequested {
		status += ", cancel requested"
	}
	rows := [][2]string{
		{"id", r.ID},
		{"kind", r.Kind},
		{"status", status},
		{"items", progressText(r.Progress)},
		{"created", stamp(r.CreatedAt)},
	}
	if metadata := string(r.Metadata); metadata != "{}" {
		rows = append(rows, [2]string{"metadata", metadata})
	}
	if r.StartedAt != nil {
		rows = append(rows, [2]string{"started", stamp(*r.StartedAt)})
	}
	if r.EndedAt != nil {
		rows = append(rows, [2]string{"ended", stamp(*r.EndedAt)})
	}
	return e.document(r, append(rows, [2]string{"expires", stamp(r.ExpiresAt)})...)
}

// ended is how many items have ended.
func ended(p api.Progress) int { return p.Succeeded + p.Failed + p.Cancelled }

// share is "3/10".
func share(p api.Progress) string { return strconv.Itoa(ended(p)) + "/" + strconv.Itoa(p.Total) }

// progressText is "3 of 10 ended, 1 failed, 2 running".
func progressText(p api.Progress) string {
	text := fmt.Sprintf("%d of %d ended", ended(p), p.Total)
	for _, part := range []struct {
		n    int
		word string
	}{{p.Failed, "failed"}, {p.Cancelled, "cancelled"}, {p.Running, "running"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	return text
}

// runWaiting says why no item of a run is being worked on, as a clause.
func runWaiting(w *api.RunWaiting) string {
	if w == nil {
		return ""
	}
	text := w.Reason
	switch w.Reason {
	case "worker":
		text = "a worker that takes its kind"
	case "slot":
		text = "a free slot"
	case "turn":
		text = "its turn"
	}
	return ", waiting for " + text + " (" + millis(w.ForMs) + ")"
}
