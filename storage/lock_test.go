package storage_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/storage"
)

func TestDirectoryHasOneHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = storage.Open(dir, storage.Options{})
	if !errors.Is(err, storage.ErrDirInUse) {
		t.Errorf("second Open in this process: got %v, want ErrDirInUse", err)
	}
	pid := fmt.Sprint("process ", os.Getpid())
	for _, got := range []string{fmt.Sprint(err), otherProcess(t, dir)} {
		if !strings.Contains(got, storage.ErrDirInUse.Error()) || !strings.Contains(got, dir) || !strings.Contains(got, pid) {
			t.Errorf("second Open: got %q, want ErrDirInUse with the directory and %s", got, pid)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := otherProcess(t, dir); got != "<nil>" {
		t.Errorf("Open by another process after Close: got %q, want no error", got)
	}
}

// otherProcess opens dir in another process and returns what it says.
func otherProcess(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), lockDirEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run other process: %v", err)
	}
	return string(out)
}

func TestStoreDoesNotCloseUnderAFile(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), storage.Options{})
	f := create(t, s, "blue")
	if err := s.Close(); err == nil {
		t.Fatal("Close with an open file: got no error")
	}
	closeFile(t, f)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("OpenFile after Close: got %v, want ErrClosed", err)
	}
}
