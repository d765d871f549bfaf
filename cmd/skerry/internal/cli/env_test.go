package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skerryhq/skerry/client"
)

// newEnv is an environment of nothing but the variables.
func newEnv(vars map[string]string) (e *env, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	return &env{
		in: strings.NewReader(""), out: out, errs: errs, release: func() {},
		getenv: func(name string) string { return vars[name] },
	}, out, errs
}

// The test may not run beside others, since the signals go to the process.
func TestInterruptsEndTheContextAndThenForce(t *testing.T) {
	ctx, force, stop := interrupts()
	defer stop()
	for i, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		select {
		case <-force:
			t.Fatal("forced before the second signal")
		default:
		}
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-ctx.Done()
		}
	}
	<-force
}

func TestOperatorKeyOfThisMachineGoesToThisMachineOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "operator.key"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]string{
		"http://127.0.0.1:7480":     "secret",
		"http://localhost:7480":     "secret",
		"http://[::1]:7480":         "secret",
		"http://192.0.2.1:7480":     "",
		"http://example.com":        "",
		"http://localhost.evil.com": "",
		"http://127.0.0.1.evil.com": "",
		"://":                       "",
	} {
		e, _, _ := newEnv(nil)
		e.server, e.data = server, dir
		if got := e.operatorKeyFile(); got != want {
			t.Errorf("%s: got %q, want %q", server, got, want)
		}
	}
}

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"SKERRY_SERVER": "http://env", "SKERRY_NS": "env", "SKERRY_KEY": "env"}
	e, _, _ := newEnv(vars)
	if code := e.run(context.Background(), []string{"version", "--ns", "flag", "--operator-key", "flag"}); code != 0 {
		t.Fatalf("got exit code %d", code)
	}
	got := [...]string{e.server, e.namespace, e.key, e.operatorKey, e.data}
	if want := [...]string{"http://env", "flag", "env", "flag", defaultData}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTextFromElsewhereIsSafeForATerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":               "plain",
		"two\nlines\tand tab": "two lines and tab",
		"\x1b[31mred\x07":     "[31mred",
		"a\u202eb":            "ab",
		"\u00e9\u4e16":        "\u00e9\u4e16",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestStandardErrorOfAJobIsShownByLinesAndItsEndKept(t *testing.T) {
	t.Parallel()
	e, _, errs := newEnv(nil)
	s := newScreen(e)
	w := &tail{screen: s, prefix: "[vb_1] "}
	for _, part := range []string{"one\ntw", "o\n\nthr", "ee"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	w.end()
	s.close()
	if got, want := errs.String(), "[vb_1] one\n[vb_1] two\n[vb_1] \n[vb_1] three\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := w.message(), "one\ntwo\n\nthree"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := &tail{screen: s}
	for range 100 {
		_, _ = long.Write(bytes.Repeat([]byte("x"), 1000))
	}
	if len(long.kept) != maxTail || len(long.line) > maxPending+1000 {
		t.Errorf("kept %d and %d bytes of a line without an end", len(long.kept), len(long.line))
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	stopped := 0
	o := &output{full: func() { stopped++ }}
	if _, err := o.Write(make([]byte, maxInline)); err != nil || o.tooLarge {
		t.Fatalf("got %v at the limit", err)
	}
	if _, err := o.Write([]byte("x")); err == nil || !o.tooLarge || stopped != 1 || len(o.kept) != maxInline {
		t.Errorf("got %v, too large %v, stopped %d beyond the limit", err, o.tooLarge, stopped)
	}
}

func TestSecondInterruptKillsAndReleasesAtOnce(t *testing.T) {
	t.Parallel()
	node := newNode(t, 1)
	fifo := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	force := make(chan struct{})
	e, _, errs := newEnv(node.vars)
	e.force = force
	code := make(chan int)
	go func() {
		code <- e.run(ctx, []string{"work", "--kind", "k", "--grace", "1h", "--", "sh", "-c", "echo > " + fifo + "; sleep 1000"})
	}()
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	interrupt()
	close(force)
	if got := <-code; got != 0 {
		t.Errorf("got exit code %d, want 0", got)
	}
	if !strings.Contains(errs.String(), string(client.DoneReleased)) {
		t.Errorf("the claim was not released: %s", errs)
	}
}
