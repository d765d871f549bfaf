package runs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func keyed(key, body string) request {
	q := post(body)
	q.key = key
	return q
}

func TestAdmittedRunIsToldAndStoredAsItWasSent(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	body := `{"schema_version":"run/1","zeta":{"b":1,"a":[1.50]},"kind":"work","items":[{"z":"<&>","id":"first","a":null},{"n":1e3}],"alpha":"x","metadata":{"k":"v"}}`
	answer := w.must(post(body))
	if answer.status != 202 {
		t.Errorf("got status %d, want 202", answer.status)
	}
	var run api.Run
	answer.into(t, &run)
	if run.Object != "run" || run.Status != api.RunQueued || run.Progress != (api.Progress{Total: 2, Pending: 2}) ||
		run.LastEventSequence != 1 || string(run.Metadata) != `{"k":"v"}` || run.Kind != "work" ||
		!run.CreatedAt.Equal(w.clock.Now()) || !run.ExpiresAt.Equal(run.CreatedAt.Add(30*24*time.Hour)) {
		t.Errorf("got %s", answer.body)
	}
	if want := "/base/runs/" + run.ID + ":cancel"; run.Links["cancel"] != want {
		t.Errorf("got link %q, want %q", run.Links["cancel"], want)
	}
	for sql, want := range map[string]string{
		`SELECT shared FROM runs_run`:                    `{"alpha":"x","zeta":{"b":1,"a":[1.50]}}`,
		`SELECT payload FROM runs_item ORDER BY id`:      `{"a":null,"z":"<&>"}`,
		`SELECT payload FROM runs_item ORDER BY id DESC`: `{"n":1e3}`,
		`SELECT name FROM runs_work ORDER BY id DESC`:    `item-1`,
	} {
		if got := w.text(sql); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
	if got := w.used("a").InputBytes; got != int64(len(body)) {
		t.Errorf("got %d input bytes, want those of the body as it was sent, %d", got, len(body))
	}
}

// text reads one text from the file.
func (w *desk) text(sql string) string {
	w.t.Helper()
	var s string
	_, err := w.ns.Read(w.ctx(), "runs", namespace.Caller{Principal: "test"}, look(func(v *namespace.View) error {
		_, err := v.QueryRow(sql, nil, &s)
		return err
	}))
	if err != nil {
		w.t.Fatalf("read text: %v", err)
	}
	return s
}

func TestReplayComesBeforeEveryCheck(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 1, Items: 1, ResultCells: 1, InputBytes: 1000}))
	body := itemsOf("work", `{}`)
	first := w.must(keyed("k", body))
	again := w.must(keyed("k", body))
	if !again.replayed || again.body != first.body || again.status != first.status {
		t.Errorf("got %+v, want %+v replayed", again, first)
	}
	w.patch("kinds", `{"work":null}`)
	w.patch("kinds", `{"work":{"pool":"default"}}`)
	w.patch("budgets", `{"runs":0,"items":0}`)
	w.reopen(time.Hour)
	var run api.Run
	first.into(t, &run)
	if again := w.must(keyed("k", body)); !again.replayed || again.body != first.body {
		t.Errorf("got %+v after a restart under other settings, want %+v replayed", again, first)
	}
	w.cancel("a", run.ID)
	if again := w.must(keyed("k", body)); !again.replayed || again.body != first.body {
		t.Errorf("got %+v after the run has ended, want %+v replayed", again, first)
	}
	for _, other := range []string{`{`, itemsOf("work", `{"id":5}`), itemsOf("none"), itemsOf("work", `{}`, `{}`)} {
		_, err := w.send(keyed("k", other))
		code(t, err, api.IdempotencyConflict)
	}
	if n := w.number(`SELECT count(*) FROM runs_run`); n != 1 {
		t.Errorf("there are %d runs, want 1", n)
	}
	if n := w.number(`SELECT count(*) FROM ns_idempotency`); n != 0 {
		t.Errorf("there are %d records beside the run's own, want none", n)
	}
}

func TestRefusalLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 1, Items: 10, ResultCells: 1, InputBytes: 1000}))
	for _, body := range []string{`{`, itemsOf("none", `{}`), itemsOf("work")} {
		if _, err := w.send(keyed("k", body)); err == nil {
			t.Fatalf("%s was admitted", body)
		}
	}
	held := w.submit("a", batch(1))
	_, err := w.send(keyed("k", itemsOf("work", `{}`)))
	code(t, err, api.TenantRunQuotaExceeded)
	w.cancel("a", held.ID)
	if r := w.must(keyed("k", itemsOf("work", `{}`))); r.replayed {
		t.Error("a refusal was replayed")
	}
}

func TestKeyBelongsToItsPrincipal(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	body := itemsOf("work", `{}`)
	var mine, theirs api.Run
	w.must(keyed("k", body)).into(t, &mine)
	other := keyed("k", body)
	other.tenant = "b"
	answer := w.must(other)
	answer.into(t, &theirs)
	if answer.replayed || mine.ID == theirs.ID {
		t.Errorf("another principal's key gave the run %s again", mine.ID)
	}
}

