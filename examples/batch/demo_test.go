package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// writeLines writes rows as JSON lines.
func writeLines(t *testing.T, n int) string {
	t.Helper()
	var lines bytes.Buffer
	for i := range n {
		if err := json.NewEncoder(&lines).Encode(map[string]any{"id": fmt.Sprintf("row/%d", i), "text": strings.Repeat("é <&>\r\n", i)}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// demoCommand is the demo with a temporary folder of its own that must be empty at
// the end.
func demoCommand(t *testing.T, args ...string) (cmd *exec.Cmd, tmp string) {
	t.Helper()
	tmp = t.TempDir()
	cmd = exec.CommandContext(t.Context(), built("batch"), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "SKERRY_LISTEN=203.0.113.1:1", "SKERRY_OPERATOR_KEY=another")
	return cmd, tmp
}

// checkGone holds that the node of a run is gone.
func checkGone(t *testing.T, errs string) {
	t.Helper()
	found := regexp.MustCompile(`node at http://(\S+),`).FindStringSubmatch(errs)
	if found == nil {
		t.Fatalf("no address of the node in\n%s", errs)
	}
	if conn, err := net.Dial("tcp", found[1]); err == nil {
		conn.Close()
		t.Errorf("something still listens at the node's address %s", found[1])
	}
}

func TestDemoSharesWorkersAndTakesOverTheKilledOnesItems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		input        string
		repeat       string
		large, small int
	}{
		// Enough work that a moment to kill the worker at is found while there is some.
		"CSV":        {filepath.Join("testdata", "source.csv"), "5", 545, 54},
		"JSON lines": {writeLines(t, 60), "10", 600, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, tmp := demoCommand(t, "-skerry", built("skerry"), "-input", tt.input, "-repeat", tt.repeat)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, &errs, &out)
			}
			checkGone(t, errs.String())
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind in the temporary folder: %v, %v", left, err)
			}
			for _, want := range []string{
				fmt.Sprintf(`(?m)^A +%d +[\d]+ +\S+ +\S+ +\d+ of \d+ `, tt.large),
				fmt.Sprintf(`(?m)^B +%d +1[3-9] +\S+ +\S+ +\d+ of \d+ `, tt.small),
				`(?m)^Order of the quanta: A.* B.* A`,
				`(?m)^Items that the killed worker held, all granted again: [1-4]$`,
				fmt.Sprintf(`(?m)^Results: %d, each once`, tt.large+tt.small),
			} {
				if !regexp.MustCompile(want).Match(out.Bytes()) {
					t.Errorf("nothing on standard output matches %s:\n%s", want, &out)
				}
			}
			if want := regexp.MustCompile(`(?m)^killed worker-2 with SIGKILL after \d+ items of A; items it held: [1-4]$`); !want.Match(errs.Bytes()) {
				t.Errorf("nothing on standard error matches %s:\n%s", want, &errs)
			}
		})
	}
}

func TestInterruptEndsTheDemo(t *testing.T) {
	t.Parallel()
	cmd, tmp := demoCommand(t, "-skerry", built("skerry"), "-input", filepath.Join("testdata", "source.csv"))
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	lines := bufio.NewScanner(io.TeeReader(pipe, &errs))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "killed ") {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitError {
		t.Errorf("exit code %d, want %d\n%s", got, exitError, &errs)
	}
	if !strings.Contains(errs.String(), "stopped early: ") {
		t.Errorf("the interrupt is not told:\n%s", &errs)
	}
	checkGone(t, errs.String())
	checkLogs(t, errs.String(), tmp)
}

// checkLogs holds that a failed run tells where its logs are, and that they are there.
func checkLogs(t *testing.T, errs, tmp string) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^data and logs: (.*)$`).FindStringSubmatch(errs)
	if found == nil {
		t.Fatalf("no word of the logs in\n%s", errs)
	}
	if _, err := os.Stat(filepath.Join(found[1], "node.log")); err != nil || !strings.HasPrefix(found[1], tmp) {
		t.Errorf("the logs are not there: %v", err)
	}
}

func TestFailedDemoTellsWhereItsLogsAre(t *testing.T) {
	t.Parallel()
	// A program that is no node: it ends at once.
	no, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	cmd, tmp := demoCommand(t, "-skerry", no, "-input", filepath.Join("testdata", "source.csv"))
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != exitError {
		t.Errorf("exit code %d (%v), want %d", got, err, exitError)
	}
	checkLogs(t, string(out), tmp)
}

// A worker that computes something else succeeds at every item, and the demo fails.
func TestDemoFindsWrongResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	skerry := filepath.Join(dir, "skerry")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = work ]; then\n"+
		"  while [ \"$1\" != -- ]; do set -- \"$@\" \"$1\"; shift; done; shift; shift; shift\n"+
		"  exec %[1]q \"$@\" -- echo '{\"lines\":1}'\nfi\nexec %[1]q \"$@\"\n", built("skerry"))
	if err := os.WriteFile(skerry, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd, _ := demoCommand(t, "-skerry", skerry, "-input", filepath.Join("testdata", "source.csv"), "-repeat", "1")
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != exitError {
		t.Errorf("exit code %d (%v), want %d", got, err, exitError)
	}
	for _, want := range []string{"run of A: ", "run of B: ", `item "cmp/cmp.go" is succeeded with the result {"lines":1}, which is wrong`, "and 99 more faults"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the demo does not say %q:\n%s", want, out)
		}
	}
}
