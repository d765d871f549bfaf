package main_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readme is the README, the one document that everybody copies from.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fenced gives the contents of the code blocks of a language.
func fenced(text, language string) []string {
	blocks := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1)
	var contents []string
	for _, b := range blocks {
		contents = append(contents, b[1])
	}
	return contents
}

// tour is the README's tour as one script: at another address, in another
// directory, and with the binary under test for the one that make builds.
func tour(t *testing.T, address, dir string) string {
	t.Helper()
	_, text, found := strings.Cut(readme(t), "## A tour in sixty seconds\n")
	if !found {
		t.Fatal("the README has no tour any more")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	script := strings.Join(fenced(text, "sh"), "\n")
	for _, r := range []struct{ from, to string }{
		{`make build && export PATH="$PWD/bin:$PATH"`, ``},
		{"/tmp/skerry", dir},
		{"http://127.0.0.1:7480", "http://" + address},
	} {
		if !strings.Contains(script, r.from) {
			t.Fatalf("the README's tour has no %q any more", r.from)
		}
		script = strings.ReplaceAll(script, r.from, r.to)
	}
	// The node ends with the script, also where that does not come to its end.
	return `trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT` + "\n" + script + "\nwait\n"
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// environment is this process's without Skerry's variables, and with more.
func environment(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SKERRY_") {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

func TestTourOfTheReadmeWorks(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the README's tour needs %s: %v", program, err)
		}
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	address := freeAddress(t)
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", tour(t, address, t.TempDir()))
	shell.Dir = t.TempDir()
	shell.Env = environment("PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"),
		"SKERRY_LISTEN="+address, "SKERRY_SERVER=http://"+address)
	// The node is the shell's child: where the trap has no chance, both are
	// ended by their group.
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = 10 * time.Second
	var out, errs strings.Builder
	shell.Stdout, shell.Stderr = &out, &errs
	if err := shell.Run(); err != nil {
		t.Fatalf("the tour ended with %v\nstandard output:\n%s\nstandard error:\n%s", err, out.String(), errs.String())
	}
	for _, want := range []string{
		"HELLO, WORLD",
		"1 verified",
		`"state":"ready"`,
		`"sequence":2`,
		`"output":{"ref":"out/again@1"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tour's output has no %q:\n%s", want, out.String())
		}
	}
	if !strings.Contains(errs.String(), "msg=stopped") {
		t.Errorf("the node did not stop in order:\n%s", errs.String())
	}
}

// What the README shows of Go is, line for line, the example that runs.
func TestGoOfTheReadmeIsTheExample(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join("..", "..", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	rest := lines(string(example))
	shown := 0
	for _, block := range fenced(readme(t), "go") {
		for _, line := range lines(block) {
			shown++
			at := slices.Index(rest, strings.ReplaceAll(line, `"data"`, "dir"))
			if at < 0 {
				t.Fatalf("the example does not go on with %q", line)
			}
			rest = rest[at+1:]
		}
	}
	if shown == 0 {
		t.Error("the README shows no Go any more")
	}
}

// lines are the lines of a text without their indentation, and without blank
// ones.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
