package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func newClaimCommand(e *env) *cobra.Command {
	return group("claim", "Claim work and report on it by hand", []string{"claims"},
		newClaimTake(e), newClaimList(e), newClaimHeartbeat(e), newClaimSubmit(e), newClaimFail(e), newClaimRelease(e))
}

func newClaimTake(e *env) *cobra.Command {
	var spec api.ClaimSpec
	var most int
	var lease, wait time.Duration
	var patient bool
	var once idempotency
	cmd := &cobra.Command{
		Use: "take", Short: "Claim ready verbs", Args: cobra.NoArgs,
		Long: `Claim ready verbs. The exit code is 75 if there was nothing to claim. Keep the
lease with skerry claim heartbeat until you submit; skerry work does all of that.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec.Max, spec.LeaseMs, spec.WaitMs = &most, optionalMs(lease), optionalMs(wait)
			o := e.options()
			o.Patient = patient
			cl, err := e.client(o)
			if err != nil {
				return err
			}
			defer cl.Close()
			claimed, err := once.on(cl, "").Claim(cmd.Context(), spec)
			if err != nil {
				return err
			}
			if e.json {
				return e.line(claimed.Claims)
			}
			if len(claimed.Claims.Claims) == 0 {
				return errNothing
			}
			return e.printClaims(claimed.Claims.Claims)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&spec.Kinds, "kind", nil, "kind to claim; may be given more than once (default: any)")
	f.IntVar(&most, "max", 1, "claim at most this many")
	f.DurationVar(&lease, "lease", 0, "lease length")
	f.DurationVar(&wait, "wait", 0, "wait this long for work, up to 30s")
	f.BoolVar(&patient, "patient", false, "when refused for load, come back as often as it takes")
	once.flags(cmd)
	return cmd
}

func newClaimList(e *env) *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list", Short: "List the live leases of the key's principal", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			return printList(e, &p, cl.Claims(cmd.Context(), p.options()), claimHead(), claimCells)
		},
	}
	p.flags(cmd)
	return cmd
}

func claimHead() []string { return []string{"ID", "FENCE", "VERB", "KIND", "ARTIFACT", "LEFT"} }

func claimCells(c api.Claim) []string {
	return []string{c.ID, strconv.FormatInt(c.Fence, 10), c.Verb.ID, c.Verb.Kind, c.Verb.Artifact, millis(c.TTLMs)}
}

func (e *env) printClaims(claims []api.Claim) error {
	t := newTable(e.out)
	t.row(claimHead()...)
	for _, c := range claims {
		t.row(claimCells(c)...)
	}
	return t.Flush()
}

// onClaim makes a command on one claim: its id as the first argument and its
// fence as a flag.
func (e *env) onClaim(use, short string, args cobra.PositionalArgs, do func(ctx context.Context, cl *client.Client, args []string, fence int64) error) *cobra.Command {
	var fence int64
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			return do(cmd.Context(), cl, args, fence)
		},
	}
	cmd.Flags().Int64Var(&fence, "fence", 0, "the claim's fencing token")
	_ = cmd.MarkFlagRequired("fence")
	return cmd
}

func newClaimHeartbeat(e *env) *cobra.Command {
	var lease time.Duration
	cmd := e.onClaim("heartbeat ID --fence N", "Renew a lease once", cobra.ExactArgs(1),
		func(ctx context.Context, cl *client.Client, args []string, fence int64) error {
			h, err := cl.Heartbeat(ctx, args[0], api.HeartbeatSpec{Fence: fence, LeaseMs: optionalMs(lease)})
			if err != nil {
				return err
			}
			return e.document(h, [2]string{"left", millis(h.TTLMs)}, [2]string{"expires", stamp(h.ExpiresAt)},
				[2]string{"cancel requested", strconv.FormatBool(h.CancelRequested)})
		})
	cmd.Flags().DurationVar(&lease, "lease", 0, "lease length (default: as granted)")
	return cmd
}

func newClaimSubmit(e *env) *cobra.Command {
	var c contentFlags
	var metadata []string
	var once idempotency
	cmd := e.onClaim("submit ID [FILE] --fence N", "Submit a claim's artifact from a file or standard input", cobra.RangeArgs(1, 2),
		func(ctx context.Context, cl *client.Client, args []string, fence int64) error {
			spec := api.SubmitSpec{Fence: fence}
			var err error
			if spec.Output, err = e.content(&c, argument(args, 1)); err != nil {
				return err
			}
			if spec.Metadata, err = pairs(metadata); err != nil {
				return err
			}
			done, err := once.on(cl, "").Submit(ctx, args[0], spec)
			if err != nil {
				return err
			}
			return e.printReceipt(&done.Receipt)
		})
	c.flags(cmd)
	once.flags(cmd)
	cmd.Flags().StringArrayVar(&metadata, "meta", nil, "NAME=VALUE for the receipt; may be given more than once")
	return cmd
}

func newClaimFail(e *env) *cobra.Command {
	var spec api.FailSpec
	var after time.Duration
	cmd := e.onClaim("fail ID --fence N --message TEXT", "Report that the work failed, for now or for good", cobra.ExactArgs(1),
		func(ctx context.Context, cl *client.Client, args []string, fence int64) error {
			spec.Fence, spec.RetryAfterMs = fence, optionalMs(after)
			failed, err := cl.Fail(ctx, args[0], spec)
			if err != nil {
				return err
			}
			return e.printVerb(&failed.Verb)
		})
	f := cmd.Flags()
	f.StringVar(&spec.Error.Message, "message", "", "why it failed")
	f.StringVar(&spec.Error.Code, "code", "", "a stable name for why, for programs")
	f.BoolVar(&spec.Final, "final", false, "no further attempt makes sense")
	f.DurationVar(&after, "retry-after", 0, "when the next attempt may begin")
	_ = cmd.MarkFlagRequired("message")
	return cmd
}

func newClaimRelease(e *env) *cobra.Command {
	var after time.Duration
	cmd := e.onClaim("release ID --fence N", "Hand a claim back as if it had not been granted", cobra.ExactArgs(1),
		func(ctx context.Context, cl *client.Client, args []string, fence int64) error {
			released, err := cl.Release(ctx, args[0], api.ReleaseSpec{Fence: fence, RetryAfterMs: optionalMs(after)})
			if err != nil {
				return err
			}
			return e.printVerb(&released.Verb)
		})
	cmd.Flags().DurationVar(&after, "retry-after", 0, "when it may be granted again")
	return cmd
}
