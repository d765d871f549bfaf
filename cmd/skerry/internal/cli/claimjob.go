package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/client"
)

// maxBriefVar keeps the brief's variable below the 128 KiB that Linux allows for
// one; a larger brief is in its file only.
const maxBriefVar = 64 << 10

// claimRunner runs the command for claims.
type claimRunner struct {
	*runner
	jsonInput bool
	mediaType string
}

// handle runs the command for a claim.
func (r *claimRunner) handle(ctx context.Context, job *client.Job) (client.Result, error) {
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
	made, err := r.run(ctx, job.Verb.ID, claimVariables(job, dir), stdin)
	if err != nil {
		return client.Result{}, err
	}
	return client.Result{Bytes: made, MediaType: r.mediaType}, nil
}

// stdin is what the command reads.
func (r *claimRunner) stdin(job *client.Job, inputs []inputFile) (io.ReadCloser, error) {
	if r.jsonInput {
		document, err := claimDocument(job, inputs)
		return io.NopCloser(bytes.NewReader(document)), err
	}
	if len(inputs) == 1 && inputs[0].Path != "" {
		return os.Open(inputs[0].Path)
	}
	return io.NopCloser(bytes.NewReader(nil)), nil
}

func claimVariables(job *client.Job, dir string) []string {
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

// claimLine is a claim that is over, for programs.
type claimLine struct {
	Verb      string `json:"verb"`
	Claim     string `json:"claim"`
	Kind      string `json:"kind"`
	Result    string `json:"result"`
	Receipt   string `json:"receipt,omitempty"`
	Output    string `json:"output,omitempty"`
	Error     string `json:"error,omitempty"`
	ElapsedMs int64  `json:"elapsed_ms"`
}

// finished shows what became of a claim.
func (r *claimRunner) finished(o client.Outcome) {
	result := string(o.Disposition)
	line := fmt.Sprintf("%s %s %s", o.Claim.Verb.ID, result, o.Elapsed.Round(time.Millisecond))
	document := claimLine{
		Verb: o.Claim.Verb.ID, Claim: o.Claim.ID, Kind: o.Claim.Verb.Kind,
		Result: result, ElapsedMs: o.Elapsed.Milliseconds(),
	}
	if o.Receipt != nil {
		line += " " + o.Receipt.Output.Ref + " " + o.Receipt.ID
		document.Receipt, document.Output = o.Receipt.ID, o.Receipt.Output.Ref
	}
	if o.Err != nil {
		line += ": " + o.Err.Error()
		document.Error = o.Err.Error()
	}
	r.screen.finished(result, line, document)
}
