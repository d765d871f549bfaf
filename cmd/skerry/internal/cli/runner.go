package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/skerryhq/skerry/client"
)

// The exit codes by which a job's command says what should become of its verb.
const (
	jobRetry = 75
	jobFinal = 100
)

// maxBriefVar keeps the brief's variable below the 128 KiB that Linux allows for
// one; a larger brief is in its file only.
const maxBriefVar = 64 << 10

// runner runs the command of skerry work for one claim after another. It is safe
// for concurrent use.
type runner struct {
	path      string
	args      []string
	jsonInput bool
	mediaType string
	environ   []string
	screen    *screen
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

// handle runs the command for a claim.
func (r *runner) handle(ctx context.Context, job *client.Job) (client.Result, error) {
	r.screen.run(1)
	defer r.screen.run(-1)
	dir, err := os.MkdirTemp("", "skerry-work-")
	if err != nil {
		return client.Result{}, &client.JobError{Code: "worker_unable", Message: "no directory for the inputs", Release: true}
	}
	defer os.RemoveAll(dir)
	inputs, err := writeInputs(ctx, job, dir)
	if err != nil {
		if ctx.Err() != nil {
			return client.Result{}, context.Cause(ctx)
		}
		return client.Result{}, &client.JobError{Code: "inputs_unreadable", Message: err.Error()}
	}
	stdin, err := r.stdin(job, inputs)
	if err != nil {
		return client.Result{}, fmt.Errorf("open input: %w", err)
	}
	defer stdin.Close()
	return r.run(ctx, job, dir, stdin)
}

// stdin is what the command reads.
func (r *runner) stdin(job *client.Job, inputs []inputFile) (io.ReadCloser, error) {
	if r.jsonInput {
		document, err := claimDocument(job, inputs)
		return io.NopCloser(bytes.NewReader(document)), err
	}
	if len(inputs) == 1 && inputs[0].Path != "" {
		return os.Open(inputs[0].Path)
	}
	return io.NopCloser(bytes.NewReader(nil)), nil
}

func (r *runner) run(ctx context.Context, job *client.Job, dir string, stdin io.Reader) (client.Result, error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(run, r.path, r.args...)
	out := &output{full: stop}
	errs := &tail{screen: r.screen, prefix: "[" + job.Verb.ID + "] "}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, errs
	cmd.Env = append(r.environ[:len(r.environ):len(r.environ)], jobVariables(job, dir)...)
	err := runGroup(cmd)
	errs.end()
	switch {
	case out.tooLarge:
		return client.Result{}, &client.JobError{Code: "output_too_large", Message: "the output is larger than 1 MiB", Final: true}
	case err == nil:
		return client.Result{Bytes: out.kept, MediaType: r.mediaType}, nil
	case ctx.Err() != nil:
		return client.Result{}, context.Cause(ctx)
	}
	return client.Result{}, jobFailure(err, errs.message())
}

func jobVariables(job *client.Job, dir string) []string {
	vars := []string{
		"SKERRY_CLAIM_ID=" + job.ID,
		"SKERRY_VERB_ID=" + job.Verb.ID,
		"SKERRY_KIND=" + job.Verb.Kind,
		"SKERRY_FENCE=" + strconv.FormatInt(job.Fence, 10),
		"SKERRY_TRY=" + strconv.Itoa(job.Verb.AttemptCount+1),
		"SKERRY_INPUT_DIR=" + dir,
	}
	if job.Verb.Group != "" {
		vars = append(vars, "SKERRY_GROUP="+job.Verb.Group, "SKERRY_ATTEMPT="+strconv.Itoa(job.Verb.Attempt))
	}
	if len(job.Verb.Brief) <= maxBriefVar {
		vars = append(vars, "SKERRY_BRIEF="+string(job.Verb.Brief))
	}
	return vars
}

// jobFailure is what an unsuccessful end of the command means.
func jobFailure(err error, message string) *client.JobError {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return &client.JobError{Code: "command_not_run", Message: err.Error()}
	}
	if message == "" {
		message = exit.String()
	}
	code := exit.ExitCode()
	switch code {
	case -1:
		return &client.JobError{Code: "signal", Message: message}
	case jobRetry:
		return &client.JobError{Code: "retry", Message: message}
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
