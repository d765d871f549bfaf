package main

import (
	"errors"
	"fmt"
	"io"
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
	cmd  *exec.Cmd
	// done is closed once the process has ended; err, how it did, may be read
	// after that.
	done chan struct{}
	err  error
}

// start runs a program whose output goes to the file NAME.log in logs, and its
// standard error through tee first, if that is not nil. The process leads a group
// of its own, so that an interrupt from the terminal reaches the demo alone,
// which then stops all in order. Settings of Skerry in the demo's environment are
// not handed on.
func start(logs, name string, tee func(io.Writer) io.Writer, env []string, program string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: exec.Command(program, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if tee != nil {
		p.cmd.Stderr = tee(log)
	}
	p.cmd.Env = append(cleanEnviron(os.Environ()), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	go func() {
		defer close(p.done)
		p.err = errors.Join(p.cmd.Wait(), log.Close())
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

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends s to the process alone. One that has ended gets nothing.
func (p *process) signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// stop asks the process to end and waits until it has; see await.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.await()
}

// await waits for a process that was asked to end. An exit code other than 0 is an
// error; so is having to kill it.
func (p *process) await() error {
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
