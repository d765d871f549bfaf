package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// inputFile tells a command which file holds which input.
type inputFile struct {
	Ref       string `json:"ref"`
	Digest    string `json:"digest"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
	Group     string `json:"group,omitempty"`
	Attempt   int    `json:"attempt,omitzero"`
	// Path is absent where the input lies at the URI.
	Path string `json:"path,omitempty"`
	URI  string `json:"uri,omitempty"`
}

// writeInputs puts the claim's inputs, their list and the brief into dir. The
// files are numbered: a noun's key is no file name.
func writeInputs(ctx context.Context, job *client.Job, dir string) ([]inputFile, error) {
	files := make([]inputFile, len(job.Inputs))
	for i, in := range job.Inputs {
		files[i] = inputFile{
			Ref: in.Ref, Digest: in.Digest, MediaType: in.MediaType, Size: in.Size,
			Group: in.Group, Attempt: in.Attempt, URI: in.URI,
		}
		body, err := job.Input(ctx, i)
		if errors.Is(err, client.ErrNoBody) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[i].Path = filepath.Join(dir, fmt.Sprintf("input-%03d", i+1))
		if err := os.WriteFile(files[i].Path, body, 0o600); err != nil {
			return nil, fmt.Errorf("write input %s: %w", in.Ref, err)
		}
	}
	list, err := json.Marshal(files)
	if err != nil {
		return nil, fmt.Errorf("list inputs: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "inputs.json"), list, 0o600); err != nil {
		return nil, fmt.Errorf("list inputs: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "brief.json"), job.Verb.Brief, 0o600); err != nil {
		return nil, fmt.Errorf("write brief: %w", err)
	}
	return files, nil
}

// claimDocument is the claim as the server sent it, with the path of each input's
// file beside what the input says of itself.
func claimDocument(job *client.Job, files []inputFile) ([]byte, error) {
	type input struct {
		api.ClaimInput
		Path string `json:"path,omitempty"`
	}
	document := struct {
		api.Claim
		Inputs []input `json:"inputs"`
	}{Claim: job.Claim, Inputs: make([]input, len(files))}
	for i, in := range job.Inputs {
		document.Inputs[i] = input{in, files[i].Path}
	}
	return json.Marshal(document)
}
