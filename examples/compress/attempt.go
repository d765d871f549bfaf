package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// runAttempt does the work of one verb of an attempt group: it compresses what
// stands on standard input, the verb's only input, by the method that the brief
// names for the attempt.
func runAttempt(ctx context.Context, getenv func(string) string, in io.Reader, out io.Writer) error {
	b, err := readBrief(getenv("SKERRY_BRIEF"))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(getenv("SKERRY_ATTEMPT"))
	if err != nil {
		return fmt.Errorf("read attempt: %w: %w", err, errUnfit)
	}
	m, err := b.attempt(n)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read input: %w", err)
	}
	return m.compress(ctx, data, out)
}
