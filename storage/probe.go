package storage

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// probePrefix begins the names of files that Probe writes.
const probePrefix = "probe-"

// Probe reports whether the data directory does its work: it writes a small
// file, syncs it, reads it back and removes it. The error is ErrUnavailable, or
// more exactly what is wrong.
func (s *Store) Probe(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("probe data directory: %w", err)
	}
	file, err := os.CreateTemp(s.dir, probePrefix+"*")
	if err != nil {
		return fmt.Errorf("probe data directory: %w", classifyOS(err))
	}
	path := file.Name()
	defer func() {
		if cerr := unlink(path); err == nil && cerr != nil {
			err = fmt.Errorf("probe data directory: %w", classifyOS(cerr))
		}
	}()
	want := []byte(filepath.Base(path))
	_, err = file.Write(want)
	if err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("probe data directory: %w", classifyOS(err))
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("probe data directory: %w", classifyOS(err))
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("probe data directory: %w: it gave back something else than was written", ErrIO)
	}
	return nil
}

// clearProbes removes what a crash left of probes.
func (s *Store) clearProbes() error {
	left, err := filepath.Glob(filepath.Join(s.dir, probePrefix+"*"))
	if err != nil {
		return err
	}
	return unlink(left...)
}
