package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestReportsAddUpFilesAndMethods(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(1_700_000_000_000)
	l := newLedger(map[string]api.Verb{
		"v1": {ID: "v1", CreatedAt: began, AttemptCount: 2},
		"v2": {ID: "v2", CreatedAt: began.Add(time.Second), AttemptCount: 1},
	})
	l.receipts["v1"] = api.Receipt{SubmittedAt: began.Add(3 * time.Second)}
	l.receipts["v2"] = api.Receipt{SubmittedAt: began.Add(1500 * time.Millisecond)}
	a, b, c := method{"gzip", 9}, method{"xz", 6}, method{"zstd", 19}
	s := &space{name: "alpha", files: make([]*source, 2), waits: []time.Duration{5e6, 1e6, 3e6, 9e6}}
	r := newReport(s, l)
	r.takeovers = 1
	r.add(&source{size: 4000, methods: []method{a, b, c}}, outcome{sizes: []int64{1000, 900, 1100}, winner: 1})
	r.add(&source{size: 0, methods: []method{a, b, c}}, outcome{sizes: []int64{20, 32, 9}, winner: 2})
	var out strings.Builder
	if err := printReports(&out, []*report{r, newReport(&space{name: "empty"}, newLedger(nil))}, 4*time.Second); err != nil {
		t.Fatal(err)
	}
	want := `
PROGRAM   ATTEMPTS  WINS  BYTES IN  BYTES OUT  RATIO
xz -6            2     1     4,000        932  0.233
zstd -19         2     1     4,000      1,109  0.277
gzip -9          2     0     4,000      1,020  0.255

NAMESPACE  FILES  VERBS  RECEIPTS  BYTES IN  BYTES KEPT  TAKEOVERS  CLAIMS/S  DURATION  WAIT p50/max      DONE AFTER p50/max
alpha          2      2         2     4,000         909          1       1.0     3.0 s   3 ms / 9 ms  500 ms / 3.0 s
empty          0      0         0         0           0          0         -      0 ms             -               -
`
	got, _, _ := strings.Cut(out.String(), "WAIT is for")
	if diff := cmp.Diff(strings.Fields(got), strings.Fields(want)); diff != "" {
		t.Errorf("tables (-got +want):\n%s\n%s", diff, got)
	}
	lines := strings.Split(got, "\n")
	if len(lines[1]) != len(lines[2]) || len(lines[6]) != len(lines[7]) {
		t.Errorf("columns are not aligned:\n%s", got)
	}
	for _, want := range []string{"\nReceipts: 2, ", " took over: 1.\n", " on disk: 2. ", " 4.0 s in all.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestGroupedSetsThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 999_999: "999,999", 1_234_567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestProgressWithoutATerminalIsALinePerTenth(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, "receipts", 25)
	for range 5 {
		p.add(1)
	}
	p.add(19)
	p.say("killed %s", "one")
	p.add(1)
	if diff := cmp.Diff(out.String(), "receipts: 3 of 25\nreceipts: 5 of 25\nreceipts: 24 of 25\nkilled one\nreceipts: 25 of 25\n"); diff != "" {
		t.Errorf("progress (-got +want):\n%s", diff)
	}
}
