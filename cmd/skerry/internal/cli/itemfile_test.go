package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// spelt is each item as the JSON that is sent for it.
func spelt(t *testing.T, items []api.RunItemSpec) (lines []string) {
	t.Helper()
	for _, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

func TestRowsAndLinesAreItems(t *testing.T) {
	t.Parallel()
	csv, typed := itemFormat{name: formatCSV}, itemFormat{name: formatCSV, typed: true}
	lines := itemFormat{name: formatJSONL}
	for _, tt := range []struct {
		name   string
		file   string
		format itemFormat
		want   []string
	}{
		{"cells are text", "id,n,t\na,1,\n", csv, []string{`{"id":"a","n":"1","t":""}`}},
		{"no id", "n\n1\n2\n", csv, []string{`{"n":"1"}`, `{"n":"2"}`}},
		{"another id", "n,name\n1,a\n", itemFormat{name: formatCSV, id: "name"}, []string{`{"id":"a","n":"1"}`}},
		{"head alone", "id,n\n", csv, nil},
		{"quoted", "id,t\na,\"x, \"\"y\"\"\nz\"\n", csv, []string{`{"id":"a","t":"x, \"y\"\nz"}`}},
		{"mark, CRLF, no last end, an empty line", "\ufeffid,n\r\n\r\na,1\r\nb,2", csv, []string{`{"id":"a","n":"1"}`, `{"id":"b","n":"2"}`}},
		{
			"typed", "id,i,f,b,o,l,e,w,q,z,bad,twice\n1,1,1.5,true,\"{\"\"a\"\":1}\",\"[1, 2]\",,word,\"\"\"x\"\"\",null,01,\"{\"\"a\"\":1,\"\"a\"\":2}\"\n", typed,
			[]string{`{"b":true,"bad":"01","e":null,"f":1.5,"i":1,"id":"1","l":[1,2],"o":{"a":1},"q":"x","twice":"{\"a\":1,\"a\":2}","w":"word","z":null}`},
		},
		{"large numbers are kept", "n\n12345678901234567890\n", typed, []string{`{"n":12345678901234567890}`}},
		{"lines", "{\"id\":\"a\",\"n\":1}\n\n \t\r\n{\"n\":[1, 2]}\r\n{}", lines, []string{`{"id":"a","n":1}`, `{"n":[1,2]}`, `{}`}},
		{"mark before lines", "\ufeff{\"n\":1}", lines, []string{`{"n":1}`}},
		{"text or a number is an id", `{"k":"a"}` + "\n" + `{"k":12}`, itemFormat{name: formatJSONL, id: "k"}, []string{`{"id":"a"}`, `{"id":"12"}`}},
		{"member id by name", `{"id":"a"}`, itemFormat{name: formatJSONL, id: "id"}, []string{`{"id":"a"}`}},
		{"nothing", "", lines, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			items, err := readItems(strings.NewReader(tt.file), "f", tt.format)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spelt(t, items), tt.want); diff != "" {
				t.Error("-got +want", diff)
			}
		})
	}
}

func TestWhatIsWrongInAFileOfItemsIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	csv, lines := itemFormat{name: formatCSV}, itemFormat{name: formatJSONL}
	byName := func(name string) itemFormat { return itemFormat{name: name, id: "k"} }
	for _, tt := range []struct {
		file   string
		format itemFormat
		want   string
	}{
		{"", csv, "f:1: no row that names the columns"},
		{"a,b\n1\n", csv, "f:2: the row has 1 cells, and there are 2 columns"},
		{"a\n1\n\"x\ny\",2\n", csv, "f:3: the row has 2 cells"},
		{"a\nx\"y\n", csv, `f:2:2: bare "`},
		{"a\n\"x\n", csv, "f:2:"},
		{"a,,b\n", csv, "f:1:3: the column has no name"},
		{"a,b,a\n", csv, `f:1:5: a second column "a"`},
		{"\xff\n", csv, "f:1:1: the column's name is not UTF-8"},
		{"a,b\n1,\xff\n", csv, "f:2:3: the cell is not UTF-8"},
		{"n,id\n1,\n", csv, "f:2:3: the id is empty"},
		{"id\na\nb\na\n", csv, `f:4: the id "a" stands on line 2 too`},
		{"a\n", byName(formatCSV), `f:1: there is no column "k", which is to be the id; there are ["a"]`},
		{"k,id\n", byName(formatCSV), `f:1:3: a column id beside "k"`},
		{"n\n" + strings.Repeat("1\n", 1001), csv, "f:1002: more than 1,000 items"},
		{"n\n" + strings.Repeat("x", 5<<20) + "\n", csv, "f:2: up to here the items have more than 5 MiB"},
		{"{}\n[]\n", lines, "f:2:1: not a JSON object"},
		{"{}\n{\"a\":1,\n\"b\":2}\n", lines, "f:2:8: the JSON ends too early"},
		{`{"a":1,"a":2}`, lines, `f:1:8: a second member "a"`},
		{`{"a":1}{}`, lines, "f:1:8: more than one document"},
		{`{"a":1} x`, lines, "f:1:9: "},
		{`{"a":NaN}`, lines, "f:1:6: "},
		{"{}\n{\"a\":\"\xff\"}", lines, "f:2:"},
		{`{"id":1}`, lines, "f:1:1: "},
		{"{\"id\":\"a\"}\n\n{\"id\":\"a\"}", lines, `f:3: the id "a" stands on line 1 too`},
		{`{"id":"a","k":"b"}`, byName(formatJSONL), "f:1: a member id beside k"},
		{`{"a":1}`, byName(formatJSONL), "f:1: there is no member k"},
		{`{"k":true}`, byName(formatJSONL), "neither text nor a number"},
		{`{"k":null}`, byName(formatJSONL), "f:1: "},
		{`{"k":""}`, byName(formatJSONL), "f:1: the id, k, is empty"},
		{strings.Repeat("{}\n", 1001), lines, "f:1001: more than 1,000 items"},
		{"{}\n" + strings.Repeat(" ", 6<<20), lines, "f:2: the line has more than 5 MiB"},
	} {
		if _, err := readItems(strings.NewReader(tt.file), "f", tt.format); err == nil || !strings.HasPrefix(err.Error(), "f:") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: got %v, want %s", tt.file, err, tt.want)
		}
	}
}

func TestAThousandItemsAreNotTooMany(t *testing.T) {
	t.Parallel()
	for _, name := range itemFormats() {
		file := strings.Repeat("{\"n\":1}\n", 1000)
		if name == formatCSV {
			file = "n\n" + strings.Repeat("1\n", 1000)
		}
		items, err := readItems(strings.NewReader(file), "f", itemFormat{name: name})
		if err != nil || len(items) != 1000 {
			t.Errorf("%s: got %d items and %v, want 1000", name, len(items), err)
		}
	}
}

func TestFormatOfAFileIsThatOfItsName(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"a.csv": formatCSV, "A.CSV": formatCSV, "a.jsonl": formatJSONL, "csv": formatJSONL, "-": formatJSONL} {
		if got := formatOf(file); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}

// Whatever a file holds, each item that is read is JSON that a server takes: it
// is read back as it was, and no id stands twice.
func FuzzItemsAreReadAsTheyAreSent(f *testing.F) {
	for _, file := range []string{
		"id,n,t\na,1,x\nb,,\"{\"\"a\"\":1}\"\n", "\ufeffa\r\n1\r\n", "a,a\n", "\"", "id\n\n", "{\"id\":\"a\"}\n{\"n\":1e400}\n", "{\"k\":1}", "{}{}", "[]", "{\"a\":\"\\ud800\"}",
	} {
		for mode := range byte(6) {
			f.Add(file, mode)
		}
	}
	f.Fuzz(func(t *testing.T, file string, mode byte) {
		format := itemFormat{name: itemFormats()[mode%2], typed: mode&2 != 0}
		if mode&4 != 0 {
			format.id = "k"
		}
		items, err := readItems(strings.NewReader(file), "f", format)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error does not begin with the place: %v", err)
			}
			return
		}
		ids := map[string]bool{}
		for i, line := range spelt(t, items) {
			var back api.RunItemSpec
			if err := decodeObject(fmt.Sprint("item ", i), 1, []byte(line), &back); err != nil {
				t.Fatalf("sent %s: %v", line, err)
			}
			if again := spelt(t, []api.RunItemSpec{back}); again[0] != line {
				t.Errorf("read back %s of %s", again[0], line)
			}
			if id := items[i].ID; id != "" && ids[id] {
				t.Errorf("the id %q stands twice", id)
			}
			ids[items[i].ID] = true
		}
	})
}
