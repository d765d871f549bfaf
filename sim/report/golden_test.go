package report

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output in testdata")

// outputs are everything that is written, by the file that it is compared with.
func outputs(in Input) map[string]func(io.Writer) error {
	requests := []Request{
		{Seed: 1, Policy: "ours", Namespace: "space-0", Principal: "a,b", ID: 7, Attempt: 1, Arrived: 0, Started: 1_500_000, Ended: 2_000_000_001, Outcome: "completed"},
		{Seed: 1, Policy: "ours", Namespace: "space-0", Principal: "c", ID: 8, Attempt: 2, Arrived: 5e9, Started: -1, Ended: 5e9, Outcome: "refused", Reason: "queue_full"},
	}
	one := small()
	one.seeds = 1
	return map[string]func(io.Writer) error{
		"table.txt":     func(w io.Writer) error { return Table(w, in.Summary) },
		"table-one.txt": func(w io.Writer) error { return Table(w, input(one).Summary) },
		"summary.json":  func(w io.Writer) error { return WriteSummary(w, in.Summary) },
		"series.csv":    func(w io.Writer) error { return WriteSeries(w, in.Series) },
		"requests.csv":  func(w io.Writer) error { return WriteRequests(w, slices.Values(requests)) },
		"report.html":   func(w io.Writer) error { return WriteHTML(w, in) },
	}
}

func TestOutputIsByteForByteTheSame(t *testing.T) {
	t.Parallel()
	for name, write := range outputs(input(small())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *rewrite {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("differs from %s; run with -rewrite if it should (-want +got):\n%s", path, diff)
			}
		})
	}
}

// full is a disk that takes nothing.
type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFailureToWriteIsReported(t *testing.T) {
	t.Parallel()
	for name, write := range outputs(input(small())) {
		if err := write(full{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", name, err, errFull)
		}
	}
}
