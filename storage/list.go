package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FileInfo describes a file on disk.
type FileInfo struct {
	Name string
	// Wake is when the file asked to be opened, in whole seconds; zero: it did not.
	Wake time.Time
	// Clean says that the file is closed, and was closed properly: only then is
	// Wake sure to be the last one set.
	Clean bool
}

const (
	headerSize  = 100
	headerMagic = "SQLite format 3\x00"
	headerWake  = 60 // offset of user_version, four bytes, big-endian
)

// Files lists the files on disk, by name within each folder. It opens no SQLite:
// of each file it reads the header alone. A file whose header cannot be read
// comes with its name and an error, and the listing goes on.
func (s *Store) Files() iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		root := filepath.Join(s.dir, filesDir)
		folders, err := os.ReadDir(root)
		if err != nil {
			yield(FileInfo{}, fmt.Errorf("list files: %w", err))
			return
		}
		for _, dir := range folders {
			if !s.listFolder(filepath.Join(root, dir.Name()), yield) {
				return
			}
		}
	}
}

func (s *Store) listFolder(dir string, yield func(FileInfo, error) bool) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return yield(FileInfo{}, fmt.Errorf("list files: %w", err))
	}
	var names []string
	for _, e := range entries {
		if name, ok := nameOf(e.Name()); ok && filepath.Base(folder(name)) == filepath.Base(dir) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		info, err := s.info(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since the folder was read
		}
		if err != nil {
			err = fmt.Errorf("list file %s: %w", name, err)
		}
		if !yield(info, err) {
			return false
		}
	}
	return true
}

// info describes the file of name. An open file is never opened here: closing
// any descriptor of a file drops all POSIX locks of the process on it, those of
// SQLite too.
func (s *Store) info(name string) (FileInfo, error) {
	info := FileInfo{Name: name}
	release, err := s.hold(context.Background(), name)
	if err != nil {
		return info, err
	}
	defer release()
	if f := s.opened(name); f != nil {
		info.Wake = decodeWake(f.wake.Load())
		return info, nil
	}
	header, err := readHeader(s.path(name))
	if err != nil {
		return info, err
	}
	info.Wake = decodeWake(binary.BigEndian.Uint32(header[headerWake:]))
	dirty, err := present(s.path(name) + "-wal")
	info.Clean = !dirty
	return info, err
}

// readHeader reads the header of a database file that is not open. It looks at
// what is there before it opens it: opening a named pipe would wait for ever.
func readHeader(path string) (header [headerSize]byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return header, classifyOS(err)
	}
	if !info.Mode().IsRegular() {
		return header, fmt.Errorf("%w: it is not a regular file", ErrCorrupt)
	}
	file, err := os.Open(path)
	if err != nil {
		return header, classifyOS(err)
	}
	_, err = file.ReadAt(header[:], 0)
	if err = errors.Join(err, file.Close()); err != nil && !errors.Is(err, io.EOF) {
		return header, classifyOS(err)
	}
	if err != nil || !strings.HasPrefix(string(header[:]), headerMagic) {
		return header, fmt.Errorf("%w: no SQLite header", ErrCorrupt)
	}
	return header, nil
}

// encodeWake rounds t down to a whole second, so that a file never wakes late.
// The 32 bits of user_version are read as unsigned, which lasts until 2106; a
// later time wakes then. Zero is no time at all.
func encodeWake(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 1), math.MaxUint32))
}

func decodeWake(seconds uint32) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
