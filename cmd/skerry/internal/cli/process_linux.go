package cli

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipeDelay is how long output may still come after the command has ended, from
// a process that left the group.
const pipeDelay = time.Second

// runGroup runs a command in a process group of its own, and leaves nothing of
// the group behind, whether the command ends by itself or by its context.
func runGroup(cmd *exec.Cmd) error {
	// The kernel kills the command if this process dies, even by SIGKILL. It goes
	// by the thread that started it, which must therefore stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	cmd.WaitDelay = pipeDelay
	if err := cmd.Start(); err != nil {
		return err
	}
	// The group's number cannot go to another one before its leader is reaped, so
	// the rest of the group is killed between the leader's end and Wait.
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = killGroup(cmd.Process.Pid)
	return cmd.Wait()
}

// killGroup kills a process group; one that is gone is fine.
func killGroup(leader int) error {
	if err := syscall.Kill(-leader, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
