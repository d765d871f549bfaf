package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
)

// at is n ms after the tests' beginning of time.
func at(n int) time.Time { return time.UnixMilli(int64(n)).UTC() }

// ended makes a tenant whose run has gone well: of three items the second was granted
// twice.
func ended(t *testing.T) *tenant {
	t.Helper()
	end := at(50)
	te := &tenant{name: "A", rows: []row{{"x", "one\n"}, {"y", "two words\n"}, {"z", ""}}}
	te.run = &api.Run{
		ID: "run_1", Status: api.RunCompleted, Progress: api.Progress{Total: 3, Succeeded: 3}, LastEventSequence: 7,
		CreatedAt: at(10), EndedAt: &end,
	}
	for i, r := range te.rows {
		result, err := json.Marshal(factsOf(r.text))
		if err != nil {
			t.Fatal(err)
		}
		te.items = append(te.items, api.RunItem{ID: r.id, InputIndex: i, Status: api.ItemSucceeded, AttemptCount: 1, Result: result})
	}
	te.items[1].AttemptCount = 2
	for i, e := range []struct{ kind, item string }{
		{"run.queued", ""},
		{"run.started", ""},
		{"item.succeeded", "x"},
		{"item.returned", "y"},
		{"item.succeeded", "z"},
		{"item.succeeded", "y"},
		{"run.completed", ""},
	} {
		when := at(10 + i)
		te.events = append(te.events, api.RunEvent{Sequence: int64(i + 1), Type: e.kind, ItemID: e.item, At: &when})
	}
	return te
}

func TestJudgeFindsEachFault(t *testing.T) {
	t.Parallel()
	if err := ended(t).judge(); err != nil {
		t.Fatalf("a good run is blamed: %v", err)
	}
	for want, spoil := range map[string]func(*tenant){
		"it is completed_with_errors":               func(t *tenant) { t.run.Status = api.RunCompletedWithErrors },
		"its progress is {Total:3 Pending:1":        func(t *tenant) { t.run.Progress.Pending = 1 },
		"it has no end":                             func(t *tenant) { t.run.EndedAt = nil },
		"there are 2 results of 3 items":            func(t *tenant) { t.items = t.items[:2] },
		"there are 4 results of 3 items":            func(t *tenant) { t.items = append(t.items, t.items[2]) },
		`result 0 is that of item "y"`:              func(t *tenant) { slices.Reverse(t.items[:2]) },
		"number 5":                                  func(t *tenant) { t.items[1].InputIndex = 5 },
		`item "x" is failed`:                        func(t *tenant) { t.items[0].Status = api.ItemFailed },
		`with the result null, which is wrong`:      func(t *tenant) { t.items[0].Result = []byte("null") },
		`with the result {"lines":1}`:               func(t *tenant) { t.items[0].Result = []byte(`{"lines":1}`) },
		`item "y" was granted 1 times and given`:    func(t *tenant) { t.items[1].AttemptCount = 1 },
		`item "z" was granted 2 times and given`:    func(t *tenant) { t.items[2].AttemptCount = 2 },
		`item "z" has succeeded 0 times`:            func(t *tenant) { t.events[4].ItemID = "x" },
		`item "x" has succeeded 2 times`:            func(t *tenant) { t.events[4].ItemID = "x" },
		"1 events are of other items or of other e": func(t *tenant) { t.events[1].Type, t.events[1].ItemID = "item.succeeded", "w" },
		"2 events are of other items or of other e": func(t *tenant) {
			t.events[1].Type, t.events[1].ItemID = "item.succeeded", "w"
			t.events[4].Type = "item.failed"
		},
		"event 5 stands where event 4 should": func(t *tenant) { t.events = slices.Delete(t.events, 3, 4) },
		"there are 6 events, and the last is": func(t *tenant) { t.events = t.events[:6] },
		"event 6 of 6 is item.succeeded":      func(t *tenant) { t.events = t.events[:6] },
		"event 1 of 7 is run.started":         func(t *tenant) { t.events[0].Type = "run.started" },
		"event 2 of 7 is run.queued":          func(t *tenant) { t.events[1].Type = "run.queued" },
		"event 3 has no time":                 func(t *tenant) { t.events[2].At = nil },
	} {
		te := ended(t)
		spoil(te)
		err := te.judge()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "run of A: ") {
			t.Errorf("want the fault %q, got %v", want, err)
		}
	}
}

func TestJudgeOrphansHoldsThatTheyWereGrantedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		item    string
		attempt int
		want    string
	}{
		{"y", 1, ""},
		{"y", 2, `item "y" of A, which the killed worker held, was not granted again`},
		{"x", 1, `item "x" of A, which the killed worker held, was not granted again`},
	} {
		err := judgeOrphans(map[itemOf]int{{"run_1", tt.item}: tt.attempt}, []*tenant{ended(t)})
		if got := fmt.Sprint(err); (tt.want == "") != (err == nil) || (err != nil && got != tt.want) {
			t.Errorf("%s held at attempt %d: got %v, want %q", tt.item, tt.attempt, err, tt.want)
		}
	}
	if judgeOrphans(nil, []*tenant{ended(t)}) == nil {
		t.Error("a demo in which no worker was caught is not blamed")
	}
}

func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	var faults faultList
	for i := range maxFaults + 5 {
		faults.add("fault %d", i)
	}
	got := faults.err().Error()
	if strings.Count(got, "\n") != maxFaults || !strings.HasSuffix(got, "\nand 5 more faults") {
		t.Errorf("got %q", got)
	}
}