// The documents that a published client posts, as it posts them.
func TestDocumentsOfThePublishedClient(t *testing.T) {
	t.Parallel()
	w := newDesk(t, func(s *namespace.Settings) {
		s.Kinds["selection"] = api.Kind{Pool: api.KindPool{Durable: true}, Single: true, Cost: api.Measure{Field: "/selection/limit", Value: 25}}
		s.Kinds["selection_batch"] = api.Kind{
			Pool: api.KindPool{Durable: true}, ResultCells: api.Measure{Field: "/selection_template/portfolio/limit", Value: 1},
		}
	})
	one := `{"schema_version":"run/1","kind":"selection","selection":{"references":["CCO"],"scorer":"x"},"items":[],"failure_policy":"continue","metadata":{}}`
	var run api.Run
	w.must(post(one)).into(t, &run)
	if items := w.items("a", run.ID); len(items) != 1 || items[0].ID != "item-0" || items[0].InputIndex != 0 {
		t.Errorf("got items %+v, want item-0 alone", items)
	}
	if got := w.text(`SELECT payload FROM runs_item`); got != `{}` {
		t.Errorf("got payload %s, want {}", got)
	}
	if got := w.text(`SELECT shared FROM runs_run`); got != `{"failure_policy":"continue","selection":{"references":["CCO"],"scorer":"x"}}` {
		t.Errorf("got shared document %s", got)
	}
	if got := w.number(`SELECT cost FROM runs_work`); got != 25 {
		t.Errorf("got cost %d, want 25", got)
	}
	many := `{"schema_version":"run/1","kind":"selection_batch","selection_template":{"portfolio":{"limit":30}},"items":[{"id":"q-1","references":["CCO"]},{"id":"q-2","references":["CCN"]}],"failure_policy":"continue","metadata":{}}`
	var estimate api.RunEstimate
	w.must(request{tenant: "a", call: "POST /runs:estimate", body: many}).into(t, &estimate)
	if !estimate.Admissible || estimate.Work.ResultCells != 60 || estimate.Work.Items != 2 || estimate.Work.Quanta != 1 {
		t.Errorf("got estimate %+v, want 60 cells of 2 items in one quantum", estimate)
	}
	answer := w.must(post(many))
	answer.into(t, &run)
	if cells := w.used("a").ResultCells; cells != 60 {
		t.Errorf("got %d cells reserved, want 60", cells)
	}
	for _, call := range []string{
		"GET /runs/ID", "GET /runs/ID/items?cursor=&status_filter=", "GET /runs/ID/results?cursor=&order=", "GET /runs/ID/events?after=&cursor=&limit=",
		"GET /runs?cursor=&status=", "POST /runs/ID:cancel",
	} {
		r := w.must(request{tenant: "a", call: strings.Replace(call, "ID", run.ID, 1)})
		if !json.Valid([]byte(r.body)) {
			t.Errorf("%s: got %s", call, r.body)
		}
	}
	page := w.must(request{tenant: "a", call: fmt.Sprintf("GET /runs/%s/items", run.ID)})
	if !strings.Contains(page.body, `"result":null,"error":null`) {
		t.Errorf("got %s, want null results and errors", page.body)
	}
	if n := strings.Count(answer.body, `"links":{`); n != 1 || strings.Contains(answer.body, `"links":{"cancel":{`) {
		t.Errorf("got %s, want links as strings", answer.body)
	}
}

func TestServiceSaysWhatTheRoutesSay(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured)
	spec := batch(3)
	first, err := w.as("a").Submit(w.ctx(), spec, "k")
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.as("a").Submit(w.ctx(), spec, "k")
	if err != nil || again.ID != first.ID {
		t.Errorf("got %v, %v for the same key, want run %s", again.ID, err, first.ID)
	}
	body, err := spec.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got := w.used("a").InputBytes; got != int64(len(body)) {
		t.Errorf("got %d input bytes, want %d", got, len(body))
	}
	spec.Items = append(spec.Items, api.RunItemSpec{})
	_, err = w.as("a").Submit(w.ctx(), spec, "k")
	code(t, err, api.IdempotencyConflict)
	_, err = w.as("a").Submit(w.ctx(), api.RunSpec{Kind: "none"}, "")
	code(t, err, api.UnknownKind)
	if want := "/ns/test/api/v2/runs/" + first.ID; first.Links["self"] != want {
		t.Errorf("got link %q, want %q", first.Links["self"], want)
	}
	large := api.RunSpec{Kind: "work", Items: []api.RunItemSpec{{}}, Shared: map[string]json.RawMessage{
		"s": json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`),
	}}
	_, err = w.as("a").Submit(w.ctx(), large, "")
	code(t, err, api.BodyTooLarge)
}
