package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// outcomes are items that succeeded with these results.
func outcomes(results ...string) (items []api.RunItem) {
	for i, result := range results {
		items = append(items, api.RunItem{
			ID: fmt.Sprint("item-", i), InputIndex: i, Status: api.ItemSucceeded, AttemptCount: 1, Result: json.RawMessage(result),
		})
	}
	return items
}

// reading reads items again and again, one more each time. It ends with err.
func reading(items []api.RunItem, from int, err error) iter.Seq2[api.RunItem, error] {
	n := from
	return func(yield func(api.RunItem, error) bool) {
		for _, item := range items[:n] {
			if !yield(item, nil) {
				return
			}
		}
		if err != nil {
			yield(api.RunItem{}, err)
		}
		n = min(n+1, len(items))
	}
}

func printed(t *testing.T, items iter.Seq2[api.RunItem, error], r *resultFlags) string {
	t.Helper()
	e, out, _ := newEnv(nil)
	if err := e.printResults(items, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestResultsHaveAColumnForEachOfTheirMembers(t *testing.T) {
	t.Parallel()
	items := outcomes(`{"b":1,"a":"x, \"y\"\nz"}`, `{"c":[1,2],"b":null}`, `{"id":7,"result.id":8,"":9}`)
	items = append(items,
		api.RunItem{ID: "f", InputIndex: 3, Status: api.ItemFailed, AttemptCount: 2, Result: json.RawMessage("null"), Error: &api.Failure{Code: "bad", Message: "no"}},
		api.RunItem{ID: "c", InputIndex: 4, Status: api.ItemCancelled})
	for _, tt := range []struct {
		name string
		r    resultFlags
		want string
	}{
		{"all", resultFlags{}, `id,input_index,status,attempt_count,error_code,error_message,,a,b,c,result.id,result.result.id
item-0,0,succeeded,1,,,,"x, ""y""
z",1,,,
item-1,1,succeeded,1,,,,,,"[1,2]",,
item-2,2,succeeded,1,,,9,,,,7,8
f,3,failed,2,bad,no,,,,,,
c,4,cancelled,0,,,,,,,,
`},
		{"chosen", resultFlags{columns: []string{"c", "no"}}, `id,input_index,status,attempt_count,error_code,error_message,c,no
item-0,0,succeeded,1,,,,
item-1,1,succeeded,1,,,"[1,2]",
item-2,2,succeeded,1,,,,
f,3,failed,2,bad,no,,
c,4,cancelled,0,,,,
`},
		{"limited", resultFlags{paging: paging{limit: 1}}, `id,input_index,status,attempt_count,error_code,error_message,a,b
item-0,0,succeeded,1,,,"x, ""y""
z",1
`},
		{"none", resultFlags{columns: []string{"id"}, paging: paging{limit: -1}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.r.format = formatCSV
			from := len(items)
			if tt.want == "" {
				from, tt.want = 0, "id,input_index,status,attempt_count,error_code,error_message,result.id\n"
			}
			if diff := cmp.Diff(printed(t, reading(items, from, nil), &tt.r), tt.want); diff != "" {
				t.Error("-got +want", diff)
			}
		})
	}
}

func TestAThousandResultsOfDifferentMembersKeepTheirCells(t *testing.T) {
	t.Parallel()
	var results []string
	for i := range 1000 {
		results = append(results, fmt.Sprintf(`{"m%03d":%d,"all":"%d"}`, i%250, i, i))
	}
	text := printed(t, reading(outcomes(results...), 1000, nil), &resultFlags{format: formatCSV})
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1001 || len(rows[0]) != 6+251 {
		t.Fatalf("got %d rows of %d cells, want 1001 of 257", len(rows), len(rows[0]))
	}
	for i, row := range rows[1:] {
		for at, cell := range row[6:] {
			want := ""
			switch rows[0][6+at] {
			case "all", fmt.Sprintf("m%03d", i%250):
				want = fmt.Sprint(i)
			}
			if cell != want {
				t.Fatalf("result %d has %q in the column %s, want %q", i, cell, rows[0][6+at], want)
			}
		}
	}
}

// An item that ends between the two readings may have members that no column is
// for.
func TestResultThatComesBetweenTheReadingsIsLeftOut(t *testing.T) {
	t.Parallel()
	text := printed(t, reading(outcomes(`{"a":1}`, `{"b":2}`), 1, nil), &resultFlags{format: formatCSV})
	if want := "id,input_index,status,attempt_count,error_code,error_message,a\nitem-0,0,succeeded,1,,,1\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestLinesOfResultsAreWholeAndTheTableIsShort(t *testing.T) {
	t.Parallel()
	items := outcomes(`{"t":"` + strings.Repeat("é", 500) + `"}`)
	line := printed(t, reading(items, 1, nil), &resultFlags{format: formatJSONL})
	var back api.RunItem
	if err := json.Unmarshal([]byte(line), &back); err != nil || string(back.Result) != string(items[0].Result) {
		t.Errorf("got %s, %v, want the whole result", line, err)
	}
	shown := strings.TrimRight(printed(t, reading(items, 1, nil), &resultFlags{format: formatTable}), "\n")
	if !strings.HasSuffix(shown, `{"t":"`+strings.Repeat("é", maxShown-6)+"…") {
		t.Errorf("got %q, want %d characters of the result", shown, maxShown)
	}
}

func TestResultsThatCannotBeReadAreAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, r := range []resultFlags{
		{format: formatCSV}, {format: formatCSV, columns: []string{"a"}}, {format: formatJSONL}, {format: formatTable},
	} {
		e, _, _ := newEnv(nil)
		if err := e.printResults(reading(outcomes(`{}`), 1, broken), &r); !errors.Is(err, broken) {
			t.Errorf("%+v: got %v, want the error", r, err)
		}
	}
}

func TestOutputGoesIntoTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	e, out, _ := newEnv(nil)
	for file, to := range map[string]func() string{
		path: func() string { text, _ := os.ReadFile(path); return string(text) },
		"-":  out.String, "": out.String,
	} {
		out.Reset()
		if err := e.into(file, func() error { return e.line("text") }); err != nil || to() != "\"text\"\n" {
			t.Errorf("%q: got %q, %v", file, to(), err)
		}
		if e.out != any(out) {
			t.Fatal("what is printed later goes elsewhere")
		}
	}
	failed := errors.New("failed")
	if err := e.into(path, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error", err)
	}
	if err := e.into(filepath.Join(path, "below"), func() error { return nil }); err == nil {
		t.Error("wrote into what is no directory")
	}
}

func TestControlCharactersOfAResultStayOutOfTheTable(t *testing.T) {
	t.Parallel()
	items := []api.RunItem{{ID: "a\x1b[31m", Status: api.ItemFailed, Error: &api.Failure{Code: "c", Message: "one\ntwo\x07"}}}
	if shown := printed(t, reading(items, 1, nil), &resultFlags{format: formatTable}); bytes.ContainsAny([]byte(shown), "\x1b\x07") || strings.Count(shown, "\n") != 2 {
		t.Errorf("got %q", shown)
	}
}
