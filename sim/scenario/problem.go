package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong with a file.
type Error struct {
	// File is the name that the file was read by, and Line counts from 1.
	File string
	Line int
	// Key leads to the value, as namespaces[0].service.model; it is empty where the
	// file as a whole is meant.
	Key string
	// Problem says what is wrong and what is allowed.
	Problem string
}

// Error writes all of it in one line, as editors know it.
func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Key, e.Problem)
}

// maxErrors is how many errors of one file are told: the rest mostly follow from them.
const maxErrors = 20

// reading is one file while it is read.
type reading struct {
	file      string
	documents map[reflect.Type]*document
	// lines are where keys stand, by the way that leads to them.
	lines    map[string]int
	problems []*Error
}

func (r *reading) fail(line int, key, format string, args ...any) {
	r.problems = append(r.problems, &Error{File: r.file, Line: line, Key: key, Problem: fmt.Sprintf(format, args...)})
}

// failAt reports a problem of a key at its line, or at that of the nearest mapping
// around it if the file does not have the key.
func (r *reading) failAt(key, format string, args ...any) {
	r.fail(r.line(key), key, format, args...)
}

func (r *reading) line(key string) int {
	for key != "" {
		if line, ok := r.lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 1
}

// has says whether the file has a key.
func (r *reading) has(key string) bool {
	_, ok := r.lines[key]
	return ok
}

// err is what is wrong, in order of lines.
func (r *reading) err() error {
	slices.SortStableFunc(r.problems, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	var all []error
	for _, p := range r.problems[:min(len(r.problems), maxErrors)] {
		all = append(all, p)
	}
	return errors.Join(all...)
}

// below names a key of a mapping, and item an entry of a list.
func below(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func item(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }
