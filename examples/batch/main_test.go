package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binDir is where TestMain builds skerry and this program: the tests of the whole
// run the real ones.
const binDir = "BATCH_TEST_BIN"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "batch-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-tags=sqlite_omit_load_extension", "-o", dir+"/", "../../cmd/skerry", ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	os.Setenv(binDir, dir)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// built is the path of a program that TestMain has built.
func built(name string) string { return filepath.Join(os.Getenv(binDir), name) }

func TestParseOptionsRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-keep", "more"}, {"-repeat", "-1"}, {"-unknown"}} {
		if _, err := parseOptions(args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	got, err := parseOptions([]string{"-input", "in.csv", "-repeat", "2", "-keep"}, io.Discard)
	if want := (options{skerry: "bin/skerry", input: "in.csv", repeat: 2, keep: true}); err != nil || got != want {
		t.Errorf("parseOptions = %+v, %v, want %+v", got, err, want)
	}
}
