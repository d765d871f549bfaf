//go:build unix && !linux

package cli

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// pipeDelay is how long the command's output may be held open by others after it
// has ended.
const pipeDelay = time.Second

// runGroup runs a command in a process group of its own, and leaves nothing of
// the group behind, whether the command ends by itself or by its context.
func runGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	cmd.WaitDelay = pipeDelay
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	_ = killGroup(cmd.Process.Pid)
	return err
}

// killGroup kills a process group; one that is gone is fine.
func killGroup(leader int) error {
	if err := syscall.Kill(-leader, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
