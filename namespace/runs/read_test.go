package runs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// pages reads a list from its first page to its last, and gives the ids in each.
func (w *desk) pages(tenant, call string, between func()) [][]string {
	w.t.Helper()
	var all [][]string
	cursor := ""
	for range 100 {
		var page api.Page[struct {
			ID string `json:"id"`
		}]
		w.must(request{tenant: tenant, call: call + "&cursor=" + cursor}).into(w.t, &page)
		ids := []string{}
		for _, d := range page.Data {
			ids = append(ids, d.ID)
		}
		all = append(all, ids)
		if page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
		if between != nil {
			between()
		}
	}
	w.t.Fatalf("%s has no end", call)
	return nil
}

func TestOtherTenantsRunsDoNotExist(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	mine, theirs := w.submit("a", batch(1)), w.submit("b", batch(1))
	forged := theirs.ID[:len("run_")+11] + mine.ID[len("run_")+11:]
	w.cancel("b", theirs.ID)
	w.pass(31 * 24 * time.Hour) // it expired, which is no business of others
	for _, id := range []string{
		theirs.ID, forged, "run_", "x", mine.ID + "0", strings.ToUpper(mine.ID), mine.ID[:len(mine.ID)-1], namespace.ID("run_", 1),
	} {
		for _, call := range []string{
			"GET /runs/ID", "GET /runs/ID/items", "GET /runs/ID/results", "GET /runs/ID/events", "POST /runs/ID:cancel",
			"GET /runs/ID/events?wait_ms=10000",
		} {
			_, err := w.send(request{tenant: "a", call: strings.Replace(call, "ID", id, 1)})
			if e := code(t, err, api.NotFound); e.Message != "there is no such run of this tenant" {
				t.Errorf("%s: got message %q, want that of a run that never was", call, e.Message)
			}
		}
	}
	if got := w.pages("a", "GET /runs?", nil); len(got) != 1 || !slices.Equal(got[0], []string{mine.ID}) {
		t.Errorf("got runs %v, want %s alone", got, mine.ID)
	}
}

func TestRunsAreListedInEitherOrderAndByStatus(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 100, Items: 1000, InputBytes: 1 << 20}))
	var ids, cancelled []string
	for n := range 7 {
		w.submit("b", batch(1))
		r := w.submit("a", batch(2))
		ids = append(ids, r.ID)
		if n%2 == 1 {
			w.cancel("a", r.ID)
			cancelled = append(cancelled, r.ID)
		}
	}
	if !slices.IsSorted(ids) {
		t.Errorf("the ids %v do not sort by creation", ids)
	}
	down := slices.Clone(ids)
	slices.Reverse(down)
	for call, want := range map[string][]string{
		"GET /runs?limit=3":                  ids,
		"GET /runs?limit=7&order=desc":       down,
		"GET /runs?limit=2&order=desc":       down,
		"GET /runs?limit=1&status=cancelled": cancelled,
		"GET /runs?status=running":           {},
	} {
		if got := slices.Concat(w.pages("a", call, nil)...); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", call, got, want)
		}
	}
	for _, c := range []struct {
		call  string
		code  api.Code
		field string
	}{
		{"GET /runs?status=done", api.InvalidField, "status"},
		{"GET /runs?limit=0", api.InvalidField, "limit"},
		{"GET /runs?limit=1001", api.InvalidField, "limit"},
		{"GET /runs?limit=x", api.BadRequest, "limit"},
		{"GET /runs?cursor=x", api.BadRequest, "cursor"},
		{"GET /runs?order=completion", api.InvalidField, "order"},
		{"GET /runs/" + ids[0] + "/items?status_filter=done", api.InvalidField, "status_filter"},
		{"GET /runs/" + ids[0] + "/results?order=asc", api.InvalidField, "order"},
		{"GET /runs/" + ids[0] + "/events?order=desc", api.InvalidField, "order"},
		{"GET /runs/" + ids[0] + "/events?after=-1", api.InvalidField, "after"},
		{"GET /runs/" + ids[0] + "/events?after=x", api.BadRequest, "after"},
	} {
		w.refused(request{tenant: "a", call: c.call}, c.code, c.field)
	}
}

// While a list is read, runs before and behind the cursor expire and are swept.
func TestCursorStaysValidWhileRunsVanish(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 100, Items: 1000, InputBytes: 1 << 20}))
	var ids []string
	for range 9 {
		ids = append(ids, w.submit("a", batch(1)).ID)
	}
	for _, n := range []int{1, 2, 4, 8} { // 2 is what the first cursor stands on
		w.cancel("a", ids[n])
	}
	first := true
	got := w.pages("a", "GET /runs?limit=3", func() {
		if first {
			first = false
			w.pass(31 * 24 * time.Hour)
			w.submit("a", batch(1))
		}
	})
	if want := []string{ids[0], ids[1], ids[2], ids[3], ids[5], ids[6], ids[7]}; len(slices.Concat(got...)) != 8 || !slices.Equal(slices.Concat(got...)[:7], want) {
		t.Errorf("got pages %v, want %v and a new run", got, want)
	}
}

