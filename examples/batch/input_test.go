package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInputIsReadFromCSVAndFromLines(t *testing.T) {
	t.Parallel()
	want := []row{{"a", "x,\n\"y\""}, {"b", ""}}
	for _, tt := range []struct{ name, text string }{
		{"in.csv", "id,text\na,\"x,\n\"\"y\"\"\"\nb,\n"},
		{"in.csv", "\ufefftext,more,path\r\n\"x,\n\"\"y\"\"\",1,a\r\n,2,b\r\n"},
		{"in.jsonl", `{"id":"a","text":"x,\n\"y\""}` + "\n\n" + `{"path":"b","text":"","more":[1]}`},
		{"in", `{"id":"a","text":"x,\n\"y\"","path":"c"}` + "\r\n" + `{"id":"b","text":""}` + "\r\n"},
	} {
		got, err := readInput(writeFile(t, tt.name, tt.text))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q and %v, want %q", tt.text, got, err, want)
		}
	}
}

func TestBadInputIsNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"in.csv", "", "there is no header"},
		{"in.csv", "name,text\na,b\n", "the header does not name the columns"},
		{"in.csv", "id,texts\na,b\n", "the header does not name the columns"},
		{"in.csv", "id,text\n", "there are 0 rows"},
		{"in.csv", "id,text\n" + strings.Repeat("a,b\n", 1001), "there are 1001 rows"},
		{"in.csv", "id,text\na,b\n,c\n", "row 2 has no id"},
		{"in.csv", "id,text\na,b\na,c\n", "row 2 has the id of another row"},
		{"in.csv", "id,text\na,\xff\n", "row 1 is not UTF-8"},
		{"in.csv", "id,text\na\n", "wrong number of fields"},
		{"in.jsonl", "{\"id\":\"a\",\"text\":\"b\"}\n[]\n", "line 2: "},
		{"in.jsonl", "\n{\"id\":\"a\"}\n", "line 2: there is no text"},
		{"in.jsonl", "{\"text\":\"b\"}\n", "row 1 has no id"},
	} {
		if rows, err := readInput(writeFile(t, tt.name, tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40q: got %d rows and %v, want an error that says %q", tt.name, tt.text, len(rows), err, tt.want)
		}
	}
}

func TestShippedInputFitsIntoARunNineTimes(t *testing.T) {
	t.Parallel()
	rows, err := readInput(filepath.Join("testdata", "source.csv"))
	if err != nil {
		t.Fatal(err)
	}
	many, err := repeat(rows, 0)
	if err != nil || len(many) != 9*109 {
		t.Fatalf("got %d items and %v", len(many), err)
	}
	if err := checkRows(many); err != nil {
		t.Error(err)
	}
	if got, want := many[109], (row{rows[0].id + "#2", rows[0].text}); got != want {
		t.Errorf("the first repeated item is %q", got.id)
	}
	if few := everyTenth(many); len(few) != 98 || few[97] != many[970] {
		t.Errorf("got %d items for the small run", len(few))
	}
}

func TestRepeatNeedsEnoughItemsAndNotTooMany(t *testing.T) {
	t.Parallel()
	ten := make([]row, 10)
	for times, want := range map[int]int{0: 1000, 1: 0, 5: 0, 6: 60, 100: 1000, 101: 0} {
		if got, err := repeat(ten, times); len(got) != want || (err == nil) != (want > 0) {
			t.Errorf("10 rows %d times: got %d items and %v, want %d", times, len(got), err, want)
		}
	}
}

func TestFactsOfAnItem(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := work(strings.NewReader(`{"id":"a","payload":{"text":"a b\n\tc\n"}}`), &out); err != nil {
		t.Fatal(err)
	}
	const want = `{"lines":2,"tokens":3,"sha256":"50e9e6c8d7eabcece8f49de5e5dc64e046ef85321b83902ac797844336d1ee52"}` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := work(strings.NewReader(`{"payload":`), &out); err == nil {
		t.Error("an item that is cut off was worked on")
	}
}

func TestMakeSourceTakesSmallFilesThatAreNoTests(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	for _, folder := range sourceFolders() {
		if err := os.MkdirAll(filepath.Join(src, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int{
		"sort/sort.go": maxSource, "sort/large.go": maxSource + 1, "sort/sort_test.go": 1, "sort/sort.s": 1,
		"bytes/bytes.go": 1, "mime/sub/mime.go": 0, "net/net.go": 1,
	} {
		path := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("\n"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := makeSource(src, &out); err != nil {
		t.Fatal(err)
	}
	rows, err := readCSV(&out)
	want := []row{{"bytes/bytes.go", "\n"}, {"mime/sub/mime.go", ""}, {"sort/sort.go", strings.Repeat("\n", maxSource)}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("got %d rows and %v, want %d", len(rows), err, len(want))
	}
	if err := makeSource(t.TempDir(), &out); err == nil {
		t.Error("a folder without Go's source was accepted")
	}
}
