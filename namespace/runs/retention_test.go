package runs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const month = 30 * 24 * time.Hour

func TestRunExpiresAtItsInstant(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	var r api.Run
	w.must(keyed("k", itemsOf("work", `{}`))).into(t, &r)
	w.pass(time.Hour)
	ended := w.cancel("a", r.ID)
	if want := w.clock.Now().Add(month); !ended.ExpiresAt.Equal(want) {
		t.Fatalf("got expiry %v, want a month after the end, %v", ended.ExpiresAt, want)
	}
	calls := []string{
		"GET /runs/" + r.ID, "GET /runs/" + r.ID + "/items", "GET /runs/" + r.ID + "/results", "GET /runs/" + r.ID + "/events",
		"POST /runs/" + r.ID + ":cancel",
	}
	w.pass(month - time.Millisecond)
	for _, call := range calls {
		w.must(request{tenant: "a", call: call})
	}
	if again := w.must(keyed("k", itemsOf("work", `{}`))); !again.replayed {
		t.Error("the key was free before the run had expired")
	}
	w.pass(time.Millisecond)
	for _, call := range calls {
		_, err := w.send(request{tenant: "a", call: call})
		code(t, err, api.RunExpired)
	}
	if got := w.pages("a", "GET /runs?", nil); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("got runs %v, want none", got)
	}
	// It is known to be gone however long ago that was.
	w.pass(time.Second)
	w.reopen(month)
	if n := w.stored(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	for _, call := range calls {
		_, err := w.send(request{tenant: "a", call: call})
		code(t, err, api.RunExpired)
	}
	var next api.Run
	answer := w.must(keyed("k", itemsOf("work", `{}`)))
	answer.into(t, &next)
	if answer.replayed || next.ID <= r.ID {
		t.Errorf("got run %s, replayed %v, for a key that was free, want a new one behind %s", next.ID, answer.replayed, r.ID)
	}
}

// Rows that are not swept yet are as good as gone.
func TestWhatExpiredIsGoneBeforeItIsSwept(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	var r, next api.Run
	w.must(keyed("k", itemsOf("work", repeated(1000, `{}`)...))).into(t, &r)
	w.cancel("a", r.ID)
	w.pass(month)
	if w.number(`SELECT count(*) FROM runs_run`) != 1 {
		t.Fatal("a run of 1,000 items was swept at once")
	}
	_, err := w.send(request{tenant: "a", call: "GET /runs/" + r.ID})
	code(t, err, api.RunExpired)
	if got := w.pages("a", "GET /runs?", nil); len(got[0]) != 0 {
		t.Errorf("got runs %v, want none", got)
	}
	answer := w.must(keyed("k", itemsOf("work", repeated(1000, `{}`)...)))
	answer.into(t, &next)
	if answer.replayed || next.ID == r.ID {
		t.Errorf("the record of a run that expired was replayed")
	}
	// The new run's record outlasts the sweeping of the old one.
	w.sweepAll()
	if n := w.number(`SELECT count(*) FROM runs_run`); n != 1 {
		t.Errorf("there are %d runs, want the new one", n)
	}
	if again := w.must(keyed("k", itemsOf("work", repeated(1000, `{}`)...))); !again.replayed || again.body != answer.body {
		t.Error("the sweeping of the old run freed the key of the new one")
	}
}

// sweepAll lets the sweeper come to its end, and gives how many rows each of its
// steps removed.
func (w *desk) sweepAll() []int64 {
	w.t.Helper()
	var steps []int64
	for range 1000 {
		before := w.stored()
		if w.number(`SELECT count(*) FROM runs_state WHERE ended_at > 0 AND expires_at <= ?`, w.clock.Now().UnixMilli()) == 0 {
			return steps
		}
		w.pass(20 * time.Millisecond)
		steps = append(steps, before-w.stored())
	}
	w.t.Fatal("the sweeper does not come to its end")
	return nil
}

func TestSweeperGoesInSmallStepsAndGivesSpaceBack(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 100, Items: 10_000, InputBytes: 1 << 30}))
	payload := `{"p":"` + strings.Repeat("p", 2000) + `"}`
	for range 3 {
		var r api.Run
		w.must(keyed("", itemsOf("work", repeated(1000, payload)...))).into(t, &r)
		w.cancel("a", r.ID)
	}
	for range 90 { // of few rows each
		w.cancel("a", w.submit("a", batch(1)).ID)
	}
	kept := w.submit("a", batch(1))
	full, pages := w.stored(), w.number(`PRAGMA page_count`)
	w.pass(month)
	if removed := full - w.stored(); removed <= 0 || removed > 256 {
		t.Errorf("the first step removed %d rows, want 1 to 256", removed)
	}
	for n, removed := range w.sweepAll() {
		if removed <= 0 || removed > 256 {
			t.Errorf("step %d removed %d rows, want 1 to 256", n, removed)
		}
	}
	if n := w.stored(); n != 5 { // the rows of the run, its state, its item twice, its event
		t.Errorf("%d rows are left, want those of the run that goes on", n)
	}
	if got := w.run("a", kept.ID).Status; got != api.RunQueued {
		t.Errorf("got status %s of a run that goes on, want queued", got)
	}
	if left := w.number(`PRAGMA page_count`); left > pages/4 {
		t.Errorf("the file has %d pages after the sweep, and had %d", left, pages)
	}
}

func TestActiveRunNeverExpires(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(1))
	for range 3 {
		w.pass(2 * month)
		got := w.run("a", r.ID)
		if want := w.clock.Now().Add(month); !got.ExpiresAt.Equal(want) {
			t.Errorf("got expiry %v of a run that goes on, want a month from now, %v", got.ExpiresAt, want)
		}
	}
	w.reopen(2 * month)
	w.cancel("a", r.ID)
	w.pass(month - time.Millisecond)
	w.run("a", r.ID)
	w.pass(time.Millisecond)
	_, err := w.as("a").Run(w.ctx(), r.ID)
	code(t, err, api.RunExpired)
}

// The retention that counts is that of the run's end.
func TestRetentionThatIsSetLaterIsForLaterEnds(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	first, second := w.submit("a", batch(1)), w.submit("a", batch(1))
	w.cancel("a", first.ID)
	w.patch("retention_ms", "3600000")
	w.cancel("a", second.ID)
	w.pass(time.Hour)
	w.run("a", first.ID)
	_, err := w.as("a").Run(w.ctx(), second.ID)
	code(t, err, api.RunExpired)
}

// A namespace that nobody uses is woken for its sweep.
func TestSweeperWakesANamespace(t *testing.T) {
	t.Parallel()
	w := newDesk(t, func(s *namespace.Settings) { s.IdleTimeoutMs = 1000 })
	w.cancel("a", w.submit("a", batch(1)).ID)
	w.pass(month)
	w.sweepAll()
	if n := w.stored(); n != 0 {
		t.Errorf("%d rows are left, want none", n)
	}
}
