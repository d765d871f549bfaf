package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skerryhq/skerry/client"
)

// handBackRest keeps a slot from taking the item again and again that it has just
// handed back.
const handBackRest = time.Second

// itemRunner runs the command for items of runs and singular calls.
type itemRunner struct{ *runner }

// itemDocument is what the command reads.
type itemDocument struct {
	ID           string          `json:"id"`
	Kind         string          `json:"kind"`
	Scorer       string          `json:"scorer,omitempty"`
	Run          *string         `json:"run"`
	InputIndex   int             `json:"input_index"`
	AttemptCount int             `json:"attempt_count"`
	Shared       json.RawMessage `json:"shared"`
	Payload      json.RawMessage `json:"payload"`
}

// handle runs the command for an item. What is no fault of the item, and what the
// command asks to have tried again, goes back: a failure that is reported is final.
func (r itemRunner) handle(ctx context.Context, job *client.RunJob) (json.RawMessage, error) {
	r.screen.run(1)
	defer r.screen.run(-1)
	document := itemDocument{
		ID: job.ID, Kind: job.Kind, Scorer: job.Scorer, InputIndex: job.InputIndex, AttemptCount: job.Attempt,
		Shared: job.Shared, Payload: job.Payload,
	}
	if job.Run != "" {
		document.Run = &job.Run
	}
	var stdin bytes.Buffer
	if err := writeLine(&stdin, document); err != nil {
		return nil, fmt.Errorf("write item: %w", err)
	}
	made, err := r.run(ctx, itemName(job.Run, job.Kind, job.ID), itemVariables(job), &stdin)
	var failure *client.JobError
	if errors.As(err, &failure) {
		failure.Release = failure.Code == codeRetry || failure.Code == codeNotRun
		failure.Message = lastLine(failure.Message)
	}
	return made, err
}

// itemName names an item for people.
func itemName(run, kind, item string) string {
	if run == "" {
		return kind + "/" + item
	}
	return run + "/" + item
}

func itemVariables(job *client.RunJob) []string {
	vars := []string{
		"SKERRY_KIND=" + job.Kind,
		"SKERRY_TRY=" + strconv.Itoa(job.Attempt),
		"SKERRY_INPUT_INDEX=" + strconv.Itoa(job.InputIndex),
	}
	if job.Run != "" {
		vars = append(vars, "SKERRY_RUN_ID="+job.Run)
	}
	if job.Scorer != "" {
		vars = append(vars, "SKERRY_SCORER="+job.Scorer)
	}
	// A producer may choose any text as an id, a variable cannot hold any.
	if !strings.Contains(job.ID, "\x00") {
		vars = append(vars, "SKERRY_ITEM_ID="+job.ID)
	}
	return vars
}

// lastLine is the last line of a text that does not end in blanks.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// itemLine is an item that is over for this worker, for programs. Result is
// "succeeded", "failed", "ignored", "released" or "lost".
type itemLine struct {
	Run     *string `json:"run"`
	Item    string  `json:"item"`
	Kind    string  `json:"kind"`
	Quantum string  `json:"quantum"`
	Try     int     `json:"try"`
	Result  string  `json:"result"`
	Error   string  `json:"error,omitempty"`
}

// finished shows what became of the items of a quantum.
func (r itemRunner) finished(o client.QuantumOutcome) {
	run := ""
	if o.Quantum.Run != nil {
		run = *o.Quantum.Run
	}
	for _, item := range o.Quantum.Items {
		result, why := itemResult(&o, item.ID)
		line := itemName(run, o.Quantum.Kind, item.ID) + " " + result
		if why != "" {
			line += ": " + why
		}
		r.screen.finished(result, line, itemLine{
			Run: o.Quantum.Run, Item: item.ID, Kind: o.Quantum.Kind, Quantum: o.Quantum.ID, Try: item.AttemptCount,
			Result: result, Error: why,
		})
	}
}

// itemResult is the word for what became of an item, and why where that is not
// plain.
func itemResult(o *client.QuantumOutcome, id string) (result, why string) {
	for _, done := range o.Committed {
		if done.ID != id {
			continue
		}
		if done.Error != nil {
			why = (&client.JobError{Code: done.Error.Code, Message: done.Error.Message}).Error()
		}
		return string(done.Status), why
	}
	for _, left := range o.Ignored {
		if left.ID == id {
			return "ignored", left.Reason
		}
	}
	if err := o.Errors[id]; err != nil {
		why = err.Error()
	} else if o.Err != nil {
		why = o.Err.Error()
	}
	if o.Disposition == client.DoneLost {
		return "lost", why
	}
	return "released", why
}

// handedBack reports whether an item went back by the command's own wish.
func handedBack(o *client.QuantumOutcome) bool {
	for _, err := range o.Errors {
		var failure *client.JobError
		if errors.As(err, &failure) && failure.Release {
			return true
		}
	}
	return false
}
