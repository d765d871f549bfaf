package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestProbeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, probePrefix+"of-a-crash")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("Probe of a healthy directory = %v", err)
	}
	found, err := filepath.Glob(filepath.Join(dir, probePrefix+"*"))
	if err != nil || len(found) != 0 {
		t.Errorf("files left: %v, %v, want none", found, err)
	}
}

func TestProbeSeesADirectoryThatIsGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Probe = %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Probe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Probe with an ended context = %v", err)
	}
}
