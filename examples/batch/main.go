// Command batch shows durable runs at work: two tenants submit batches of real files,
// one ten times as large as the other, and two worker processes work on both, of which
// one is killed with SIGKILL in the middle. `make demo-runs` builds and runs it.
//
// It needs no server: it starts a node of its own on a free port with a fresh data
// directory, and stops it again. The input is a CSV or JSON-lines file with one item a
// row, which says its id and its text; the one that is shipped holds files of Go's own
// source. The workers are processes of `skerry work`, which run this program for every
// item as "batch facts": it counts lines and tokens and takes the SHA-256.
//
// At the end it prints for both tenants how long they waited and what share of the
// quanta they had, and the order of the quanta. The exit code is 0 only if every item of
// both runs has exactly the right result, every event is there, and items of the killed
// worker were taken over.
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

const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// commandFacts is how the program is called for one item.
const commandFacts = "facts"

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(args) == 1 && args[0] == commandFacts {
		return exit(work(os.Stdin, os.Stdout))
	}
	var o options
	f := flag.NewFlagSet("batch", flag.ContinueOnError)
	f.StringVar(&o.skerry, "skerry", "bin/skerry", "`path` of the skerry binary")
	f.StringVar(&o.input, "input", "examples/batch/testdata/source.csv", "CSV or JSON-lines `file`: one item a row, with the columns id and text")
	f.IntVar(&o.repeat, "repeat", 9, "how many `times` the rows stand in the large run")
	f.StringVar(&o.make, "make-source", "", "do nothing but write an input from the files of this `folder` to standard output")
	f.BoolVar(&o.keep, "keep", false, "keep the folder with the data and the logs")
	if err := f.Parse(args); err != nil {
		return exitUsage
	}
	if f.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "batch: unexpected argument %q\n", f.Arg(0))
		return exitUsage
	}
	if o.make != "" {
		return exit(makeSource(o.make, os.Stdout))
	}
	return exit(demo(ctx, o, os.Stdout))
}

// options are the command line of the demo.
type options struct {
	skerry, input, make string
	repeat              int
	keep                bool
}

func exit(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintln(os.Stderr, "batch:", err)
	return exitError
}
