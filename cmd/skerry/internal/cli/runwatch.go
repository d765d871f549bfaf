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

func newRunWatch(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Follow a run to its end", Args: cobra.ExactArgs(1),
		Long: `Follow a run to its end, with a progress bar on a terminal and otherwise a line
whenever another tenth of its items has ended. Lost connections and restarts of the
server are waited out. An interrupt ends the command, not the run.

With --json each event of the run, from the first on, is printed as a line of JSON.

The exit code is 0 if all items succeeded, and 1 if any failed or the run was
cancelled.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			run, err := cl.Run(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.watch(cmd.Context(), cl, run)
		},
	}
}

// watch follows a run to its end. It is an error if not all of it succeeded.
func (e *env) watch(ctx context.Context, cl *client.Client, run *api.Run) error {
	after := run.LastEventSequence
	if e.json {
		after = 0
	}
	v := newRunView(e, run)
	defer v.bar.done()
	for event, err := range cl.FollowRun(ctx, run.ID, after) {
		if ctx.Err() != nil {
			e.note("the run goes on; skerry run watch %s follows it again", run.ID)
		}
		if err != nil {
			return err
		}
		if err := v.show(&event); err != nil {
			return err
		}
	}
	v.bar.done()
	last, err := cl.Run(ctx, run.ID)
	if err != nil {
		return err
	}
	if !e.json {
		if err := e.printRun(last); err != nil {
			return err
		}
	}
	if last.Status != api.RunCompleted {
		return fmt.Errorf("run %s %s: %s", last.ID, last.Status, progressText(last.Progress))
	}
	return nil
}

// runView shows how a run goes on.
type runView struct {
	env    *env
	bar    bar
	id     string
	status string
	// tenth is the last tenth of the items that was told of where there is no
	// bar.
	tenth int
}

func newRunView(e *env, run *api.Run) *runView {
	v := &runView{env: e, id: run.ID, status: string(run.Status) + runWaiting(run.WaitingFor)}
	v.bar = e.countBar(int64(run.Progress.Total), v.id+" "+v.status)
	v.tell(run.Progress, !run.Status.Ended())
	return v
}

// show shows the run as it is after an event.
func (v *runView) show(event *api.RunEvent) error {
	if v.env.json {
		return v.env.line(event)
	}
	word, ofRun := strings.CutPrefix(event.Type, "run.")
	switch {
	case word == "started":
		v.status = string(api.RunRunning)
	case ofRun:
		v.status = strings.ReplaceAll(word, "_", " ")
	}
	if event.Progress != nil {
		v.tell(*event.Progress, ofRun)
	}
	return nil
}

// tell moves the bar. Where there is none it prints a line, if the news is worth
// one or another tenth of the items has ended.
func (v *runView) tell(p api.Progress, news bool) {
	if v.env.json {
		return
	}
	if v.env.bars() {
		v.bar.Describe(v.id + " " + v.status + failures(p))
		_ = v.bar.Set(ended(p))
		return
	}
	tenth := 10 * ended(p) / max(p.Total, 1)
	if news || tenth > v.tenth {
		v.env.note("%s %s: %s", v.id, v.status, progressText(p))
	}
	v.tenth = tenth
}

func failures(p api.Progress) string {
	if p.Failed == 0 {
		return ""
	}
	return ", " + strconv.Itoa(p.Failed) + " failed"
}

func newRunEvents(e *env) *cobra.Command {
	var p paging
	var after int64
	var follow bool
	cmd := &cobra.Command{
		Use: "events ID", Short: "List the events of a run, or follow them", Args: cobra.ExactArgs(1),
		Example: "  skerry run events rn_1 --after 12 --follow --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			events := cl.RunEvents(cmd.Context(), args[0], &client.EventOptions{After: after, PageSize: p.pageSize()})
			if follow {
				events = cl.FollowRun(cmd.Context(), args[0], after)
			}
			n := 0
			for event, err := range events {
				if err == nil {
					err = e.printEvent(&event, n == 0)
				}
				if err != nil {
					return err
				}
				if n++; n == p.limit {
					break
				}
			}
			return nil
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "only what follows this sequence number")
	p.limitFlag(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print events as they happen, until the run has ended")
	return cmd
}

// eventLine has columns of fixed widths, so that each event can be printed when it
// happens.
const eventLine = "%-6s  %-25s  %-20s  %-9s  %s\n"

func (e *env) printEvent(event *api.RunEvent, first bool) error {
	if e.json {
		return e.line(event)
	}
	if first {
		if _, err := fmt.Fprintf(e.out, eventLine, "SEQ", "TYPE", "AT", "ENDED", "ITEM"); err != nil {
			return err
		}
	}
	var at, progress string
	if event.At != nil {
		at = stamp(*event.At)
	}
	if event.Progress != nil {
		progress = share(*event.Progress)
	}
	line := fmt.Sprintf(eventLine, strconv.FormatInt(event.Sequence, 10), oneLine(event.Type), at, progress, oneLine(event.ItemID))
	_, err := fmt.Fprintln(e.out, strings.TrimRight(line, " \n"))
	return err
}
