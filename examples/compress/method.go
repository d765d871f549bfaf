package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// attemptsPerFile is how many ways of compressing a file compete.
const attemptsPerFile = 3

// method is a way of compressing: a program and its level.
type method struct {
	Program string `json:"program"`
	Level   int    `json:"level"`
}

// String is the method as on a command line, without the options that all share.
func (m method) String() string { return fmt.Sprintf("%s -%d", m.Program, m.Level) }

// known reports whether the method is a program and a level that the demo uses.
func (m method) known() bool {
	return slices.ContainsFunc(compressors(), func(c compressor) bool {
		return c.program == m.Program && slices.Contains(c.levels[:], m.Level)
	})
}

// compressor is a program that compresses standard input to standard output.
type compressor struct {
	program string
	// levels are the levels to use, the best result's first.
	levels [attemptsPerFile]int
}

func compressors() []compressor {
	return []compressor{
		{"gzip", [...]int{9, 6, 1}},
		{"bzip2", [...]int{9, 5, 1}},
		// Higher levels only enlarge xz's dictionary, far beyond any input here.
		{"xz", [...]int{6, 3, 0}},
		{"zstd", [...]int{19, 9, 3}},
	}
}

// installedMethods returns the methods that compete, at least attemptsPerFile:
// every program that look finds at its best level, and where these are too few
// further levels of the same programs.
func installedMethods(look func(program string) (string, error)) ([]method, error) {
	var methods []method
	for i := range attemptsPerFile {
		for _, c := range compressors() {
			if _, err := look(c.program); err == nil && (i == 0 || len(methods) < attemptsPerFile) {
				methods = append(methods, method{c.program, c.levels[i]})
			}
		}
	}
	if len(methods) == 0 {
		return nil, errors.New("find compressors: none of gzip, bzip2, xz, zstd is installed")
	}
	return methods, nil
}

// choose picks the methods for the n-th file. Where more are installed than can
// compete, each sits out in its turn.
func choose(methods []method, n int) []method {
	chosen := slices.Clone(methods)
	for len(chosen) > attemptsPerFile {
		out := n % len(chosen)
		chosen = slices.Delete(chosen, out, out+1)
	}
	return chosen
}

// compress writes data compressed. The output depends on data and the method
// alone, so that an attempt that is made again makes the same.
func (m method) compress(ctx context.Context, data []byte, out io.Writer) error {
	args := []string{fmt.Sprintf("-%d", m.Level), "-c"}
	switch m.Program {
	case "gzip":
		args = append(args, "-n") // no time in the header
	case "zstd":
		// Told the size it does not prepare for a stream without end, which for
		// a small file is nearly all of its work.
		args = append(args, "-q", fmt.Sprintf("--stream-size=%d", len(data)))
	}
	return m.run(ctx, bytes.NewReader(data), out, args...)
}

// decompress gives the original of what compress made.
func (m method) decompress(ctx context.Context, in io.Reader) ([]byte, error) {
	var out bytes.Buffer
	err := m.run(ctx, in, &out, "-d", "-c")
	return out.Bytes(), err
}

func (m method) run(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, m.Program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s %s: %w: %s", m.Program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return nil
}
