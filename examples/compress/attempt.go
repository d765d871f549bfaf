package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// runAttempt does the work of one verb of an attempt group: it compresses the
// verb's only input by the method that the brief names for the attempt.
func runAttempt(ctx context.Context, in io.Reader, out io.Writer) error {
	c, err := readClaim(in)
	if err != nil {
		return err
	}
	m, err := c.Verb.Brief.attempt(c.Verb.Attempt)
	if err != nil {
		return err
	}
	if len(c.Inputs) != 1 {
		return fmt.Errorf("compress: %d inputs, want 1: %w", len(c.Inputs), errUnfit)
	}
	data, err := os.ReadFile(c.Inputs[0].Path)
	if err != nil {
		return fmt.Errorf("read input: %w", err)
	}
	return m.compress(ctx, data, out)
}
