// Command batch shows durable runs at work: two tenants submit batches of real files,
// one of them ten times as many, and two worker processes share the work, of which one
// is killed with SIGKILL while it holds items. `make demo-runs` builds and runs it.
//
// It needs no server: it starts a node of its own on a free port with a fresh data
// directory, and stops it again. It makes a namespace, a key for each tenant and one for
// the workers, and a kind of work. Tenant A submits its run, tenant B a smaller one as
// soon as the first item of A is done.
//
// The input is a file with one item a row: CSV with a header if its name ends in .csv,
// else JSON lines. A row has an id (or path) and a text; what else it has is left out.
// The file that is shipped holds files of Go's own source, see source.go. The run of A
// takes the rows as often as fits into one run, that of B every tenth item of it.
//
// The workers are processes of `skerry work`, which run this program for every item, as
// "batch facts": it counts the lines and words of a text and takes its SHA-256.
//
// At the end it prints how long each tenant waited, which share of the quanta it had
// while both had work, in which order the quanta were done, and who took over what. The
// exit code is 0 only if in both runs every item succeeded exactly once, its result is
// what this program computes itself, results come in the order of the file, the events
// have no gap, every item of the killed worker was granted again, and node and worker
// stopped cleanly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// commandFacts is what the program is run with for an item.
const commandFacts = "facts"

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) int {
	// Signals stay caught to the end, so that a second one does not cut off the
	// cleaning up, which takes a bounded time.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(args) == 1 && args[0] == commandFacts {
		return exit(work(os.Stdin, os.Stdout))
	}
	o, err := parseOptions(args, os.Stderr)
	switch {
	case err != nil:
		return exitUsage
	case o.source != "":
		return exit(makeSource(o.source, os.Stdout))
	}
	err = run(ctx, o, os.Stdout, os.Stderr)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("stopped early: %w", err)
	}
	return exit(err)
}

// options are the command line of the demo.
type options struct {
	// skerry is the path of the skerry binary.
	skerry string
	input  string
	// repeat is how often A's run takes the rows; 0 is as often as fits.
	repeat int
	// source is the folder to make an input of; empty means to run the demo.
	source string
	// keep leaves the folder with the data and the logs behind.
	keep bool
}

func parseOptions(args []string, errs io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("batch", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.skerry, "skerry", "bin/skerry", "`path` of the skerry binary")
	f.StringVar(&o.input, "input", "examples/batch/testdata/source.csv", "CSV or JSON-lines `file` of the items, with the columns id and text")
	f.IntVar(&o.repeat, "repeat", 0, "how many `times` the large run takes the rows (0: as often as fits into one run)")
	f.StringVar(&o.source, "make-source", "", "write an input made from the source of Go in this `folder` to standard output, and no more")
	f.BoolVar(&o.keep, "keep", false, "keep the folder with the data and the logs")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.repeat < 0:
		err = errors.New("-repeat is below 0")
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		f.Usage()
	}
	return o, err
}

func exit(err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(os.Stderr, "batch:", err)
	return exitError
}
