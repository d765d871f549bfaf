package storage_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skerryhq/skerry/storage"
)

// What lies where a file should be may be no file at all. It is refused, and
// neither the listing nor another file suffers.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		make func(path string) error
		want error
	}{
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }, storage.ErrCorrupt},
		{"named pipe", func(path string) error { return unix.Mkfifo(path, 0o600) }, storage.ErrCorrupt},
		{"link to itself", func(path string) error { return os.Symlink(path, path) }, storage.ErrUnavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, dir, storage.Options{})
			closeFile(t, create(t, s, "blue"))
			closeFile(t, create(t, s, "red"))
			path := diskPath(t, dir, "blue")
			if err := errors.Join(os.Remove(path), tc.make(path)); err != nil {
				t.Fatal(err)
			}
			listed := map[string]error{}
			for info, err := range s.Files() {
				listed[info.Name] = err
			}
			if err, there := listed["blue"]; !there || !errors.Is(err, tc.want) || listed["red"] != nil || len(listed) != 2 {
				t.Errorf("listed %v, want blue with %v, and red", listed, tc.want)
			}
			f, err := s.OpenFile(t.Context(), "blue", storage.FileOptions{Lines: []storage.Line{itemLine()}})
			if !errors.Is(err, tc.want) || !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("open: got %v, want %v", err, tc.want)
			}
			if f != nil {
				closeFile(t, f)
			}
		})
	}
}
