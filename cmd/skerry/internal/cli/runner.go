package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/skerryhq/skerry/client"
)

// The exit codes by which a job's command says what should become of its verb or
// item.
const (
	jobRetry = 75
	jobFinal = 100
)

// The codes of failures that say nothing about the job itself.
const (
	codeRetry  = "retry"
	codeNotRun = "command_not_run"
)

// runner runs the command of skerry work for one claim or item after another. It
// is safe for concurrent use.
type runner struct {
	path    string
	args    []string
	environ []string
	screen  *screen
}

// jobEnviron is this process's environment without its keys: the command needs
// none, and it may not be the user's own.
func jobEnviron() []string {
	var environ []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name != "SKERRY_KEY" && name != "SKERRY_OPERATOR_KEY" {
			environ = append(environ, v)
		}
	}
	return environ
}

// run runs the command for one job, which name is for people, and returns what it
// wrote. An error is why the context ended, or a *client.JobError.
func (r *runner) run(ctx context.Context, name string, variables []string, stdin io.Reader) ([]byte, error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(run, r.path, r.args...)
	out := &output{full: stop}
	errs := &tail{screen: r.screen, prefix: "[" + oneLine(name) + "] "}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, errs
	cmd.Env = append(r.environ[:len(r.environ):len(r.environ)], variables...)
	err := runGroup(cmd)
	errs.end()
	switch {
	case out.tooLarge:
		return nil, &client.JobError{Code: "output_too_large", Message: "the output is larger than 1 MiB", Final: true}
	case err == nil:
		return out.kept, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, jobFailure(err, errs.message())
}

// jobFailure is what an unsuccessful end of the command means.
func jobFailure(err error, message string) *client.JobError {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return &client.JobError{Code: codeNotRun, Message: err.Error()}
	}
	if message == "" {
		message = exit.String()
	}
	code := exit.ExitCode()
	switch code {
	case -1:
		return &client.JobError{Code: "signal", Message: message}
	case jobRetry:
		return &client.JobError{Code: codeRetry, Message: message}
	}
	return &client.JobError{Code: "exit_" + strconv.Itoa(code), Message: message, Final: code == jobFinal}
}

// output keeps what a command writes, up to the size of an artifact. It does not
// embed its buffer: the buffer's ReadFrom, which [io.Copy] prefers, knows no
// bound.
type output struct {
	kept     []byte
	tooLarge bool
	// full ends the command.
	full func()
}

func (o *output) Write(p []byte) (int, error) {
	if len(o.kept)+len(p) > maxInline {
		o.tooLarge = true
		o.full()
		return 0, errTooLarge
	}
	o.kept = append(o.kept, p...)
	return len(p), nil
}

var errTooLarge = errors.New("output too large")
