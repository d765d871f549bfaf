package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	// maxFile leaves room below the 1 MiB that an artifact may have, since what
	// cannot be compressed grows; bzip2 adds most, about 1 %.
	maxFile = 1_000 << 10
	// maxFiles bounds the time that the demo takes on a large folder.
	maxFiles = 500
	// maxKey is how long a noun's key may be, less the suffixes that artifacts add.
	maxKey = 512 - 16
)

// source is an input file, and what was made of it.
type source struct {
	// path is where it lies, and name what it is called in keys of nouns.
	path, name string
	size       int64
	digest     string
	methods    []method
	// attempts are the ids of the verbs that compress it, the first attempt's
	// first, and comparison is that of the verb that compares the results.
	attempts   []string
	comparison string
}

// inputFiles lists the files to compress, and notes of what was left out: those
// of dir and all folders below, or if dir is empty the Go files of package net.
func inputFiles(ctx context.Context, dir string) (files []*source, notes []string, err error) {
	only := func(string) bool { return true }
	if dir == "" {
		root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return nil, nil, fmt.Errorf("find the source of Go: %w", err)
		}
		dir = filepath.Join(strings.TrimSpace(string(root)), "src", "net")
		only = func(name string) bool { return filepath.Ext(name) == ".go" && !strings.Contains(name, "/") }
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list input files: %w", err)
	}
	w := walk{dir: dir, only: only}
	if err := filepath.WalkDir(dir, w.visit); err != nil {
		return nil, nil, fmt.Errorf("list input files: %w", err)
	}
	if len(w.files) == 0 {
		return nil, nil, fmt.Errorf("list input files: %s holds no regular file of at most %d KiB", dir, maxFile>>10)
	}
	return w.files, w.notes(), nil
}

// walk collects files below dir, in the order of their names.
type walk struct {
	dir  string
	only func(name string) bool

	files   []*source
	skipped int
	cut     bool
}

func (w *walk) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		if path == w.dir || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		w.skipped++
		return nil
	}
	name, err := filepath.Rel(w.dir, path)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	if !d.Type().IsRegular() || !w.only(name) {
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	name = keyPart(name)
	switch {
	case info.Size() > maxFile || len(name) > maxKey:
		w.skipped++
	case len(w.files) == maxFiles:
		w.cut = true
		return fs.SkipAll
	default:
		w.files = append(w.files, &source{path: path, name: name, size: info.Size()})
	}
	return nil
}

func (w *walk) notes() []string {
	var notes []string
	if w.skipped > 0 {
		notes = append(notes, fmt.Sprintf("left out because larger than %d KiB, unreadable or named too long: %d", maxFile>>10, w.skipped))
	}
	if w.cut {
		notes = append(notes, fmt.Sprintf("took the first %d files of %s and no more", maxFiles, w.dir))
	}
	return notes
}

// keyPart writes a file's name as part of a noun's key: bytes that a key may not
// hold, and the sign itself, become % and two digits.
func keyPart(name string) string {
	var key strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		bad := r == utf8.RuneError && size == 1
		if bad || r < 0x20 || r >= 0x7f && r <= 0x9f || strings.ContainsRune("@?#%", r) {
			for _, b := range []byte(name[i : i+size]) {
				fmt.Fprintf(&key, "%%%02X", b)
			}
		} else {
			key.WriteString(name[i : i+size])
		}
		i += size
	}
	return key.String()
}
