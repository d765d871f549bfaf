package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

const (
	// maxItems is the most that a run may have.
	maxItems = 1000
	// minItems are as many as the demo needs to catch a worker in the middle.
	minItems = 60
	// maxLine bounds a line of JSON; no request could carry a longer one.
	maxLine = 5 << 20
)

// row is one row of the input, and one item of a run.
type row struct{ id, text string }

// readInput reads a file of rows: CSV if it is called so, else JSON lines.
func readInput(path string) ([]row, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	read := readLines
	if filepath.Ext(path) == ".csv" {
		read = readCSV
	}
	rows, err := read(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err == nil {
		err = checkRows(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read input %s: %w", path, err)
	}
	return rows, nil
}

func readCSV(r io.Reader) ([]row, error) {
	records, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, errors.New("there is no header")
	}
	header := records[0]
	id, text := slices.Index(header, "id"), slices.Index(header, "text")
	if id < 0 {
		id = slices.Index(header, "path")
	}
	if id < 0 || text < 0 {
		return nil, errors.New("the header does not name the columns id (or path) and text")
	}
	rows := make([]row, 0, len(records)-1)
	for _, record := range records[1:] {
		rows = append(rows, row{record[id], record[text]})
	}
	return rows, nil
}

func readLines(r io.Reader) ([]row, error) {
	var rows []row
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var line struct {
			ID   string  `json:"id"`
			Path string  `json:"path"`
			Text *string `json:"text"`
		}
		err := json.Unmarshal(lines.Bytes(), &line)
		if err == nil && line.Text == nil {
			err = errors.New("there is no text")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if line.ID == "" {
			line.ID = line.Path
		}
		rows = append(rows, row{line.ID, *line.Text})
	}
	return rows, lines.Err()
}

// checkRows finds what would come back otherwise than it was sent, or not at all.
func checkRows(rows []row) error {
	if len(rows) == 0 || len(rows) > maxItems {
		return fmt.Errorf("there are %d rows, and a run has 1 to %d items", len(rows), maxItems)
	}
	seen := make(map[string]bool, len(rows))
	for i, r := range rows {
		switch {
		case r.id == "":
			return fmt.Errorf("row %d has no id", i+1)
		case seen[r.id]:
			return fmt.Errorf("row %d has the id of another row", i+1)
		case !utf8.ValidString(r.id) || !utf8.ValidString(r.text):
			return fmt.Errorf("row %d is not UTF-8", i+1)
		}
		seen[r.id] = true
	}
	return nil
}

// repeat gives the rows so many times, each time under ids of their own; 0 is as often
// as fits into one run.
func repeat(rows []row, times int) ([]row, error) {
	if times == 0 {
		times = maxItems / len(rows)
	}
	if n := times * len(rows); n < minItems || n > maxItems {
		return nil, fmt.Errorf("%d rows %d times are %d items, and the demo needs %d to %d", len(rows), times, n, minItems, maxItems)
	}
	var all []row
	for n := range times {
		for _, r := range rows {
			if n > 0 {
				r.id = fmt.Sprintf("%s#%d", r.id, n+1)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// everyTenth chooses the rows of the small run.
func everyTenth(rows []row) []row {
	var few []row
	for i := 0; i+10 <= len(rows); i += 10 {
		few = append(few, rows[i])
	}
	return few
}
