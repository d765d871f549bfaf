// Command compress shows Skerry at work on real files: competing processes
// compress each file in several ways, a judge picks the best result, one worker
// is killed with SIGKILL while it holds leases, and at the end every receipt is
// checked. `make demo` builds and runs it.
//
// It needs no server: it starts a node of its own on a free port with a fresh
// data directory, and stops it again. In each of two namespaces it
//
//   - stores half of the input files as nouns in/NAME;
//   - makes, for each file, an attempt group of three verbs of the kind
//     "compress". All three have the same brief, a list of three methods, and
//     the attempt's number says which of them it takes;
//   - makes a verb of the kind "compare" that takes the file and the whole group
//     as inputs, and so becomes ready once the attempts have ended. Its artifact
//     is a verdict: the smallest alternative that restores the original.
//
// The work is done by processes of `skerry work`, each under its own key, which
// run this program for every claim, as "compress attempt" or "compress judge", and
// give it the claim on standard input.
// The leases of the worker that is killed expire, and others are granted its
// verbs under higher fences.
//
// The exit code is 0 only if in both namespaces every verb has exactly one
// receipt and every receipt one verb, no two grants shared a fence, the leases of
// the killed worker were taken over, each receipt's digest was computed anew from
// its canonical form, each artifact was read back and matched its receipt, each
// file was restored from its winner and equals the one on disk, and node and
// workers stopped cleanly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes of the program, and of the two commands that `skerry work` runs:
// it takes exitRetry and exitFinal for another attempt and for none.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
	exitRetry = 75
	exitFinal = 100
)

// The commands that the program is run with for a claim.
const (
	commandAttempt = "attempt"
	commandJudge   = "judge"
)

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) int {
	// Signals stay caught to the end, so that a second one does not cut off the
	// cleaning up, which takes a bounded time.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(args) == 1 && args[0] == commandAttempt {
		return work(runAttempt(ctx, os.Stdin, os.Stdout))
	}
	if len(args) == 1 && args[0] == commandJudge {
		return work(runJudge(ctx, os.Stdin, os.Stdout))
	}
	o, err := parseOptions(args)
	if err != nil {
		return exitUsage
	}
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "compress:", err)
		return exitError
	}
	return exitOK
}

// options are the command line of the demo.
type options struct {
	// skerry is the path of the skerry binary.
	skerry string
	// input is the folder to compress; empty means the source of Go's package net.
	input string
	// keep leaves the folder with the data and the logs behind.
	keep bool
}

func parseOptions(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("compress", flag.ContinueOnError)
	f.StringVar(&o.skerry, "skerry", "bin/skerry", "`path` of the skerry binary")
	f.StringVar(&o.input, "input", "", "`folder` whose files are compressed (default: the source of Go's package net)")
	f.BoolVar(&o.keep, "keep", false, "keep the folder with the data and the logs")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", f.Arg(0))
		fmt.Fprintln(f.Output(), err)
		f.Usage()
		return o, err
	}
	return o, nil
}

// errUnfit marks work that would fail the same way at every attempt.
var errUnfit = errors.New("no attempt can do it")

// work turns the outcome of a claim's command into its exit code. What it says on
// standard error is stored with the verb.
func work(err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(os.Stderr, err)
	if errors.Is(err, errUnfit) {
		return exitFinal
	}
	return exitRetry
}
