package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end after SIGTERM. A node's own
// limit is 15 s.
const stopTimeout = 20 * time.Second

// process is a process of the demo and the goroutine that waits for it. Whoever
// starts one stops or kills it.
type process struct {
	name string
	// out and log are the files of its standard output and standard error.
	out, log string
	cmd      *exec.Cmd
	// done is closed once the process has ended; err, how it did, may be read
	// after that.
	done chan struct{}
	err  error
}

// start runs a program whose output goes to the files NAME.out and NAME.log in dir.
// It leads a group of its own, so that an interrupt from the terminal reaches the
// demo alone, which then stops all in order. Settings of Skerry in the demo's
// environment are not handed on.
func start(dir, name string, env []string, program string, args ...string) (*process, error) {
	p := &process{
		name: name, out: filepath.Join(dir, name+".out"), log: filepath.Join(dir, name+".log"),
		cmd: exec.Command(program, args...), done: make(chan struct{}),
	}
	out, err := os.Create(p.out)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close()
	log, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, log
	p.cmd.Env = append(cleanEnviron(os.Environ()), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

func cleanEnviron(environ []string) []string {
	var kept []string
	for _, v := range environ {
		if !strings.HasPrefix(v, "SKERRY_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// signal sends s to the process alone. One that has ended gets nothing.
func (p *process) signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// stop asks the process to end, also one that SIGSTOP holds up, and waits until it
// has. An exit code other than 0 is an error; so is having to kill it.
func (p *process) stop() error {
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT)); err != nil {
		return err
	}
	patience := time.NewTimer(stopTimeout)
	defer patience.Stop()
	select {
	case <-p.done:
	case <-patience.C:
		return errors.Join(fmt.Errorf("stop %s: did not end within %v of SIGTERM", p.name, stopTimeout), p.kill())
	}
	if p.err != nil {
		return fmt.Errorf("stop %s: %w", p.name, p.err)
	}
	return nil
}

// kill ends the process by SIGKILL and waits until it is gone.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
