package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
)

const (
	// maxRunItems and maxRunBytes are what the server takes as one run.
	maxRunItems = 1000
	maxRunBytes = 5 << 20
)

// runInputHelp tells of the flags below in the help of the commands that have
// them.
const runInputHelp = `FILE holds the run's document as JSON, - is standard input. Without FILE the run is
made of --kind, the items in the file of --items, and --shared. Each row of a CSV
file, whose first row names the columns, is an item with a member for each column;
each line of a file of JSON lines is an item. The cells of a CSV file are text; with
--typed a cell that is JSON, as 12, true or {"a":1}, is taken for that, and an empty
one for null. An item's id is its member id, or that of --id-column, and item-0,
item-1 and so on where there is none.

A run has at most 1,000 items and 5 MiB. What breaks that, and what is wrong in a
file, is told with its line and column before anything is sent.`

// runFlags describe a run on the command line.
type runFlags struct {
	kind, shared, metadata string
	pairs                  []string
	items                  string
	format                 itemFormat
}

func (r *runFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.kind, "kind", "", "kind of the run, instead of FILE")
	f.StringVar(&r.items, "items", "", "file of the items, - for standard input")
	f.StringVar(&r.format.name, "items-format", "", "csv or jsonl (default: csv for a file called so, else jsonl)")
	f.BoolVar(&r.format.typed, "typed", false, "take the cells of a CSV file that are JSON for what they are")
	f.StringVar(&r.format.id, "id-column", "", "the column, or member, that holds the item's id (default: id, if there is one)")
	f.StringVar(&r.shared, "shared", "", "what all items share: a JSON object, or @FILE")
	f.StringArrayVar(&r.pairs, "meta", nil, "NAME=VALUE, returned as given; may be given more than once")
	f.StringVar(&r.metadata, "metadata", "", "the same as a whole: a JSON object, or @FILE")
	cmd.MarkFlagsMutuallyExclusive("meta", "metadata")
	_ = cmd.RegisterFlagCompletionFunc("items-format", cobra.FixedCompletions(itemFormats(), cobra.ShellCompDirectiveNoFileComp))
}

// check finds what makes no sense together.
func (r *runFlags) check(file string) error {
	described := r.kind != "" || r.items != "" || r.shared != "" || r.metadata != "" || len(r.pairs) > 0 || r.format != itemFormat{}
	switch {
	case file != "" && described:
		return usage("the run comes from FILE or from flags, not from both")
	case file == "" && r.kind == "":
		return usage("give FILE, or --kind and --items")
	case r.items == "" && r.format != itemFormat{}:
		return usage("--items-format, --typed and --id-column need --items")
	case r.format.name != "" && !slices.Contains(itemFormats(), r.format.name):
		return usage("--items-format is neither csv nor jsonl")
	}
	if r.format.name == "" {
		r.format.name = formatOf(r.items)
	}
	if r.format.typed && r.format.name != formatCSV {
		return usage("--typed is for CSV files")
	}
	return nil
}

// runSpec is the run of the file, or of the flags where there is none.
func (e *env) runSpec(r *runFlags, file string) (spec api.RunSpec, err error) {
	if err := r.check(file); err != nil {
		return spec, err
	}
	if file == "" {
		spec, err = e.flagRun(r)
	} else {
		var data []byte
		if data, err = e.read(file); err == nil {
			err = decodeObject(nameOf(file), 1, data, &spec)
		}
	}
	if err != nil {
		return spec, err
	}
	if len(spec.Items) > maxRunItems {
		return spec, fmt.Errorf("read %s: %d items, and a run may have 1,000; split it into several runs", nameOf(file), len(spec.Items))
	}
	document, err := json.Marshal(spec)
	if err == nil && len(document) > maxRunBytes {
		err = fmt.Errorf("the run has %d bytes, and one may have 5 MiB (%d); split it into several runs", len(document), maxRunBytes)
	}
	return spec, err
}

