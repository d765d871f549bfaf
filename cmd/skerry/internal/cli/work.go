package cli

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// workFlags are the flags of skerry work.
type workFlags struct {
	kinds              []string
	pool               string
	jobs, maxJobs      int
	maxItems           int
	jsonInput          bool
	once, whenIdle     bool
	recover            bool
	mediaType          string
	wait, lease, grace time.Duration
}

const workHelp = `Claim verbs and run a command for each; with --pool, run a command for each item
of durable runs, or for each singular call. The lease is kept while it runs.

Claims. Standard output is the artifact, of at most 1 MiB. Exit code 0 submits it,
75 fails the verb for another attempt, 100 fails it for good, and any other code or
a signal fails it for another attempt, with the end of standard error as the
message. The command finds:
  standard input        the content of the input if there is exactly one; with
                        --json-input the claim as JSON, each input with the path of
                        its file; else nothing
  SKERRY_CLAIM_ID, SKERRY_VERB_ID, SKERRY_KIND, SKERRY_FENCE
  SKERRY_TRY            which try of the verb this is, from 1
  SKERRY_GROUP, SKERRY_ATTEMPT
                        the attempt group, and the verb's number in it, from 1, if
                        it is one of a group
  SKERRY_BRIEF          the brief as JSON, unless it is larger than 64 KiB
  SKERRY_INPUT_DIR      a directory of its own with the brief in brief.json, a file
                        for each input and inputs.json that tells which is which;
                        an input that lies at a URI has no file

Items. --pool durable takes the items of runs, --pool default and --pool slow take
singular calls, one at a time. Exit code 0 reports standard output as the result, a
JSON object of at most 1 MiB; what is none fails the item with the code bad_result,
what is larger with output_too_large. Exit code 75 hands the item back for another
try, and any other code or a signal fails it for good, with the last line of
standard error as the message. A command that is still running at the kind's time
limit is killed, and its item fails with the code item_timeout. The command finds:
  standard input        {"id","kind","scorer"?,"run","input_index","attempt_count",
                        "shared","payload"} in one line; run is null for a singular
                        call
  SKERRY_ITEM_ID, SKERRY_RUN_ID, SKERRY_KIND, SKERRY_SCORER, SKERRY_INPUT_INDEX
  SKERRY_TRY            how often the item was granted, from 1

Keys are not handed on to the command. It runs in its own process group, which is
killed when the lease is lost or the verb or run cancelled; nothing is reported
then.

SIGINT or SIGTERM ends the claiming, gives what runs the time of --grace, and then
kills it and releases what it worked on. A second one does so at once.`

