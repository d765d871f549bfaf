package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end after SIGTERM.
const stopTimeout = 20 * time.Second

// process is a process of the demo. Its output is kept in a log.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended, with err
	err  error
}

// start runs a program in a process group of its own, so that an interrupt from the
// terminal reaches the demo alone, which then stops everything in order. Lines of its
// standard error go through watch too.
func start(dir, name string, watch func(line string), env []string, program string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: exec.Command(program, args...), done: make(chan struct{})}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SKERRY_") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		p.cmd.Stdout = log
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(io.TeeReader(stderr, log))
		for lines.Scan() {
			watch(lines.Text())
		}
		p.err = errors.Join(p.cmd.Wait(), log.Close())
	}()
	return p, nil
}

// stop asks the process to end and waits until it has.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		p.kill()
		return fmt.Errorf("stop %s: it did not end within %v of SIGTERM", p.name, stopTimeout)
	}
	if p.err != nil {
		return fmt.Errorf("stop %s: %w", p.name, p.err)
	}
	return nil
}

// kill ends the process, and what it has started, without a warning.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

var servingAt = regexp.MustCompile(`msg=serving address=(\S+)`)

// startNode starts a node and gives its base URL and its operator's key.
func startNode(ctx context.Context, skerry, dir string) (p *process, base, operator string, err error) {
	data := filepath.Join(dir, "data")
	found := make(chan string, 1)
	p, err = start(dir, "node", func(line string) {
		if m := servingAt.FindStringSubmatch(line); m != nil {
			found <- m[1]
		}
	}, nil, skerry, "serve", "--data", data, "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, "", "", err
	}
	select {
	case address := <-found:
		base = "http://" + address
	case <-p.done:
		return nil, "", "", fmt.Errorf("the node ended before it served: %w", p.err)
	case <-time.After(30 * time.Second):
		err = errors.New("the node does not serve")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil {
		var key []byte
		if key, err = os.ReadFile(filepath.Join(data, "operator.key")); err == nil {
			return p, base, strings.TrimSpace(string(key)), nil
		}
	}
	p.kill()
	return nil, "", "", err
}
