package namespace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestPausedRefusesWhatWaitsAndWhatIsParked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(*namespace.Settings) {})
		parked := w.park("k", 20*time.Second, "a", "b")
		var queued *pending
		free := w.occupy(
			func() *pending { queued = w.start(callAs("c", take("k", 20*time.Second))); return queued },
			w.patching(`{"mode": "paused"}`),
		)
		for _, p := range append(parked, queued) {
			_, err := p.outcome()
			e := wantCode(t, err, api.RateLimited)
			if e.Reason != "paused" || e.RetryAfter != 30*time.Second || p.out.Admission == nil {
				t.Errorf("got reason %q, retry after %v, admission %v; want paused, 30s, an admission", e.Reason, e.RetryAfter, p.out.Admission)
			}
		}
		free()
		synctest.Wait()
		if e := w.fails(call(take("k", 0)), api.RateLimited); e.Reason != "paused" {
			t.Errorf("got reason %q, want paused", e.Reason)
		}
		w.must(call(put("k", 1))) // everything else goes on
		s := w.status()
		if s.Mode != "paused" || s.Parked != 0 || s.InFlight != 0 || s.Pending != 0 {
			t.Errorf("got %+v, want nobody in a paused namespace", s)
		}
		if diff := cmp.Diff(s.Refused, map[string]int64{"paused": 4}); diff != "" {
			t.Errorf("refused, two of them parked (-got +want):\n%s", diff)
		}
		w.patch(`{"mode": "enforce"}`)
		if got := w.start(call(take("k", 0))).body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
	})
}

// A command that is at the writer when the namespace is paused must not be parked
// afterwards, where nobody would wake it.
func TestNobodyIsParkedInAPausedNamespace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.hold()
		p := w.start(call(take("k", 20*time.Second)))
		synctest.Wait()
		w.patching(`{"mode": "paused"}`)()
		synctest.Wait()
		b.lift()
		if got := p.body(); got != nothing || p.took != 0 {
			t.Errorf("got %d after %v, want nothing at once", got, p.took)
		}
		synctest.Wait()
	})
}

func TestShadowLetsEverybodyInAndCountsWhatItWouldHaveDone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(s *namespace.Settings) { s.Mode, s.ClaimMaxPending = "shadow", 1 })
		w.must(call(put("k", 3)))
		b := w.hold()
		var calls []*pending
		for _, p := range []string{"a", "b", "c"} {
			calls = append(calls, w.start(callAs(p, take("k", 0))))
			synctest.Wait()
		}
		b.lift()
		for n, p := range calls {
			if got := p.body(); got != int64(n+1) || p.out.Admission.Wait != 0 {
				t.Errorf("got item %d after %v in admission, want %d at once", got, p.out.Admission.Wait, n+1)
			}
		}
		s := w.status()
		if s.Mode != "shadow" || s.Admitted != 3 || s.InFlight != 0 || len(s.Refused) != 0 {
			t.Errorf("got %+v, want three admitted and none refused", s)
		}
		if diff := cmp.Diff(s.WouldRefuse, map[string]int64{"pending queue full": 1}); diff != "" {
			t.Errorf("would have refused (-got +want):\n%s", diff)
		}
	})
}

func TestModeChangesUnderCommandsThatWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(*namespace.Settings) {})
		var queued *pending
		free := w.occupy(
			func() *pending { queued = w.start(callAs("a", take("k", 0))); return queued },
			w.starting(call(put("k", 1))),
			w.patching(`{"mode": "shadow"}`),
		)
		if got := w.status(); got.Mode != "shadow" || got.Admitted != 2 {
			t.Errorf("got mode %s, %d admitted; want shadow and both", got.Mode, got.Admitted)
		}
		free()
		if got := queued.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		w.patch(`{"mode": "enforce"}`)
		synctest.Wait()
		if s := w.status(); s.InFlight != 0 || s.Pending != 0 || s.Mode != "enforce" {
			t.Errorf("got %d in flight, %d pending in mode %s; want none in enforce", s.InFlight, s.Pending, s.Mode)
		}
	})
}

func TestCallerWhoHasGoneIsNoSample(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(call(put("k", 1)))
		running, on := make(chan struct{}), make(chan struct{})
		p := w.start(call(admitted{0, func(t *namespace.Turn) (namespace.Answer, error) {
			close(running)
			<-on
			return take("k", 0).act(t)
		}}))
		<-running
		p.cancel()
		time.Sleep(3 * time.Second)
		close(on)
		synctest.Wait()
		if s := w.status(); s.AverageMs != nil || s.InFlight != 0 || s.Limit != 32 {
			t.Errorf("got average %v, %d in flight, limit %v; want none, 0, 32", s.AverageMs, s.InFlight, s.Limit)
		}
		if diff := cmp.Diff(w.holders(), []string{"me"}); diff != "" {
			t.Errorf("what had begun was not finished (-got +want):\n%s", diff)
		}
	})
}
