package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStopIsAnErrorUnlessTheProcessEndsCleanly(t *testing.T) {
	t.Parallel()
	clean, err := start(t.TempDir(), "clean", nil, nil, "sh", "-c", "exit 0")
	if err != nil {
		t.Fatal(err)
	}
	<-clean.done
	if err := clean.stop(); err != nil || !clean.ended() {
		t.Errorf("stop of a process that ended with 0: %v", err)
	}
	failed, err := start(t.TempDir(), "failed", nil, nil, "sh", "-c", "exit 3")
	if err != nil {
		t.Fatal(err)
	}
	<-failed.done
	if err := failed.stop(); err == nil || !strings.Contains(err.Error(), "stop failed: exit status 3") {
		t.Errorf("stop of a process that ended with 3: %v", err)
	}
	sleeper, err := start(t.TempDir(), "sleeper", nil, nil, "sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	if err := sleeper.stop(); err == nil || !strings.Contains(err.Error(), "signal: terminated") {
		t.Errorf("stop of a process that dies of SIGTERM: %v", err)
	}
}

func TestKillEndsAStoppedProcess(t *testing.T) {
	t.Parallel()
	p, err := start(t.TempDir(), "sleeper", nil, nil, "sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.signal(syscall.SIGSTOP); err != nil || p.ended() {
		t.Errorf("SIGSTOP: %v, ended %t", err, p.ended())
	}
	if err := p.kill(); err != nil || !p.ended() {
		t.Errorf("kill: %v, ended %t", err, p.ended())
	}
	if err := p.signal(syscall.SIGTERM); err != nil {
		t.Errorf("signal to a process that is gone: %v", err)
	}
}

func TestProcessLogsAndSeesNoSettingsOfTheDemo(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	p, err := start(logs, "shell", nil, []string{"SKERRY_KEY=k"}, "sh", "-c", `echo "out $SKERRY_KEY"; echo err >&2`)
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	log, err := os.ReadFile(filepath.Join(logs, "shell.log"))
	if err != nil || string(log) != "out k\nerr\n" {
		t.Errorf("log %q, %v", log, err)
	}
	got := cleanEnviron([]string{"HOME=/", "SKERRY_KEY=a", "SKERRY_=b", "NOT_SKERRY_KEY=c"})
	if diff := cmp.Diff(got, []string{"HOME=/", "NOT_SKERRY_KEY=c"}); diff != "" {
		t.Errorf("environment (-got +want):\n%s", diff)
	}
}

func TestAddressIsFoundInALogThatComesInPieces(t *testing.T) {
	t.Parallel()
	const text = `not json
{"msg":"operator key written","address":"no"}
{"time":"2026-01-01T00:00:00Z","msg":"serving","address":"127.0.0.1:4711"}
{"msg":"serving","address":"another"}
`
	for _, piece := range []int{1, 7, 50, len(text)} {
		var log bytes.Buffer
		found := make(chan string, 1)
		a := &addressFinder{log: &log, found: found}
		for rest := []byte(text); len(rest) > 0; {
			n := min(piece, len(rest))
			if _, err := a.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if len(found) != 1 {
			t.Fatalf("pieces of %d: no address found", piece)
		}
		if got := <-found; got != "127.0.0.1:4711" || log.String() != text {
			t.Errorf("pieces of %d: address %q, log %q", piece, got, log.String())
		}
	}
}
