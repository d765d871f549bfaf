package namespace_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// finishing is a command that carries another one, as a submission carries the
// next claim.
type finishing struct {
	act
	next func() namespace.Admitted
	join func(own, next namespace.Answer, err *api.Error) namespace.Answer
}

func (f finishing) Next() namespace.Admitted { return f.next() }

func (f finishing) Join(own, next namespace.Answer, err *api.Error) namespace.Answer {
	if f.join != nil {
		return f.join(own, next, err)
	}
	own.Body = fmt.Sprintf("%v then %v %s", own.Body, next.Body, codeOf(err))
	return own
}

func codeOf(e *api.Error) api.Code {
	if e == nil {
		return "ok"
	}
	return e.Code
}

func then(first act, next namespace.Admitted) finishing {
	return finishing{act: first, next: func() namespace.Admitted { return next }}
}

func TestCarriedCommandIsJoined(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for _, tt := range []struct {
			name string
			c    namespace.Command
			want string
		}{
			{"at once", then(put("k", 1), take("k", 0)), "1 then 1 ok"},
			{"nothing", then(put("else", 1), take("k", 0)), "2 then -1 ok"},
			{"after a wait", then(put("else", 1), take("k", 5*time.Second)), "3 then -1 ok"},
			{"refused", then(put("else", 1), admitted{0, func(*namespace.Turn) (namespace.Answer, error) {
				return namespace.Answer{}, api.Errorf(api.Conflict, "no")
			}}), "4 then <nil> conflict"},
		} {
			out := w.must(call(tt.c))
			if out.Answer.Body != tt.want || out.Answer.Status != 201 || out.Admission == nil {
				t.Errorf("%s: got %v, status %d, admission %v; want %s, 201, and an admission",
					tt.name, out.Answer.Body, out.Answer.Status, out.Admission, tt.want)
			}
		}
		if out := w.must(call(finishing{act: put("else", 1), next: func() namespace.Admitted { return nil }})); out.Answer.Body != int64(5) {
			t.Errorf("without a next command: got %v, want 5", out.Answer.Body)
		}
	})
}

func TestRefusedNextLeavesTheFirstDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.patch(`{"mode": "paused"}`)
		out := w.must(keyed("key", "body", then(put("k", 1), take("k", time.Second))))
		if out.Answer.Body != "1 then <nil> rate_limited" || out.Answer.Status != 201 {
			t.Errorf("got %v, status %d", out.Answer.Body, out.Answer.Status)
		}
		if got := len(w.items()); got != 1 {
			t.Errorf("got %d items, want 1", got)
		}
	})
}

// With an idempotency key the first answer is stored as it is by itself. That
// must not be what the caller is sent now.
func TestJoinedAnswerIsSentAlsoUnderAKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		c := keyed("key", "body", then(put("k", 1), take("k", 0)))
		out := w.must(c)
		if encoded, stored := out.Answer.Encoded(); stored {
			t.Errorf("the joined answer is sent as %s, want as %v", encoded, out.Answer.Body)
		}
		again := w.must(c)
		if encoded, _ := again.Answer.Encoded(); !again.Replayed || string(encoded) != "1" {
			t.Errorf("replay: got %s, replayed %v, want the first answer alone: 1", encoded, again.Replayed)
		}
	})
}

func TestReplayedAnswerCarriesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(keyed("key", "body", then(put("k", 2), take("k", 0))))
		out := w.must(keyed("key", "body", then(put("k", 2), take("k", 0))))
		if document, _ := out.Answer.Encoded(); string(document) != "2" || !out.Replayed {
			t.Errorf("got %s, replayed %v; want the first command's answer alone", document, out.Replayed)
		}
		if diff := cmp.Diff(w.holders(), []string{"me", ""}); diff != "" {
			t.Errorf("holders (-got +want):\n%s", diff)
		}
	})
}

func TestCallerWhoGoesAwayCancelsOnlyTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) {
			s.ClaimInitialConcurrency, s.ClaimMaxConcurrency = 1, 1
		}))
		// While the first is at the writer.
		b := w.hold()
		p := w.start(call(then(put("k", 1), take("k", 0))))
		synctest.Wait()
		p.cancel()
		synctest.Wait()
		b.lift()
		// While the next is parked.
		p = w.start(call(then(put("k", 1), take("none", time.Minute))))
		synctest.Wait()
		if got := w.status().Parked; got != 1 {
			t.Fatalf("got %d parked, want 1", got)
		}
		p.cancel()
		synctest.Wait()
		// While the next waits in admission: the one slot is held at the writer by
		// a command that goes into the commit after that of the first.
		b = w.hold()
		slot := make(chan struct{})
		w.start(call(admitted{0, func(*namespace.Turn) (namespace.Answer, error) {
			<-slot
			return namespace.Answer{}, nil
		}}))
		p = w.start(call(then(put("k", 1), take("k", time.Minute))))
		w.crowd()
		synctest.Wait()
		b.lift()
		synctest.Wait()
		p.cancel()
		synctest.Wait()
		close(slot)
		synctest.Wait()
		if s := w.status(); s.Parked != 0 || s.InFlight != 0 || s.Pending != 0 || s.Admitted != 2 {
			t.Errorf("got %d parked, %d in flight, %d pending, %d admitted; want none but 2 admitted", s.Parked, s.InFlight, s.Pending, s.Admitted)
		}
		if diff := cmp.Diff(w.holders(), []string{"", "", ""}); diff != "" {
			t.Errorf("holders (-got +want):\n%s", diff)
		}
	})
}

func TestNextThatEndsWithTheNamespaceLeavesTheFirstAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var calls []*pending
		for n := range 8 { // whichever of the two calls comes first when all are answered
			calls = append(calls, w.start(callAs(fmt.Sprint(n), then(put("else", 1), take("k", time.Minute)))))
		}
		synctest.Wait()
		if got := w.status().Parked; got != len(calls) {
			t.Fatalf("got %d parked, want %d", got, len(calls))
		}
		w.fails(call(act(func(*namespace.Turn) (namespace.Answer, error) { panic("boom") })), api.Internal)
		for n, p := range calls {
			out, err := p.outcome()
			if err != nil || out.Answer.Status != 201 {
				t.Errorf("command %d, which is durable, got status %d, %v; want 201", n, out.Answer.Status, err)
			}
		}
	})
}

func TestPanicOfACarryingCommandFailsItAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for name, c := range map[string]finishing{
			"next": {act: put("k", 1), next: func() namespace.Admitted { panic("next") }},
			"join": {
				act: put("k", 1), next: func() namespace.Admitted { return take("none", 0) },
				join: func(_, _ namespace.Answer, _ *api.Error) namespace.Answer { panic("join") },
			},
		} {
			bystander := w.start(callAs("bystander", take("none", time.Minute)))
			synctest.Wait()
			w.fails(call(c), api.Internal)
			_, err := bystander.outcome()
			wantCode(t, err, api.NamespaceUnavailable)
			w.recovered()
			if out := w.must(call(put("k", 1))); out.Answer.Status != 201 {
				t.Errorf("%s: the next command got status %d", name, out.Answer.Status)
			}
		}
	})
}

// holders are who holds each item.
func (w *world) holders() []string {
	w.t.Helper()
	all := []string{}
	for _, i := range w.items() {
		all = append(all, i.Holder)
	}
	return all
}
