package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDemo runs the demo small, as a process of its own with the real binary.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, target := range []string{"../../cmd/skerry", "."} {
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", dir+"/", target).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", target, err, out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "batch"), "-skerry", filepath.Join(dir, "skerry"), "-input", "testdata/source.csv", "-repeat", "1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"killed with SIGKILL", "A (large)  106", "B (small)  10", "order of the quanta: A", "all 116 results are right"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
}

func TestInputIsReadFromCSVAndFromLines(t *testing.T) {
	t.Parallel()
	rows, err := readInput("testdata/source.csv")
	if err != nil || len(rows) != 106 {
		t.Fatalf("got %d rows and %v", len(rows), err)
	}
	var lines bytes.Buffer
	for _, r := range rows {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "source.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	same, err := readInput(path)
	if err != nil || len(same) != len(rows) || same[50] != rows[50] {
		t.Errorf("as lines: got %d rows and %v", len(same), err)
	}
}

func TestBadInputIsNamed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"the header":           "name,text\n",
		"at least 10":          "id,text\na,b\n",
		"row 2 has no id":      "id,text\na,b\n,c\n",
		"row 2 has the id":     "id,text\na,b\na,c\n",
		"wrong number of":      "id,text\na\n",
		"there is no header":   "",
		"extraneous or missin": "id,text\n\"a\"b,c\n",
	} {
		path := filepath.Join(t.TempDir(), "in.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readInput(path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: got %v, want it to say %q", text, err, name)
		}
	}
}

func TestFactsOfAnItem(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := work(strings.NewReader(`{"payload":{"text":"a b\nc\n"}}`), &out); err != nil {
		t.Fatal(err)
	}
	const want = `{"lines":2,"tokens":3,"sha256":"721a7916ccfa56849995f47004497d7d8cefa18b0033b017026036cbe016e171"}`
	if got := strings.TrimSpace(out.String()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOrderCountsACommitOnce(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	ends := []end{{at(1), "A"}, {at(1), "A"}, {at(1), "B"}, {at(2), "A"}, {at(3), "A"}}
	if got := order(ends); got != "A B A A" {
		t.Errorf("got %q", got)
	}
	if got := share(ends, "B"); got != "1 of 5 (20 %)" {
		t.Errorf("got %q", got)
	}
}
