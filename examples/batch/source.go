package main

//go:generate sh -c "go run . -make-source \"$(go env GOROOT)/src\" > testdata/source.csv"

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxSource bounds the size of a file that becomes an item, in bytes.
const maxSource = 8 << 10

// sourceFolders are the parts of Go's source from which the shipped input was made.
func sourceFolders() []string {
	return []string{
		"bytes", "cmp", "container", "errors", "fmt", "hash", "html", "index", "io", "maps",
		"math/bits", "math/cmplx", "mime", "path", "slices", "sort", "strings", "unicode", "unique",
	}
}

// makeSource writes the Go files of src that lie below the folders as an input, by the
// order of their paths: the whole texts with their licence headers, but no tests and no
// large files. Which Go it is decides what comes out; the shipped input is of 1.26.
func makeSource(src string, to io.Writer) error {
	out := csv.NewWriter(to)
	if err := out.Write([]string{"id", "text"}); err != nil {
		return fmt.Errorf("make source: %w", err)
	}
	for _, folder := range sourceFolders() {
		err := filepath.WalkDir(filepath.Join(src, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || len(text) > maxSource {
				return err
			}
			name, err := filepath.Rel(src, path)
			return errors.Join(err, out.Write([]string{filepath.ToSlash(name), string(text)}))
		})
		if err != nil {
			return fmt.Errorf("make source: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("make source: %w", err)
	}
	return nil
}
