package runs_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/api"
)

// documents draws a document of a run, right or wrong.
func documents(t *rapid.T) string {
	kind := rapid.SampledFrom([]string{"work", "work", "cells", "cells", "cells", "lone", "lone", "none"}).Draw(t, "kind")
	number := rapid.SampledFrom([]string{"0", "1", "1", "5", "5", "40", "40", "160", "60000", "60000", `"x"`})
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		var members []string
		if rapid.Bool().Draw(t, "named") {
			members = append(members, `"id":"`+rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "item-0"}).Draw(t, "id")+`"`)
		}
		if rapid.Bool().Draw(t, "measured") {
			members = append(members, `"cells":`+number.Draw(t, "cells"))
		}
		return "{" + strings.Join(members, ",") + "}"
	}), 0, 4).Draw(t, "items")
	if rapid.IntRange(0, 30).Draw(t, "many") == 0 {
		items = repeated(1001, `{}`)
	}
	members := []string{`"kind":"` + kind + `"`, `"items":[` + strings.Join(items, ",") + `]`}
	if rapid.Bool().Draw(t, "shared cells") {
		members = append(members, `"cells":`+number.Draw(t, "cells"))
	}
	if rapid.IntRange(0, 9).Draw(t, "priority") == 0 {
		members = append(members, `"priority":1`)
	}
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		members = append(members, `"x":"`+strings.Repeat("x", 300)+`"`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestEstimateSaysWhatTheSubmissionThenDoes(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured, within(api.Budgets{Runs: 3, Items: 8, ResultCells: 150, InputBytes: 800}))
	var running []string
	codes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		if len(running) > 0 && rapid.IntRange(0, 3).Draw(t, "cancel") == 0 {
			w.cancel("a", running[0])
			running = running[1:]
		}
		body := documents(t)
		before := w.stored()
		answer, refused := w.send(request{tenant: "a", call: "POST /runs:estimate", body: body})
		if w.stored() != before {
			t.Fatalf("the estimate of %s left something", body)
		}
		var estimate api.RunEstimate
		if refused == nil {
			answer.into(w.t, &estimate)
		}
		run, err := w.send(post(body))
		switch {
		case err == nil:
			var doc api.Run
			run.into(w.t, &doc)
			running = append(running, doc.ID)
			if !estimate.Admissible || estimate.Reason != "" || estimate.Work.Items != doc.Progress.Total {
				t.Fatalf("%s was admitted with %d items, and estimated as %+v, %v", body, doc.Progress.Total, estimate, refused)
			}
			number := w.number(`SELECT max(id) FROM runs_run`)
			if cells := w.number(`SELECT cells FROM runs_run WHERE id = ?`, number); cells != estimate.Work.ResultCells {
				t.Fatalf("%s was admitted with %d cells, and estimated as %+v", body, cells, estimate)
			}
			if cost := w.number(`SELECT sum(cost) FROM runs_work WHERE id >> 10 = ?`, number); cost != estimate.Work.Cost {
				t.Fatalf("%s was admitted with a cost of %d, and estimated as %+v", body, cost, estimate)
			}
		case refused != nil:
			if want := api.AsError(refused); api.AsError(err).Code != want.Code || api.AsError(err).Field != want.Field {
				t.Fatalf("%s: got %v, and the estimate %v", body, err, refused)
			}
			if c := api.AsError(err).Code; c != api.InvalidField && c != api.UnknownKind && c != api.BadRequest {
				t.Fatalf("%s: the estimate was refused with %s, want it to say so", body, c)
			}
		default:
			e := api.AsError(err)
			budget := fmt.Sprint(e.Details["budget"])
			if e.Details["budget"] == nil {
				budget = ""
			}
			if estimate.Admissible || estimate.Reason != string(e.Code) || estimate.Budget != budget {
				t.Fatalf("%s: got %v, and the estimate %+v", body, err, estimate)
			}
			codes[estimate.Reason]++
		}
	})
	t.Logf("refusals: %v", codes)
}

func TestEstimateCountsQuantaAsTheyAreCut(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured)
	estimate := func(items ...string) int {
		var e api.RunEstimate
		w.must(request{tenant: "a", call: "POST /runs:estimate", body: itemsOf("cells", items...)}).into(t, &e)
		return e.Work.Quanta
	}
	cost := func(n int) string { return fmt.Sprintf(`{"effort":{"units":%d}}`, n) }
	if got := estimate(repeated(9, cost(1))...); got != 3 {
		t.Errorf("got %d quanta of at most four items, want 3", got)
	}
	w.patch("quantum_items", "3")
	w.patch("quantum_cost", "10")
	// A quantum ends once its cost has reached the bound: 9+1, 100, 4+4+1, 10, 0.
	if got := estimate(cost(9), cost(1), cost(100), cost(4), cost(4), cost(1), cost(10), cost(0)); got != 5 {
		t.Errorf("got %d quanta, want 5", got)
	}
}
