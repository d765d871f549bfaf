package scenario

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// traces reads the files that principals take their arrivals from.
func (r *reading) traces(s *Scenario, read func(file string) ([]byte, error)) {
	for i := range s.Namespaces {
		for j := range s.Namespaces[i].Principals {
			a := &s.Namespaces[i].Principals[j].Arrivals
			if a.Kind != "trace" {
				continue
			}
			key := below(item(below(item("namespaces", i), "principals"), j), "arrivals.file")
			if !isInside(a.File) {
				r.failAt(key, "must be a path with slashes that stays in the scenario's folder")
				continue
			}
			text, err := read(a.File)
			if err != nil {
				r.failAt(key, "cannot be read: %s", cause(err))
				continue
			}
			t := &tracing{into: r, file: path.Join(filepath.ToSlash(filepath.Dir(r.file)), a.File)}
			a.Trace = t.points(text)
		}
	}
}

// isInside says whether a path leads to a file in a folder or below it, on every
// system alike.
func isInside(file string) bool {
	return fs.ValidPath(file) && file != "." && filepath.IsLocal(filepath.FromSlash(file)) && !strings.ContainsAny(file, `\:`)
}

// cause is an error without the path that it names already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// tracing is one trace while it is read.
type tracing struct {
	into *reading
	file string
}

func (t *tracing) fail(line int, key, problem string) {
	t.into.problems = append(t.into.problems, &Error{File: t.file, Line: line, Key: key, Problem: problem})
}

// points reads the lines of a trace up to the first that is wrong.
func (t *tracing) points(text []byte) []TracePoint {
	lines := csv.NewReader(bytes.NewReader(text))
	lines.ReuseRecord = true
	head, err := lines.Read()
	if err != nil || !slices.Equal(head, []string{"at"}) && !slices.Equal(head, []string{"at", "cost"}) {
		t.fail(1, "", "the first line must be at or at,cost")
		return nil
	}
	var points []TracePoint
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.malformed(err)
			return nil
		}
		line, _ := lines.FieldPos(0)
		p, ok := t.point(line, fields)
		if !ok {
			return nil
		}
		if len(points) > 0 && p.At < points[len(points)-1].At {
			t.fail(line, "at", "must not be before the line above")
			return nil
		}
		points = append(points, p)
	}
	if len(points) == 0 {
		t.fail(1, "", "must hold at least one arrival")
	}
	return points
}

func (t *tracing) malformed(err error) {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		t.fail(bad.Line, "", "not CSV: "+bad.Err.Error())
		return
	}
	t.fail(1, "", "not CSV: "+err.Error())
}

func (t *tracing) point(line int, fields []string) (TracePoint, bool) {
	p := TracePoint{Cost: 1}
	seconds, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || !(seconds >= 0 && seconds <= day/float64(time.Second)) {
		t.fail(line, "at", "must be a number of seconds, 0 to 86400")
		return p, false
	}
	p.At = time.Duration(math.Round(seconds * float64(time.Second)))
	if len(fields) > 1 {
		p.Cost, err = strconv.ParseFloat(fields[1], 64)
		if err != nil || !(p.Cost >= leastCost && p.Cost <= maxCost) {
			t.fail(line, "cost", "must be a number, 0.001 to 1000")
			return p, false
		}
	}
	return p, true
}
