package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is one item of the input.
type row struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// readInput reads a file of rows: CSV with a header, or else JSON lines.
func readInput(path string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	defer file.Close()
	read := readLines
	if filepath.Ext(path) == ".csv" {
		read = readCSV
	}
	rows, err := read(file)
	if err == nil {
		err = check(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read input %s: %w", path, err)
	}
	return rows, nil
}

// smallest is how many rows the demo needs: the small run takes every tenth of them.
const smallest = 10

func check(rows []row) error {
	seen := map[string]bool{}
	for i, r := range rows {
		switch {
		case r.ID == "":
			return fmt.Errorf("row %d has no id", i+1)
		case seen[r.ID]:
			return fmt.Errorf("row %d has the id of another row", i+1)
		}
		seen[r.ID] = true
	}
	if len(rows) < smallest {
		return fmt.Errorf("there are %d rows, and at least %d are needed", len(rows), smallest)
	}
	return nil
}

func readCSV(r io.Reader) ([]row, error) {
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("there is no header")
	}
	id, text := slices.Index(all[0], "id"), slices.Index(all[0], "text")
	if id < 0 || text < 0 {
		return nil, errors.New("the header does not name the columns id and text")
	}
	rows := make([]row, 0, len(all)-1)
	for _, record := range all[1:] {
		rows = append(rows, row{record[id], record[text]})
	}
	return rows, nil
}

func readLines(r io.Reader) ([]row, error) {
	var rows []row
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var one row
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rows = append(rows, one)
	}
	return rows, lines.Err()
}

// repeat gives the rows so many times, each under ids of its own.
func repeat(rows []row, times int) []row {
	var all []row
	for n := range max(times, 1) {
		for _, r := range rows {
			if n > 0 {
				r.ID += fmt.Sprintf("#%d", n+1)
			}
			all = append(all, r)
		}
	}
	return all
}

// largestFile bounds the files that makeSource takes.
const largestFile = 8 << 10

// makeSource writes the Go files of a folder, tests left out and the large ones too, as
// an input. The shipped one was made of some small packages of Go's own source, from
// slices to context.
func makeSource(folder string, to io.Writer) error {
	out := csv.NewWriter(to)
	if err := out.Write([]string{"id", "text"}); err != nil {
		return err
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) > largestFile || strings.ContainsRune(string(text), '\r') {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return out.Write([]string{filepath.ToSlash(name), string(text)})
	})
	out.Flush()
	return errors.Join(err, out.Error())
}
