package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// The exit codes.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitNotFound = 3
	exitConflict = 4
	// exitTryAgain is EX_TEMPFAIL of sysexits.
	exitTryAgain = 75
)

// defaultData is the data directory of skerry serve.
const defaultData = "skerry-data"

// env is what a command sees of the world, and the persistent flags.
type env struct {
	in        io.Reader
	out, errs io.Writer
	getenv    func(string) string
	// outTerminal and errTerminal say whether people look at the two.
	outTerminal, errTerminal bool
	// force is closed by the second interrupt; the first one ends the command's
	// context.
	force <-chan struct{}

	server, namespace, key, operatorKey, data string
	json                                      bool
	timeout                                   time.Duration

	// began says that the arguments were understood and the command runs.
	began bool
	// release frees the timeout's context.
	release context.CancelFunc
}

// Main runs the command line of the process and returns its exit code: 0, 1 for
// an error, 2 for bad usage, 3 where something is not found, 4 for a conflict, 75
// where trying again later may help.
func Main() int {
	ctx, force, stop := interrupts()
	defer stop()
	e := &env{
		in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv, force: force, release: func() {},
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())), errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	return e.run(ctx, os.Args[1:])
}

func (e *env) run(ctx context.Context, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.errs)
	cmd, err := root.ExecuteContextC(ctx)
	e.release()
	if err == nil {
		return exitOK
	}
	line, code := e.mend(cmd, err)
	fmt.Fprintln(e.errs, "skerry: "+line)
	return code
}

// interrupts returns a context that the first SIGINT or SIGTERM ends, and a
// channel that the second one closes. Calling stop ends the watch.
func interrupts() (ctx context.Context, force <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	forced, quit, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for _, act := range []func(){cancel, func() { close(forced) }} {
			select {
			case <-signals:
				act()
			case <-quit:
				return
			}
		}
	}()
	return ctx, forced, func() {
		signal.Stop(signals)
		close(quit)
		<-done
		cancel()
	}
}

// newRoot makes the command tree.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "skerry",
		Short: "Namespaces of claimed work, each one actor and one SQLite file",
		Long: `Skerry grants units of work to workers: verbs are claimed under a lease with a
fencing token, worked on, and end in a receipt. Durable runs are batches of items
that are worked on in the same way, a few at a time. Each namespace is one actor
with one SQLite file, its own admission and its own keys.

Exit codes: 0 success, 1 error, 2 bad usage, 3 not found, 4 conflict, 75 try
again later.`,
		Args:             cobra.NoArgs,
		SilenceErrors:    true,
		SilenceUsage:     true,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { e.begin(cmd) },
	}
	f := root.PersistentFlags()
	f.StringVarP(&e.server, "server", "s", "", "address of the server (SKERRY_SERVER; default "+defaultServer+")")
	f.StringVarP(&e.namespace, "ns", "n", "", "namespace (SKERRY_NS); not needed where the server serves a single one")
	f.StringVar(&e.key, "key", "", "API key of the namespace (SKERRY_KEY)")
	f.StringVar(&e.operatorKey, "operator-key", "", "operator key of the node (SKERRY_OPERATOR_KEY; for a server on this machine the file operator.key in the data directory)")
	f.BoolVar(&e.json, "json", false, "print documents of the API as JSON, one per line")
	f.DurationVar(&e.timeout, "timeout", 0, "end the command after this time (0: never)")
	for _, add := range commands() {
		root.AddCommand(add(e))
	}
	e.mark(root)
	return root
}

// mark lets every command say that it began. What cobra finds wrong before that,
// required flags included, is a mistake in the call.
func (e *env) mark(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			e.began = true
			return run(cmd, args)
		}
	}
	for _, below := range cmd.Commands() {
		e.mark(below)
	}
}

// commands are the top-level commands.
func commands() []func(*env) *cobra.Command {
	return []func(*env) *cobra.Command{
		newServeCommand,
		newConfigCommand,
		newNamespaceCommand,
		newKeyCommand,
		newNounCommand,
		newVerbCommand,
		newClaimCommand,
		newReceiptCommand,
		newAdmissionCommand,
		newRunCommand,
		newInvokeCommand,
		newSimCommand,
		newWorkCommand,
		newVersionCommand,
	}
}

// begin fills in from the environment what no flag set and starts the timeout.
func (e *env) begin(cmd *cobra.Command) {
	for _, v := range []struct {
		to         *string
		name, last string
	}{
		{&e.server, "SKERRY_SERVER", defaultServer},
		{&e.namespace, "SKERRY_NS", ""},
		{&e.key, "SKERRY_KEY", ""},
		{&e.operatorKey, "SKERRY_OPERATOR_KEY", ""},
		{&e.data, "SKERRY_DATA", defaultData},
	} {
		if *v.to == "" {
			*v.to = e.getenv(v.name)
		}
		if *v.to == "" {
			*v.to = v.last
		}
	}
	if e.timeout > 0 {
		ctx, cancel := context.WithTimeout(cmd.Context(), e.timeout)
		cmd.SetContext(ctx)
		e.release = cancel
	}
}

// group is a command that only holds others. Alone it prints its help; an unknown
// name below it is an error.
func group(use, short string, aliases []string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Aliases: aliases, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(below...)
	return cmd
}
