package cli

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/client"
)

// workFlags are the flags of skerry work.
type workFlags struct {
	kinds              []string
	jobs, maxJobs      int
	jsonInput          bool
	once, recover      bool
	mediaType          string
	wait, lease, grace time.Duration
}

func newWorkCommand(e *env) *cobra.Command {
	var w workFlags
	cmd := &cobra.Command{
		Use:   "work --kind KIND… -- COMMAND ARGS…",
		Short: "Run a command for each claim",
		Long: `Claim verbs and run a command for each. The lease is kept while it runs; its
standard output is the artifact, of at most 1 MiB.

Exit code 0 submits the output, 75 fails the verb for another attempt, 100 fails it
for good, and any other code or a signal fails it for another attempt, with the end
of standard error as the message.

The command finds:
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

Keys are not handed on to the command. It runs in its own process group, which is
killed when the lease is lost or the verb cancelled; nothing is submitted then.

SIGINT or SIGTERM ends the claiming, gives what runs the time of --grace, and then
kills it and releases its claims. A second one does so at once.`,
		Example: "  skerry work -n demo --kind summarize -j 4 -- ./summarize.py",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at != 0 || len(args) == 0 {
				return errors.New("give the command to run behind --")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return e.work(cmd, &w, args) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&w.kinds, "kind", nil, "kind to claim; may be given more than once (default: any)")
	f.IntVarP(&w.jobs, "jobs", "j", 1, "how many commands run at once")
	f.BoolVar(&w.jsonInput, "json-input", false, "give the claim as JSON on standard input")
	f.StringVar(&w.mediaType, "media-type", "", "media type of the artifact")
	f.DurationVar(&w.wait, "wait", 30*time.Second, "how long one claim waits for work, up to 30s")
	f.DurationVar(&w.lease, "lease", 0, "lease length (default: the verb's)")
	f.DurationVar(&w.grace, "grace", 10*time.Second, "how long commands may go on after an interrupt")
	f.BoolVar(&w.once, "once", false, "work on one claim and end; end too if there is none")
	f.IntVar(&w.maxJobs, "max-jobs", 0, "end after this many claims (0: never)")
	f.BoolVar(&w.recover, "recover", false, "take up the leases that the key's principal still holds, of a run that was killed; only where no other process works under it")
	return cmd
}

func (e *env) work(cmd *cobra.Command, w *workFlags, args []string) error {
	if w.jobs < 1 {
		return usage("-j is below 1")
	}
	if w.wait < time.Millisecond {
		return usage("--wait is below 1ms")
	}
	if w.grace <= 0 {
		return usage("--grace is not above 0; a second interrupt ends at once")
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
	r := &runner{path: path, args: args[1:], jsonInput: w.jsonInput, mediaType: w.mediaType, environ: jobEnviron(), screen: s}
	maxJobs := w.maxJobs
	if w.once {
		maxJobs = 1
	}
	return cl.Work(cmd.Context(), client.WorkerOptions{
		Kinds: w.kinds, Concurrency: w.jobs, Wait: w.wait, Lease: w.lease, Grace: w.grace, Force: e.force,
		MaxJobs: maxJobs, StopWhenIdle: w.once, Recover: w.recover, Handler: r.handle, Observe: s.finished,
		Delayed: func(err error) {
			line, _ := e.mend(cmd, err)
			s.delayed(line)
		},
	})
}