func newWorkCommand(e *env) *cobra.Command {
	var w workFlags
	cmd := &cobra.Command{
		Use:   "work [--pool POOL] --kind KIND… -- COMMAND ARGS…",
		Short: "Run a command for each claim, or with --pool for each item of runs",
		Long:  workHelp,
		Example: `  skerry work -n demo --kind summarize -j 4 -- ./summarize.py
  skerry work -n demo --pool durable --kind score --slots 4 -- ./score.py
  skerry work -n demo --pool default --kind embed -- jq '{length: (.payload.text | length)}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at != 0 || len(args) == 0 {
				return errors.New("give the command to run behind --")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return e.work(cmd, &w, args) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&w.kinds, "kind", nil, "kind to work on; may be given more than once (default: any)")
	f.StringVar(&w.pool, "pool", "", "work on items of this pool instead of claims: "+strings.Join(pools(), ", "))
	f.IntVarP(&w.jobs, "jobs", "j", 1, "how many commands run at once")
	f.IntVar(&w.jobs, "slots", 1, "with --pool durable another name of --jobs")
	f.IntVar(&w.maxItems, "max-items", 0, "with --pool: take at most this many items at once, for the slot to work on in turn (0: the namespace's choice)")
	f.BoolVar(&w.jsonInput, "json-input", false, "give the claim as JSON on standard input")
	f.StringVar(&w.mediaType, "media-type", "", "media type of the artifact")
	f.DurationVar(&w.wait, "wait", 30*time.Second, "how long one claim waits for work, up to 30s")
	f.DurationVar(&w.lease, "lease", 0, "lease length (default: the verb's or the namespace's)")
	f.DurationVar(&w.grace, "grace", 10*time.Second, "how long commands may go on after an interrupt")
	f.BoolVar(&w.once, "once", false, "work on one claim, or one grant of items, and end; end too if there is none")
	f.IntVar(&w.maxJobs, "max-jobs", 0, "end after this many claims, or grants of items (0: never)")
	f.BoolVar(&w.whenIdle, "stop-when-idle", false, "end when there is no work")
	f.BoolVar(&w.recover, "recover", false, "take up the leases that the key's principal still holds, of a run that was killed; only where no other process works under it")
	for _, ofClaims := range []string{"json-input", "media-type", "recover"} {
		cmd.MarkFlagsMutuallyExclusive("pool", ofClaims)
	}
	cmd.MarkFlagsMutuallyExclusive("jobs", "slots")
	_ = cmd.RegisterFlagCompletionFunc("pool", cobra.FixedCompletions(pools(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func pools() []string { return []string{api.PoolDurable, api.PoolDefault, api.PoolSlow} }

// check finds what makes no sense.
func (w *workFlags) check() error {
	switch {
	case w.jobs < 1:
		return usage("-j is below 1")
	case w.wait < time.Millisecond:
		return usage("--wait is below 1ms")
	case w.grace <= 0:
		return usage("--grace is not above 0; a second interrupt ends at once")
	case w.maxItems < 0:
		return usage("--max-items is below 0")
	case w.pool == "" && w.maxItems > 0:
		return usage("--max-items needs --pool")
	case w.pool != "" && !slices.Contains(pools(), w.pool):
		return usage("--pool is none of %s", strings.Join(pools(), ", "))
	case w.pool != "" && w.pool != api.PoolDurable && w.jobs > 1:
		return usage("a worker has one slot in the pool %s: start another worker for another slot", w.pool)
	}
	return nil
}

func (e *env) work(cmd *cobra.Command, w *workFlags, args []string) error {
	if err := w.check(); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return usage("find the command: %w", err)
	}
	o := e.options()
	o.Concurrency, o.Patient = 2*w.jobs+1, true
	cl, err := e.client(o)
	if err != nil {
		return err
	}
	defer cl.Close()
	s := newScreen(e)
	defer s.close()
	defer context.AfterFunc(cmd.Context(), s.stopping)()
	if w.once {
		w.maxJobs, w.whenIdle = 1, true
	}
	r := &runner{path: path, args: args[1:], environ: jobEnviron(), screen: s}
	delayed := func(err error) {
		line, _ := e.mend(cmd, err)
		s.delayed(line)
	}
	if w.pool == "" {
		return e.workClaims(cmd.Context(), cl, w, r, delayed)
	}
	return e.workItems(cmd.Context(), cl, w, r, delayed)
}

func (e *env) workClaims(ctx context.Context, cl *client.Client, w *workFlags, r *runner, delayed func(error)) error {
	claims := &claimRunner{r, w.jsonInput, w.mediaType}
	return cl.Work(ctx, client.WorkerOptions{
		Kinds: w.kinds, Concurrency: w.jobs, Wait: w.wait, Lease: w.lease, Grace: w.grace, Force: e.force,
		MaxJobs: w.maxJobs, StopWhenIdle: w.whenIdle, Recover: w.recover,
		Handler: claims.handle, Observe: claims.finished, Delayed: delayed,
	})
}

func (e *env) workItems(ctx context.Context, cl *client.Client, w *workFlags, r *runner, delayed func(error)) error {
	items := itemRunner{r}
	return cl.WorkRuns(ctx, client.RunWorkerOptions{
		Pool: w.pool, Kinds: w.kinds, Slots: w.jobs, MaxItems: w.maxItems, Wait: w.wait, Lease: w.lease, Grace: w.grace,
		Force: e.force, MaxQuanta: w.maxJobs, StopWhenIdle: w.whenIdle,
		Handler: items.handle, Delayed: delayed,
		Observe: func(o client.QuantumOutcome) {
			items.finished(o)
			if handedBack(&o) {
				pause(ctx, handBackRest)
			}
		},
	})
}
