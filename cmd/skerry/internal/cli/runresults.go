package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// resultFlags are the flags of skerry run results.
type resultFlags struct {
	paging
	format, order string
	file          string
	failed        bool
	columns       []string
}

// The formats of results, besides those of items.
const formatTable = "table"

func newRunResults(e *env) *cobra.Command {
	var r resultFlags
	cmd := &cobra.Command{
		Use: "results ID", Short: "Print what came of the items that have ended", Args: cobra.ExactArgs(1),
		Long: `Print what came of the items that have ended, failed and cancelled ones too. The
table is for people and shortens results; --format jsonl, or --json, prints each item
whole.

--format csv prints the columns id, input_index, status, attempt_count, error_code
and error_message, and then one for each member that any of the results has at its
top, in alphabetical order. A member that is called as one of those six, or begins
with "result.", gets the prefix "result.". One that is text is printed as it is, any
other as JSON, and one that an item has not, or that is null, as an empty cell. To
know the members the results are read twice; --columns names those to print, in
order, and then they are read once.`,
		Example: `  skerry run results rn_1
  skerry run results rn_1 --format csv --order input -o results.csv
  skerry run results rn_1 --failed --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(e.json); err != nil {
				return err
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			return e.into(r.file, func() error {
				return e.printResults(r.read(cmd.Context(), cl, args[0]), &r)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.format, "format", "", "table, jsonl or csv (default table, with --json jsonl)")
	f.StringVar(&r.order, "order", "completion", "completion or input")
	f.StringVarP(&r.file, "output", "o", "", "write to this file, which is complete if the exit code is 0")
	f.BoolVar(&r.failed, "failed", false, "only items that failed")
	f.StringSliceVar(&r.columns, "columns", nil, "with --format csv: print these members of the results")
	r.limitFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formatTable, formatJSONL, formatCSV}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("order", cobra.FixedCompletions([]string{"completion", "input"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check fills in the format and finds what makes no sense.
func (r *resultFlags) check(asJSON bool) error {
	if r.format == "" {
		r.format = formatTable
		if asJSON {
			r.format = formatJSONL
		}
	}
	switch {
	case !slices.Contains([]string{formatTable, formatJSONL, formatCSV}, r.format):
		return usage("--format is none of table, jsonl and csv")
	case asJSON && r.format != formatJSONL:
		return usage("--json and --format %s exclude each other", r.format)
	case r.order != "completion" && r.order != "input":
		return usage("--order is neither completion nor input")
	case len(r.columns) > 0 && r.format != formatCSV:
		return usage("--columns needs --format csv")
	}
	return nil
}

// read reads the results that are to be printed, anew for each range over it.
func (r *resultFlags) read(ctx context.Context, cl *client.Client, id string) iter.Seq2[api.RunItem, error] {
	o := &client.ResultOptions{InputOrder: r.order == "input"}
	if !r.failed {
		o.PageSize = r.pageSize()
		return cl.RunResults(ctx, id, o)
	}
	results := cl.RunResults(ctx, id, o)
	return func(yield func(api.RunItem, error) bool) {
		for item, err := range results {
			if (err != nil || item.Status == api.ItemFailed) && !yield(item, err) {
				return
			}
		}
	}
}

func (e *env) printResults(results iter.Seq2[api.RunItem, error], r *resultFlags) error {
	switch r.format {
	case formatCSV:
		return e.printCSV(results, r)
	case formatJSONL:
		e.json = true
	}
	return printList(e, &r.paging, results, itemHead(), itemCells)
}

// printCSV prints results under columns that are known beforehand: those that the
// caller named, or those of a first reading. An item that ended in between would
// have others, and is left out.
func (e *env) printCSV(results iter.Seq2[api.RunItem, error], r *resultFlags) error {
	members, known := r.columns, map[string]bool(nil)
	if len(members) == 0 {
		var err error
		if members, known, err = resultMembers(results, r.limit); err != nil {
			return err
		}
	}
	out := csv.NewWriter(e.out)
	defer out.Flush()
	if err := out.Write(resultColumns(members)); err != nil {
		return err
	}
	n := 0
	for item, err := range results {
		if err != nil {
			return err
		}
		if known != nil && !known[item.ID] {
			continue
		}
		if err := out.Write(resultCells(&item, members)); err != nil {
			return err
		}
		if n++; n == r.limit {
			break
		}
	}
	out.Flush()
	return out.Error()
}

// resultMembers are the names of the members of all results, up to the limit, and
// the ids of the items that have them.
func resultMembers(results iter.Seq2[api.RunItem, error], limit int) ([]string, map[string]bool, error) {
	names, ids := map[string]bool{}, map[string]bool{}
	for item, err := range results {
		if err != nil {
			return nil, nil, err
		}
		for name := range membersOf(item.Result) {
			names[name] = true
		}
		if ids[item.ID] = true; len(ids) == limit {
			break
		}
	}
	return slices.Sorted(maps.Keys(names)), ids, nil
}

// fixedColumns stand before those of the results.
func fixedColumns() []string {
	return []string{"id", "input_index", "status", "attempt_count", "error_code", "error_message"}
}

// resultColumns names a column for each member. No two have the same name.
func resultColumns(members []string) []string {
	const prefix = "result."
	columns := fixedColumns()
	for _, name := range members {
		if slices.Contains(fixedColumns(), name) || strings.HasPrefix(name, prefix) {
			name = prefix + name
		}
		columns = append(columns, name)
	}
	return columns
}

func resultCells(item *api.RunItem, members []string) []string {
	failure := api.Failure{}
	if item.Error != nil {
		failure = *item.Error
	}
	cells := []string{
		item.ID, strconv.Itoa(item.InputIndex), string(item.Status), strconv.Itoa(item.AttemptCount),
		failure.Code, failure.Message,
	}
	of := membersOf(item.Result)
	for _, name := range members {
		cells = append(cells, cellOf(of[name]))
	}
	return cells
}

// membersOf are the members of a result; none if there is no result.
func membersOf(result json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(result, &members)
	return members
}

// cellOf is a value as a cell: text as it is, nothing for null, and else JSON.
func cellOf(value json.RawMessage) string {
	var text *string
	if len(value) > 0 && json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	if text == nil {
		return ""
	}
	return *text
}

func newRunItems(e *env) *cobra.Command {
	var p paging
	var status string
	cmd := &cobra.Command{
		Use: "items ID", Short: "List the items of a run in the order of its document", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			items := cl.RunItems(cmd.Context(), args[0], api.ItemStatus(status), p.options())
			return printList(e, &p, items, itemHead(), itemCells)
		},
	}
	p.flags(cmd)
	statusFlag(cmd, &status, string(api.ItemPending), string(api.ItemRunning), string(api.ItemSucceeded),
		string(api.ItemFailed), string(api.ItemCancelled))
	return cmd
}

func itemHead() []string { return []string{"ID", "STATUS", "TRIES", "RESULT"} }

func itemCells(i api.RunItem) []string {
	outcome := string(i.Result)
	switch {
	case i.Error != nil:
		outcome = strings.TrimPrefix(i.Error.Code+": "+i.Error.Message, ": ")
	case outcome == "null":
		outcome = ""
	}
	return []string{i.ID, string(i.Status), strconv.Itoa(i.AttemptCount), shorten(outcome)}
}

// maxShown bounds what a table shows of a result.
const maxShown = 120

// shorten is the beginning of a text that is too long for a table.
func shorten(text string) string {
	for at, n := range cuts(text) {
		if n == maxShown {
			return text[:at] + "…"
		}
	}
	return text
}

// cuts gives where each character of a text begins, and how many are before it.
func cuts(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		n := 0
		for at := range text {
			if !yield(at, n) {
				return
			}
			n++
		}
	}
}
