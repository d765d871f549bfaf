package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// writeInput makes a folder of files that are large enough to take the programs a
// moment, and of some that are out of the ordinary.
func writeInput(t *testing.T) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	write := func(name string, data []byte) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		var text bytes.Buffer
		for text.Len() < 100<<10 {
			fmt.Fprintf(&text, "%d is no %x\n", random.IntN(1000), random.IntN(50))
		}
		write(fmt.Sprintf("text/%02d.txt", i), text.Bytes())
	}
	noise := make([]byte, maxFile)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	write("noise", noise)
	write("too large", append(noise, 0))
	write("empty", nil)
	write("a@1 #?%.txt", []byte("a name that is no key"))
	return dir
}

// demoCommand is the demo on input, with a temporary folder of its own that must
// be empty at the end.
func demoCommand(t *testing.T, args ...string) (cmd *exec.Cmd, tmp string) {
	t.Helper()
	tmp = t.TempDir()
	cmd = exec.CommandContext(t.Context(), built("compress"), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "SKERRY_LISTEN=203.0.113.1:1", "SKERRY_OPERATOR_KEY=another")
	return cmd, tmp
}

// checkGone holds that a run left neither its folder nor its node.
func checkGone(t *testing.T, tmp, errs string) {
	t.Helper()
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind in the temporary folder: %v, %v", left, err)
	}
	found := regexp.MustCompile(`node at http://(\S+),`).FindStringSubmatch(errs)
	if found == nil {
		t.Fatalf("no address of the node in\n%s", errs)
	}
	if conn, err := net.Dial("tcp", found[1]); err == nil {
		conn.Close()
		t.Errorf("something still listens at the node's address %s", found[1])
	}
}

func TestDemoChecksEveryReceiptAndLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd, tmp := demoCommand(t, "-skerry", built("skerry"), "-input", writeInput(t))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, &out)
	}
	checkGone(t, tmp, errs.String())
	for _, want := range []string{
		`(?m)^PROGRAM +ATTEMPTS +WINS `,
		`(?m)^alpha +8 +32 +32 +[\d,]+ +[\d,]+ +[1-9]\d* `,
		`(?m)^beta +7 +28 +28 +[\d,]+ +[\d,]+ +0 `,
		`(?m)^Receipts: 60, each `,
		`(?m)^Files restored .*: 15\.`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("nothing on standard output matches %s:\n%s", want, &out)
		}
	}
	for _, want := range []string{
		`(?m)^killed alpha-packer-1 with SIGKILL after \d+ of 32 receipts in alpha; leases it held: [1-9]\d*$`,
		`(?m)^note: left out .*: 1$`,
		`(?m)^receipts: 60 of 60$`,
		`(?m)^checked: 15 of 15$`,
	} {
		if !regexp.MustCompile(want).Match(errs.Bytes()) {
			t.Errorf("nothing on standard error matches %s:\n%s", want, &errs)
		}
	}
}

func TestDemoCatchesAWorkerHoweverLittleThereIsToDo(t *testing.T) {
	t.Parallel()
	input := t.TempDir()
	if err := os.WriteFile(filepath.Join(input, "file"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, tmp := demoCommand(t, "-skerry", built("skerry"), "-input", input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, &out)
	}
	checkGone(t, tmp, errs.String())
	if want := regexp.MustCompile(`(?m)^alpha +1 +4 +4 +4 +[\d,]+ +[1-3] `); !want.Match(out.Bytes()) {
		t.Errorf("nothing on standard output matches %s:\n%s", want, &out)
	}
}

func TestInterruptEndsTheDemoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd, tmp := demoCommand(t, "-skerry", built("skerry"), "-input", writeInput(t))
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
		if strings.HasPrefix(lines.Text(), "receipts: ") {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitError {
		t.Errorf("exit code %d, want %d\n%s", got, exitError, &errs)
	}
	if !strings.Contains(errs.String(), "stopped early: ") {
		t.Errorf("the interrupt is not told:\n%s", &errs)
	}
	checkGone(t, tmp, errs.String())
}

func TestFailedDemoTellsWhereItsLogsAre(t *testing.T) {
	t.Parallel()
	input := t.TempDir()
	if err := os.WriteFile(filepath.Join(input, "file"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A program that is no node: it ends at once.
	no, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	cmd, tmp := demoCommand(t, "-skerry", no, "-input", input)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != exitError {
		t.Errorf("exit code %d (%v), want %d", got, err, exitError)
	}
	found := regexp.MustCompile(`(?m)^data in .*, logs in (.*)$`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("no word of the logs in\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(string(found[1]), "node.log")); err != nil || !strings.HasPrefix(string(found[1]), tmp) {
		t.Errorf("the logs are not there: %v", err)
	}
}
