package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binDir is where TestMain builds skerry and this program: the tests of the whole
// run the real ones.
const binDir = "COMPRESS_TEST_BIN"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "compress-test-")
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

func TestWorkTellsWhetherAnotherAttemptMakesSense(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{os.ErrNotExist, 75},
		{fmt.Errorf("read brief: %w", errUnfit), 100},
	} {
		if got := work(tt.err); got != tt.want {
			t.Errorf("work(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestParseOptionsRefusesArguments(t *testing.T) {
	t.Parallel()
	if _, err := parseOptions([]string{"-keep", "more"}); err == nil {
		t.Error("an argument was accepted")
	}
	got, err := parseOptions([]string{"-input", "in", "-keep"})
	if want := (options{skerry: "bin/skerry", input: "in", keep: true}); err != nil || got != want {
		t.Errorf("parseOptions = %+v, %v, want %+v", got, err, want)
	}
}
