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

func (w *desk) eventPage(tenant, call string) api.Page[api.RunEvent] {
	w.t.Helper()
	var page api.Page[api.RunEvent]
	w.must(request{tenant: tenant, call: call}).into(w.t, &page)
	return page
}

func TestEventsAreReadFromAnyNumberOn(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(7))
	w.submit("a", batch(2))
	w.cancel("a", r.ID) // queued, cancel_requested, seven items, cancelled
	path := "GET /runs/" + r.ID + "/events?"
	for _, first := range []int64{0, 3, 9, 10, 99} {
		page := w.eventPage("a", path+fmt.Sprintf("limit=3&after=%d", first))
		next := first
		for {
			for _, e := range page.Data {
				if next++; e.Sequence != next || e.RunID != r.ID || e.At == nil || e.Progress == nil {
					t.Fatalf("got event %+v, want number %d of run %s", e, next, r.ID)
				}
			}
			if page.NextCursor == nil {
				break
			}
			// after says nothing where the cursor is further.
			page = w.eventPage("a", path+fmt.Sprintf("limit=3&after=%d&cursor=%s", first, *page.NextCursor))
		}
		if want := max(first, 10); next != want {
			t.Errorf("events after %d end with %d, want %d", first, next, want)
		}
	}
	if page := w.eventPage("a", path+"limit=1&after=2"); page.Data[0].ItemID != "item-0" || page.Data[0].Status != "cancelled" ||
		page.Data[0].Type != "item.cancelled" || page.Data[0].Progress.Cancelled != 1 {
		t.Errorf("got event %+v, want that of the end of item-0", page.Data[0])
	}
	if got := w.run("a", r.ID).LastEventSequence; got != 10 {
		t.Errorf("got last event %d, want 10", got)
	}
}

func TestEmptyPageOfEventsWaitsForOne(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(1))
	type outcome struct {
		page api.Page[*api.RunEvent]
		err  error
	}
	waiting := make(chan outcome, 1)
	go func() {
		page, err := w.as("a").Events(w.ctx(), r.ID, 1, 30*time.Second, 10)
		waiting <- outcome{page, err}
	}()
	w.cancel("a", r.ID)
	got := <-waiting
	if got.err != nil || len(got.page.Data) == 0 || got.page.Data[0].Sequence != 2 {
		t.Errorf("got %+v, want the events from 2 on", got)
	}
	// After its end a run has no more to tell, so nobody waits.
	page, err := w.as("a").Events(w.ctx(), r.ID, 4, 30*time.Second, 10)
	if err != nil || len(page.Data) != 0 {
		t.Errorf("got %v, %v behind the last event, want none", page.Data, err)
	}
}

// told reads a stream to its end or until it has no more to tell now.
func (w *desk) told(tenant string, q namespace.Query) (frames []namespace.Frame, end bool) {
	w.t.Helper()
	for {
		more, end, err := w.follow(tenant, q)
		if err != nil {
			w.t.Fatalf("follow: %v", err)
		}
		if len(more) > 100 {
			w.t.Errorf("got %d events at once, want at most 100", len(more))
		}
		frames = append(frames, more...)
		if end || len(more) == 0 {
			return frames, end
		}
	}
}

func (w *desk) stream(q request) (namespace.Query, error) {
	w.t.Helper()
	route, r := w.route(q)
	return route.Query(r)
}

func TestStreamTellsEveryEventAndEndsWithTheRun(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(250))
	q, err := w.stream(request{tenant: "a", call: "GET /runs/" + r.ID + "/events"})
	if err != nil {
		t.Fatal(err)
	}
	frames, end := w.told("a", q)
	if len(frames) != 1 || end {
		t.Fatalf("got %d events, end %v, of a run that was queued", len(frames), end)
	}
	if topics := q.(namespace.Streaming).Topics(); !slices.Equal(topics, []string{namespace.EventTopic("1")}) {
		t.Errorf("got topics %v, want that of the run's log", topics)
	}
	w.cancel("a", r.ID)
	more, end := w.told("a", q)
	frames = append(frames, more...)
	if len(frames) != 253 || !end {
		t.Fatalf("got %d events, end %v, want 253 and the end", len(frames), end)
	}
	for n, f := range frames {
		e := f.Data.(*api.RunEvent)
		if f.ID != fmt.Sprint(n+1) || e.Sequence != int64(n)+1 || f.Event != e.Type {
			t.Fatalf("frame %d is %+v", n, f)
		}
	}
	if last := frames[252].Event; last != "run.cancelled" {
		t.Errorf("the stream ended with %s", last)
	}
}

func TestStreamIsTakenUpBehindTheLastEvent(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(4))
	w.cancel("a", r.ID) // 7 events
	for _, c := range []struct {
		query, last string
		first       int // the first that is told, 0 for none
	}{
		{"", "", 1}, {"", "0", 1}, {"", "3", 4}, {"?after=5", "3", 6}, {"?after=2", "3", 4}, {"", "6", 7}, {"", "7", 0}, {"?after=99", "", 0},
	} {
		q, err := w.stream(request{tenant: "a", call: "GET /runs/" + r.ID + "/events" + c.query, last: c.last})
		if err != nil {
			t.Fatal(err)
		}
		frames, end := w.told("a", q)
		if !end {
			t.Errorf("%+v: the stream of a run that has ended goes on", c)
		}
		want := 0
		if c.first > 0 {
			want = 8 - c.first
		}
		if len(frames) != want || want > 0 && frames[0].ID != fmt.Sprint(c.first) {
			t.Errorf("%+v: got %d events, want %d", c, len(frames), want)
		}
	}
	for _, last := range []string{"x", "-1", "1.5", strings.Repeat("9", 30)} {
		_, err := w.stream(request{tenant: "a", call: "GET /runs/" + r.ID + "/events", last: last})
		code(t, err, api.BadRequest)
	}
}

func TestStreamIsTheTenantsOwn(t *testing.T) {
	t.Parallel()
	w := newDesk(t)
	r := w.submit("a", batch(1))
	q, err := w.stream(request{tenant: "b", call: "GET /runs/" + r.ID + "/events"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = w.follow("b", q); !api.IsCode(err, api.NotFound) {
		t.Errorf("got %v, want not_found", err)
	}
}
