package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/skerryhq/skerry/api"
)

// verdict is the artifact of a comparison.
type verdict struct {
	Original api.NounRef `json:"original"`
	Winner   alternative `json:"winner"`
	// Alternatives are all that were compared, in the order of their attempts.
	Alternatives []alternative `json:"alternatives"`
}

// alternative is what one attempt made.
type alternative struct {
	Attempt int    `json:"attempt"`
	Method  method `json:"method"`
	Ref     string `json:"ref"`
	Digest  string `json:"digest"`
	Size    int64  `json:"size"`
	// Restores says that decompressing it gave the original.
	Restores bool `json:"restores"`
}

// runJudge does the work of a comparison and writes its verdict.
func runJudge(ctx context.Context, in io.Reader, out io.Writer) error {
	c, err := readClaim(in)
	if err != nil {
		return err
	}
	v, err := judge(ctx, c.Verb.Brief, c.Inputs)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(v)
}

// judge restores the original from every alternative, and chooses among those
// with which that works. The first input is the original, of which the digest is
// enough; the others are the alternatives.
func judge(ctx context.Context, b brief, inputs []input) (*verdict, error) {
	if len(inputs) < 2 || inputs[0].Group != "" {
		return nil, fmt.Errorf("judge: inputs are not an original and its alternatives: %w", errUnfit)
	}
	original := inputs[0]
	v := &verdict{Original: api.NounRef{Ref: original.Ref, Digest: original.Digest}}
	for _, in := range inputs[1:] {
		m, err := b.attempt(in.Attempt)
		if err != nil {
			return nil, err
		}
		restored, err := restore(ctx, m, in.Path)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v.Alternatives = append(v.Alternatives, alternative{
			Attempt: in.Attempt, Method: m, Ref: in.Ref, Digest: in.Digest, Size: in.Size,
			Restores: err == nil && digest(restored) == original.Digest,
		})
	}
	var ok bool
	if v.Winner, ok = smallest(v.Alternatives); !ok {
		return nil, fmt.Errorf("judge: none of %d alternatives restores the original: %w", len(v.Alternatives), errUnfit)
	}
	return v, nil
}

// smallest is the smallest alternative that restores the original, of equal ones
// the earliest attempt.
func smallest(all []alternative) (alternative, bool) {
	fit := slices.DeleteFunc(slices.Clone(all), func(a alternative) bool { return !a.Restores })
	if len(fit) == 0 {
		return alternative{}, false
	}
	return slices.MinFunc(fit, func(a, b alternative) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Attempt, b.Attempt))
	}), true
}

func restore(ctx context.Context, m method, path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return m.decompress(ctx, file)
}