// A page of a filtered list looks through a bounded part of it, and goes on from
// there even where it has found nothing.
func TestEmptyPageCanHaveANext(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(1))
	// The rows of 4,000 runs that have ended long ago.
	w.exec(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 4001)
		INSERT INTO runs_run (id, tenant, kind, timeout_ms, max_attempts, items, cells, bytes, created_at, shared_sha, metadata, shared)
		SELECT i, 'a', 'work', 1, 1, 1, 0, 0, 1, zeroblob(32), '{}', '{}' FROM n`)
	w.exec(`INSERT INTO runs_state (id, status, pending, waiting_since, cancelled, ended_at, expires_at)
		SELECT id, 'cancelled', 0, 0, 1, 1, ? FROM runs_run WHERE id > 1`, w.clock.Now().Add(time.Hour).UnixMilli())
	last := w.submit("a", batch(1))
	got := w.pages("a", "GET /runs?status=queued&limit=5", nil)
	if len(got) < 2 || !slices.Equal(slices.Concat(got...), []string{r.ID, last.ID}) {
		t.Errorf("got pages %v, want %s and %s in several", got, r.ID, last.ID)
	}
}

// statement is one of the test's own.
type statement struct {
	sql  string
	args []any
}

func (s statement) Apply(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Exec(s.sql, s.args...)
	return namespace.Answer{}, err
}

func (w *desk) exec(sql string, args ...any) {
	w.t.Helper()
	call := namespace.Call{Class: "runs", Caller: namespace.Caller{Principal: "test"}, Command: statement{sql, args}}
	if _, err := w.ns.Do(w.ctx(), call); err != nil {
		w.t.Fatalf("write: %v", err)
	}
}

func TestItemsAreListedInTheOrderOfTheDocument(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(10))
	w.submit("a", batch(3)) // whose rows stand behind it
	want := make([]string, 10)
	for i := range want {
		want[i] = fmt.Sprintf("item-%d", i)
	}
	if got := slices.Concat(w.pages("a", "GET /runs/"+r.ID+"/items?limit=3", nil)...); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := slices.Concat(w.pages("a", "GET /runs/"+r.ID+"/items?limit=3&status_filter=succeeded", nil)...); len(got) != 0 {
		t.Errorf("got %v, want none that succeeded", got)
	}
	slices.Reverse(want)
	if got := slices.Concat(w.pages("a", "GET /runs/"+r.ID+"/items?limit=10&order=desc", nil)...); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := slices.Concat(w.pages("a", "GET /runs/"+r.ID+"/results?", nil)...); len(got) != 0 {
		t.Errorf("got results %v of a run that has none", got)
	}
}

func TestResultsKeepTheOrderOfTheirCursor(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(5))
	w.cancel("a", r.ID)
	path := "GET /runs/" + r.ID + "/results?limit=2"
	for _, order := range []string{"", "&order=", "&order=completion", "&order=input"} {
		got := w.pages("a", path+order, nil)
		if ids := slices.Concat(got...); len(got) != 3 || len(ids) != 5 || !slices.IsSorted(ids) {
			t.Errorf("order %q: got pages %v, want all five in their order", order, got)
		}
	}
	for _, order := range []string{"completion", "input"} {
		var page api.Page[api.RunItem]
		w.must(request{tenant: "a", call: path + "&order=" + order}).into(t, &page)
		var next api.Page[api.RunItem]
		w.must(request{tenant: "a", call: path + "&cursor=" + *page.NextCursor}).into(t, &next)
		if next.Data[0].ID != "item-2" || next.Data[0].Status != api.ItemCancelled {
			t.Errorf("the page behind a cursor by %s begins with %+v, want item-2", order, next.Data[0])
		}
		other := map[string]string{"completion": "input", "input": "completion"}[order]
		w.refused(request{tenant: "a", call: path + "&order=" + other + "&cursor=" + *page.NextCursor}, api.BadRequest, "cursor")
		// What stands on the next page has a cursor of the same order.
		w.must(request{tenant: "a", call: path + "&order=" + order + "&cursor=" + *next.NextCursor})
	}
}

func TestPageOfLargeDocumentsIsCutShort(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 1000, Items: 1000, InputBytes: 1 << 30}))
	// 16 KiB of metadata in each: 4 MiB hold fewer than 300.
	body := `{"kind":"work","items":[{}],"metadata":{"m":"` + strings.Repeat("m", 16_000) + `"}}`
	for range 300 {
		w.must(post(body))
	}
	r := w.must(request{tenant: "a", call: "GET /runs?limit=1000"})
	if len(r.body) > 4<<20+1<<16 {
		t.Errorf("got a page of %d bytes", len(r.body))
	}
	got := w.pages("a", "GET /runs?limit=1000", nil)
	if len(got) != 2 || len(slices.Concat(got...)) != 300 {
		t.Errorf("got %d runs in %d pages, want 300 in 2", len(slices.Concat(got...)), len(got))
	}
}

func TestCancelEndsAQueuedRunInItsAnswer(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(2))
	got := w.must(request{tenant: "a", call: "POST /runs/" + r.ID + ":cancel", key: "k"})
	var doc api.Run
	got.into(t, &doc)
	if doc.Status != api.RunCancelled || doc.CancelRequested || doc.EndedAt == nil || doc.Progress != (api.Progress{Total: 2, Cancelled: 2}) ||
		doc.WaitingFor != nil {
		t.Errorf("got %s", got.body)
	}
	if again := w.must(request{tenant: "a", call: "POST /runs/" + r.ID + ":cancel", body: "{}"}); again.body != got.body || again.replayed {
		t.Errorf("got %+v for a second cancellation, want the same document", again)
	}
	if again := w.must(request{tenant: "a", call: "POST /runs/" + r.ID + ":cancel", key: "k"}); again.body != got.body || !again.replayed {
		t.Errorf("got %+v for the same key, want a replay", again)
	}
	want := []string{"run.queued", "run.cancel_requested", "item.cancelled", "item.cancelled", "run.cancelled"}
	if events := w.events("a", r.ID); !slices.Equal(events, want) {
		t.Errorf("got events %v, want %v", events, want)
	}
	w.refused(request{tenant: "a", call: "POST /runs/" + r.ID + ":cancel", body: `{"force":true}`}, api.BadRequest, "force")
}