func (e *env) flagRun(r *runFlags) (spec api.RunSpec, err error) {
	spec.Kind = r.kind
	if err := e.decodeArgument("--shared", r.shared, &spec.Shared); err != nil {
		return spec, err
	}
	for _, own := range []string{"schema_version", "kind", "items", "metadata"} {
		if _, found := spec.Shared[own]; found {
			return spec, usage("--shared has the member %s, which is the run's own", own)
		}
	}
	if spec.Metadata, err = e.runMetadata(r); err != nil {
		return spec, err
	}
	if r.items == "" {
		return spec, nil
	}
	in, _, err := e.open(r.items)
	if err != nil {
		return spec, err
	}
	defer in.Close()
	spec.Items, err = readItems(in, nameOf(r.items), r.format)
	return spec, err
}

// runMetadata is the metadata of the flags, nil for none.
func (e *env) runMetadata(r *runFlags) (metadata json.RawMessage, err error) {
	given, err := pairs(r.pairs)
	if err != nil {
		return nil, err
	}
	if given != nil {
		return json.Marshal(given)
	}
	err = e.decodeArgument("--metadata", r.metadata, &metadata)
	return metadata, err
}

// decodeArgument reads the JSON object of a flag into v; an empty flag is none.
func (e *env) decodeArgument(name, value string, v any) error {
	if value == "" {
		return nil
	}
	document, err := e.given(value)
	if err != nil {
		return err
	}
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		name = nameOf(file)
	}
	if err := decodeObject(name, 1, document, v); err != nil {
		return &usageError{err}
	}
	return nil
}

// given is what stands on the command line, or in a file as @FILE.
func (e *env) given(value string) ([]byte, error) {
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		return e.read(file)
	}
	return []byte(value), nil
}

// jsonArgument is given JSON.
func (e *env) jsonArgument(name, value string) (json.RawMessage, error) {
	document, err := e.given(value)
	if err != nil {
		return nil, err
	}
	if !json.Valid(document) {
		return nil, usage("%s is not JSON", name)
	}
	return document, nil
}

// decodeObject reads data as one JSON object into v. It is as strict as the server
// is, since what is read is written anew: a member that stands twice would be lost
// in silence. Errors begin with the place, counted from the line on which data
// begins.
func decodeObject(name string, line int, data []byte, v any) error {
	object, at, err := oneObject(data)
	if err == nil {
		err = json.Unmarshal(object, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", place(name, line, data, at), err)
	}
	return nil
}

// oneObject is the JSON object that data is, or what is wrong at an offset.
func oneObject(data []byte) (object jsontext.Value, at int64, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	object, err = d.ReadValue()
	if err != nil {
		at, err = mistake(err)
		return nil, at, err
	}
	if object.Kind() != '{' {
		return nil, 0, errors.New("not a JSON object")
	}
	object, at = object.Clone(), d.InputOffset()
	switch _, err = d.ReadToken(); {
	case err == nil:
		return nil, at, errors.New("more than one document")
	case !errors.Is(err, io.EOF):
		at, err = mistake(err)
		return nil, at, err
	}
	return object, 0, nil
}

// mistake says in a person's words what is wrong with JSON, and at which offset.
func mistake(err error) (int64, error) {
	var bad *jsontext.SyntacticError
	if !errors.As(err, &bad) {
		return 0, errors.New("no JSON")
	}
	switch {
	case errors.Is(bad.Err, io.ErrUnexpectedEOF):
		return bad.ByteOffset, errors.New("the JSON ends too early")
	case errors.Is(bad.Err, jsontext.ErrDuplicateName):
		return bad.ByteOffset, fmt.Errorf("a second member %q", bad.JSONPointer.LastToken())
	}
	return bad.ByteOffset, bad.Err
}

// place is name:line:column of an offset into data.
func place(name string, line int, data []byte, offset int64) string {
	before := data[:min(max(int(offset), 0), len(data))]
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("%s:%d:%d", name, line+bytes.Count(before, []byte("\n")), column)
}
