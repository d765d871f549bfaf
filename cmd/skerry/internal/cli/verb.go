package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func newVerbCommand(e *env) *cobra.Command {
	return group("verb", "Create, follow and end units of work", []string{"verbs"},
		newVerbCreate(e), newVerbBatch(e), newVerbList(e), newVerbGet(e),
		newVerbChange(e, "cancel", "End a verb that has not ended", (*client.Client).Cancel),
		newVerbChange(e, "requeue", "Make a failed verb ready again", (*client.Client).Requeue))
}

func newVerbList(e *env) *cobra.Command {
	var p paging
	var f client.VerbFilter
	var state string
	cmd := &cobra.Command{
		Use: "list", Short: "List verbs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			f.State = api.VerbState(state)
			head := []string{"ID", "KIND", "STATE", "TRIES", "ARTIFACT", "CREATED"}
			return printList(e, &p, cl.Verbs(cmd.Context(), f, p.options()), head, func(v api.Verb) []string {
				return []string{v.ID, v.Kind, string(v.State), tries(&v), v.Artifact, stamp(v.CreatedAt)}
			})
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&state, "state", "", "blocked, ready, leased, succeeded, failed or cancelled")
	cmd.Flags().StringVar(&f.Kind, "kind", "", "only this kind")
	cmd.Flags().StringVar(&f.Group, "group", "", "only this attempt group")
	states := []string{"blocked", "ready", "leased", "succeeded", "failed", "cancelled"}
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newVerbGet(e *env) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "get ID", Short: "Describe a verb, or wait until it has ended", Args: cobra.ExactArgs(1),
		Long: `Describe a verb. With --wait the command returns when the verb has ended, with
exit code 0 if it succeeded and 1 if not.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			verb, err := cl.Verb(cmd.Context(), args[0])
			if err == nil && wait {
				verb, err = e.untilEnded(cmd.Context(), cl, verb)
			}
			if err != nil {
				return err
			}
			if err := e.printVerb(verb); err != nil {
				return err
			}
			if wait && verb.State != api.VerbSucceeded {
				return fmt.Errorf("verb %s %s", verb.ID, verb.State)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the verb has ended")
	return cmd
}

// pollEvery bounds one long poll: a change between two of them is seen this late
// at most.
const pollEvery = 10 * time.Second

func (e *env) untilEnded(ctx context.Context, cl *client.Client, verb *api.Verb) (*api.Verb, error) {
	b := e.newBar(-1, "waiting for "+verb.ID)
	defer b.done()
	for !verb.State.Ended() {
		b.Describe(verb.ID + " is " + string(verb.State) + waitingFor(verb.WaitingFor))
		next, err := cl.WaitVerb(ctx, verb.ID, pollEvery)
		if err != nil {
			return nil, err
		}
		verb = next
	}
	return verb, nil
}

func newVerbChange(e *env, name, short string, change func(*client.Client, context.Context, string) (*api.Verb, error)) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			verb, err := change(cl, cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.printVerb(verb)
		},
	}
}

func (e *env) printVerb(v *api.Verb) error {
	var failure, ended string
	if v.Error != nil {
		failure = strings.TrimPrefix(v.Error.Code+": "+v.Error.Message, ": ")
	}
	if v.EndedAt != nil {
		ended = stamp(*v.EndedAt)
	}
	return e.document(v, [2]string{"id", v.ID}, [2]string{"kind", v.Kind}, [2]string{"state", string(v.State) + waitingFor(v.WaitingFor)},
		[2]string{"artifact", v.Artifact}, [2]string{"group", v.Group}, [2]string{"tries", tries(v)},
		[2]string{"inputs", inputList(v.Inputs)}, [2]string{"error", failure}, [2]string{"receipt", v.Receipt},
		[2]string{"created", stamp(v.CreatedAt)}, [2]string{"ended", ended})
}

func tries(v *api.Verb) string {
	return strconv.Itoa(v.AttemptCount) + "/" + strconv.Itoa(v.MaxAttempts)
}

func inputList(inputs []api.VerbInput) string {
	names := make([]string, len(inputs))
	for i, in := range inputs {
		switch {
		case in.Group != "":
			names[i] = "group:" + in.Group
		case in.Ref != "":
			names[i] = in.Ref
		default:
			names[i] = in.Key
		}
	}
	return strings.Join(names, ", ")
}

// waitingFor says why a verb is not under way, as a clause.
func waitingFor(w *api.WaitingFor) string {
	if w == nil {
		return ""
	}
	switch w.Reason {
	case "turn":
		place := strconv.Itoa(w.Position)
		if w.OrMore {
			place += " or more"
		}
		return ", waiting for its turn at place " + place
	case "time":
		if w.Until != nil {
			return ", waiting until " + stamp(*w.Until)
		}
	case "inputs":
		var names []string
		for _, in := range w.Inputs {
			name := in.Key + in.Group
			if in.Problem != "" {
				name += " (" + in.Problem + ")"
			}
			names = append(names, name)
		}
		return ", waiting for " + strings.Join(names, ", ")
	}
	return ", waiting for " + w.Reason
}
