package namespace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// following is a query that waits for a stream to grow beyond a number.
type following struct {
	stream string
	after  int64
	wait   time.Duration
}

func (f following) Wait() time.Duration { return f.wait }
func (f following) Topics() []string    { return []string{namespace.EventTopic(f.stream)} }

func (f following) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	events, err := v.Events(f.stream, f.after, 1000)
	return namespace.Answer{Body: events, Await: len(events) == 0}, err
}

// watch reads a stream, if need be after a wait.
func (w *world) watch(stream string, wait time.Duration, after int64) []namespace.Event {
	w.t.Helper()
	a, err := w.Read(w.t.Context(), "depot", me, following{stream, after, wait})
	if err != nil {
		w.t.Errorf("read events: %v", err)
		return nil
	}
	events, err := namespace.Document[[]namespace.Event](a)
	if err != nil {
		w.t.Error(err)
	}
	return events
}

func appendTo(stream string, body any) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		n, err := t.Append(stream, "noted", body)
		return namespace.Answer{Body: n}, err
	}
}

func TestWatchingReadWaitsForTheStreamToGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		begin := time.Now()
		got := make(chan []namespace.Event, 1)
		go func() { got <- w.watch("s", 30*time.Second, 0) }()
		time.Sleep(2 * time.Second)
		w.must(call(appendTo("other", 1)))
		w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) { // rolled back: nobody may see it
			_, err := appendTo("s", "spoilt")(t)
			return namespace.Answer{}, errors.Join(err, api.Errorf(api.Conflict, "no"))
		})), api.Conflict)
		time.Sleep(2 * time.Second)
		w.must(call(appendTo("s", "first")))
		want := []namespace.Event{{Sequence: 1, Type: "noted", At: begin.Add(4 * time.Second).UTC(), Body: json.RawMessage(`"first"`)}}
		if diff := cmp.Diff(<-got, want); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("it took %v, want 4s", took)
		}
		if events := w.watch("s", 0, 0); len(events) != 1 {
			t.Errorf("a read that does not wait got %d events, want 1", len(events))
		}
		if events := w.watch("s", 3*time.Second, 1); len(events) != 0 || time.Since(begin) != 7*time.Second {
			t.Errorf("got %v after %v; want nothing at the end of the wait", events, time.Since(begin))
		}
	})
}

func TestWatchingReadEndsWithItsCaller(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		why := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := w.Read(ctx, "depot", me, following{"s", 0, time.Minute})
			done <- err
		}()
		synctest.Wait()
		cancel(why)
		if err := <-done; !errors.Is(err, why) {
			t.Errorf("got error %v, want the cause %v", err, why)
		}
		if _, err := w.Do(ctx, call(put("k", 1))); !errors.Is(err, why) {
			t.Errorf("got error %v of a command, want the cause %v", err, why)
		}
	})
}

func TestEventsHaveNoGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	for p := range 6 {
		wg.Go(func() {
			for n := range 20 {
				spoil := (p+n)%3 == 0
				_, err := w.Do(t.Context(), call(act(func(t *namespace.Turn) (namespace.Answer, error) {
					a, err := appendTo("s", fmt.Sprintf("%d/%d", p, n))(t)
					if spoil {
						err = errors.Join(err, api.Errorf(api.Conflict, "no"))
					}
					return a, err
				})))
				if (err != nil) != spoil {
					t.Errorf("got error %v", err)
				}
			}
		})
	}
	// A reader that goes on from the last number it saw misses none.
	var seen []int64
	for len(seen) < 80 {
		var after int64
		if len(seen) > 0 {
			after = seen[len(seen)-1]
		}
		for _, e := range w.watch("s", 10*time.Second, after) {
			seen = append(seen, e.Sequence)
		}
	}
	wg.Wait()
	for n, s := range seen {
		if s != int64(n+1) {
			t.Fatalf("the event at place %d has number %d", n+1, s)
		}
	}
}

func TestDroppedStreamBeginsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.must(call(appendTo("s", 1)))
	}
	w.must(call(appendTo("s2", 1)))
	w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, t.DropEvents("s") })))
	if got := len(w.watch("s", 0, 0)) + 10*len(w.watch("s2", 0, 0)); got != 10 {
		t.Errorf("got %d, want no event in the one stream and one in the other", got)
	}
	if got := w.must(call(appendTo("s", 1))).Answer.Body; got != int64(1) {
		t.Errorf("got number %v, want 1", got)
	}
}

func TestStreamsOfTwoClassesAreTheirOwn(t *testing.T) {
	t.Parallel()
	other := depot(nil)
	other.Name, other.Migrations = "other", nil
	w := newWorld(t, func(o *namespace.Options) { o.Classes = append(o.Classes, other) })
	w.must(call(appendTo("s", 1)))
	c := call(appendTo("s", 2))
	c.Class = "other"
	if got := w.must(c).Answer.Body; got != int64(1) {
		t.Errorf("got number %v in the other class's stream, want 1", got)
	}
}

func TestReadSeesEveryAcknowledgedWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(func(s *namespace.Settings) { s.Durability = "relaxed" }))
	many(4, func() {
		for range 25 {
			n, err := w.Do(t.Context(), call(put("k", 1)))
			if err != nil {
				t.Errorf("put: %v", err)
				return
			}
			if all := w.items(); all[len(all)-1].ID < n.Answer.Body.(int64) {
				t.Errorf("item %v was acknowledged, and the last seen is %d", n.Answer.Body, all[len(all)-1].ID)
			}
		}
	})
}
