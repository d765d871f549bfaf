package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// The formats of files of items.
const (
	formatCSV   = "csv"
	formatJSONL = "jsonl"
)

func itemFormats() []string { return []string{formatCSV, formatJSONL} }

// formatOf is the format of a file by its name.
func formatOf(file string) string {
	if strings.EqualFold(filepath.Ext(file), ".csv") {
		return formatCSV
	}
	return formatJSONL
}

// itemFormat says how a file of items is read.
type itemFormat struct {
	name  string
	typed bool
	// id is the column or member that holds the id; empty is the one called id,
	// if there is one.
	id string
}

// readItems reads the items of a run. Errors begin with the file's name and the
// line, and the column where it is known, counted in bytes.
func readItems(r io.Reader, file string, format itemFormat) ([]api.RunItemSpec, error) {
	in := bufio.NewReader(r)
	// Spreadsheets begin a file in UTF-8 with a mark.
	if start, _ := in.Peek(3); string(start) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	l := &itemList{file: file, format: format, lines: map[string]int{}}
	var err error
	if format.name == formatCSV {
		err = l.readCSV(in)
	} else {
		err = l.readLines(in)
	}
	return l.items, err
}

// itemList gathers items and holds them against what a run may have.
type itemList struct {
	file   string
	format itemFormat
	items  []api.RunItemSpec
	// lines has the line on which each id stands, and size counts what the items
	// have as JSON.
	lines map[string]int
	size  int
}

func (l *itemList) add(line int, item api.RunItemSpec) error {
	if len(l.items) == maxRunItems {
		return l.at(line, 0, "more than 1,000 items; split them into several runs")
	}
	if before, twice := l.lines[item.ID]; twice && item.ID != "" {
		return l.at(line, 0, "the id %q stands on line %d too", item.ID, before)
	}
	document, err := json.Marshal(item)
	if err != nil {
		return l.at(line, 0, "%w", err)
	}
	if l.size += len(document) + 1; l.size > maxRunBytes {
		return l.at(line, 0, "up to here the items have more than 5 MiB; split them into several runs")
	}
	l.lines[item.ID] = line
	l.items = append(l.items, item)
	return nil
}

// at is an error with its place; a column of 0 is not known.
func (l *itemList) at(line, column int, format string, args ...any) error {
	where := fmt.Sprintf("%s:%d: ", l.file, line)
	if column > 0 {
		where = fmt.Sprintf("%s:%d:%d: ", l.file, line, column)
	}
	return fmt.Errorf("%s%w", where, fmt.Errorf(format, args...))
}

func (l *itemList) readLines(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRunBytes+1)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var item api.RunItemSpec
		if err := decodeObject(l.file, n, line, &item); err != nil {
			return err
		}
		if err := l.chooseID(n, &item); err != nil {
			return err
		}
		if err := l.add(n, item); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return l.at(n+1, 0, "the line has more than 5 MiB")
	}
	if err := lines.Err(); err != nil {
		return l.at(n+1, 0, "%w", err)
	}
	return nil
}

// chooseID makes the member that the caller chose the item's id.
func (l *itemList) chooseID(line int, item *api.RunItemSpec) error {
	name := l.format.id
	if name == "" || name == "id" {
		return nil
	}
	if item.ID != "" {
		return l.at(line, 0, "a member id beside %s, which is to be the id", name)
	}
	value, found := item.Payload[name]
	if !found {
		return l.at(line, 0, "there is no member %s, which is to be the id", name)
	}
	if json.Unmarshal(value, &item.ID) != nil {
		if kind := jsontext.Value(value).Kind(); kind != '0' {
			return l.at(line, 0, "the member %s is to be the id, and is neither text nor a number", name)
		}
		item.ID = string(value)
	}
	if item.ID == "" {
		return l.at(line, 0, "the id, %s, is empty", name)
	}
	delete(item.Payload, name)
	return nil
}

func (l *itemList) readCSV(r io.Reader) error {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	head, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return l.at(1, 0, "no row that names the columns")
	}
	if err != nil {
		return l.csvError(err, 0, 0)
	}
	columns := slices.Clone(head)
	id, err := l.checkColumns(rows, columns)
	if err != nil {
		return err
	}
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return l.csvError(err, len(cells), len(columns))
		}
		line, _ := rows.FieldPos(0)
		item := api.RunItemSpec{Payload: make(map[string]json.RawMessage, len(cells))}
		for i, text := range cells {
			if err := l.put(&item, columns[i], text, i == id); err != nil {
				line, column := rows.FieldPos(i)
				return l.at(line, column, "%w", err)
			}
		}
		if err := l.add(line, item); err != nil {
			return err
		}
	}
}

// checkColumns finds the column of the id, -1 if there is none.
func (l *itemList) checkColumns(rows *csv.Reader, columns []string) (id int, err error) {
	name := l.format.id
	if name == "" {
		name = "id"
	}
	id = slices.Index(columns, name)
	if id < 0 && l.format.id != "" {
		return id, l.at(1, 0, "there is no column %q, which is to be the id; there are %q", name, columns)
	}
	for i, column := range columns {
		line, at := rows.FieldPos(i)
		switch {
		case column == "":
			return id, l.at(line, at, "the column has no name")
		case !utf8.ValidString(column):
			return id, l.at(line, at, "the column's name is not UTF-8")
		case slices.Index(columns, column) < i:
			return id, l.at(line, at, "a second column %q", column)
		case column == "id" && i != id:
			return id, l.at(line, at, "a column id beside %q, which is to be the id", name)
		}
	}
	return id, nil
}

// put makes a cell the item's id or a member of it.
func (l *itemList) put(item *api.RunItemSpec, column, text string, isID bool) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("the cell is not UTF-8")
	case isID && text == "":
		return errors.New("the id is empty")
	case isID:
		item.ID = text
	case l.format.typed && text == "":
		item.Payload[column] = json.RawMessage("null")
	case l.format.typed && jsontext.Value(text).IsValid():
		item.Payload[column] = json.RawMessage(text)
	default:
		quoted, err := json.Marshal(text)
		item.Payload[column] = quoted
		return err
	}
	return nil
}

// csvError is what is wrong in a row that has so many cells where there are so
// many columns.
func (l *itemList) csvError(err error, cells, columns int) error {
	var bad *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &bad):
		return l.at(bad.Line, 0, "the row has %d cells, and there are %d columns", cells, columns)
	case errors.As(err, &bad):
		return l.at(bad.Line, bad.Column, "%w", bad.Err)
	}
	return fmt.Errorf("read %s: %w", l.file, err)
}
