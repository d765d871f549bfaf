package namespace_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestReplayIsByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type doc struct {
		Z int               `json:"z"`
		A string            `json:"a"`
		M map[string]string `json:"m"`
	}
	answer := func(t *namespace.Turn) (namespace.Answer, error) {
		out, err := put("k", 1)(t)
		out.Body = doc{Z: 1, A: "<&>\u2028é", M: map[string]string{"b": "2", "a": "1"}}
		return out, err
	}
	first := w.must(keyed("key", "body", act(answer)))
	want, ok := first.Answer.Encoded()
	if !ok {
		t.Fatal("the first answer has no stored form")
	}
	for _, how := range []string{"same activation", "after a proper restart", "after a kill"} {
		out := w.must(keyed("key", "body", act(answer)))
		got, _ := out.Answer.Encoded()
		if !out.Replayed || out.Answer.Status != 201 || string(got) != string(want) {
			t.Errorf("%s: got replayed %v, status %d, %s; want true, 201, %s", how, out.Replayed, out.Answer.Status, got, want)
		}
		w.restart(how == "same activation")
	}
	if got := len(w.items()); got != 1 {
		t.Errorf("got %d items, want 1", got)
	}
}

func TestKeyWithAnotherBodyIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(keyed("key", "body", put("k", 1)))
	w.fails(keyed("key", "other", put("k", 1)), api.IdempotencyConflict)
	if got := len(w.items()); got != 1 {
		t.Errorf("got %d items, want 1", got)
	}
}

func TestKeyBelongsToPrincipalAndScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(keyed("key", "body", put("k", 1)))
	other := keyed("key", "body", put("k", 1))
	other.Caller = as("somebody else")
	elsewhere := keyed("key", "body", put("k", 1))
	elsewhere.Idempotency.Scope = "POST /y"
	for _, c := range []namespace.Call{other, elsewhere} {
		if w.must(c).Replayed {
			t.Errorf("replayed for principal %q in scope %q", c.Caller.Principal, c.Idempotency.Scope)
		}
	}
	if got := len(w.items()); got != 3 {
		t.Errorf("got %d items, want 3", got)
	}
}

func TestKeyInProgressIsRefusedUntilTheFirstIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(call(put("k", 2)))
		b := w.hold()
		first := w.start(keyed("key", "body", take("k", 0)))
		synctest.Wait()
		// However often it is asked, also with another body, the first one's key
		// stays its own.
		for range 3 {
			e := w.fails(keyed("key", "body", take("k", 0)), api.IdempotencyInProgress)
			if !e.Code.Retryable() || e.RetryAfter != time.Second {
				t.Errorf("got retryable %v after %v, want true after 1s", e.Code.Retryable(), e.RetryAfter)
			}
			w.fails(keyed("key", "other", take("k", 0)), api.IdempotencyConflict)
		}
		b.lift()
		if got := first.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		if out := w.must(keyed("key", "body", take("k", 0))); !out.Replayed {
			t.Error("after the first was answered its key is not replayed")
		}
	})
}

func TestErrorFreesTheKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		fail act
	}{
		{"refused before it wrote", func(*namespace.Turn) (namespace.Answer, error) {
			return namespace.Answer{}, api.Errorf(api.Conflict, "no")
		}},
		{"refused after it wrote", func(t *namespace.Turn) (namespace.Answer, error) {
			_, err := put("k", 1)(t)
			return namespace.Answer{}, errors.Join(err, api.Errorf(api.Conflict, "no"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fails(keyed("key", "body", tt.fail), api.Conflict)
			if out := w.must(keyed("key", "another body", put("k", 1))); out.Replayed {
				t.Error("an error was replayed")
			}
			if got := len(w.items()); got != 1 {
				t.Errorf("got %d items, want 1", got)
			}
		})
	}
}

func TestAnswerWithoutEffectIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	idle := act(func(*namespace.Turn) (namespace.Answer, error) { return namespace.Answer{NoEffect: true}, nil })
	for range 2 {
		if out := w.must(keyed("idle", "body", idle)); out.Replayed {
			t.Error("an answer without effect was replayed")
		}
	}
	if out := w.must(keyed("key", "body", take("k", 0))); out.Answer.Body != nothing {
		t.Fatalf("got %v, want nothing", out.Answer.Body)
	}
	w.must(call(put("k", 1)))
	out := w.must(keyed("key", "body", take("k", 0)))
	if out.Replayed || out.Answer.Body != int64(1) {
		t.Errorf("got replayed %v, %v; want false, 1", out.Replayed, out.Answer.Body)
	}
}

func TestRecordExpiresAndIsSwept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.RetentionMs = 5000 }))
		w.must(keyed("key", "body", put("k", 1)))
		time.Sleep(4999 * time.Millisecond)
		if out := w.must(keyed("key", "body", put("k", 1))); !out.Replayed {
			t.Error("the record is gone before its time")
		}
		time.Sleep(time.Millisecond)
		if out := w.must(keyed("key", "another body", put("k", 1))); out.Replayed {
			t.Error("the record is there after its time")
		}
		time.Sleep(6 * time.Second)
		if got := w.count(`SELECT count(*) FROM ns_idempotency`); got != 0 {
			t.Errorf("got %d records after their time, want 0", got)
		}
	})
}

// A record that has expired counts as none also before it was swept.
func TestExpiredRecordIsNoneAlsoBeforeItIsSwept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.RetentionMs = 5000 }))
		w.must(keyed("key", "body", put("k", 1)))
		time.Sleep(4 * time.Second)
		b := w.hold()
		// In one commit, this comes before the sweep.
		p := w.start(keyed("key", "another body", laned{namespace.LaneUrgent, put("k", 1)}))
		time.Sleep(time.Second)
		b.lift()
		if got := p.body(); got != 2 || p.out.Replayed {
			t.Errorf("got item %d, replayed %v; want 2, not replayed", got, p.out.Replayed)
		}
		synctest.Wait()
		if out := w.must(keyed("key", "another body", put("k", 1))); !out.Replayed {
			t.Error("the new record was swept with the old one")
		}
	})
}

func TestExpiredRecordsAreSweptInSteps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.RetentionMs = 5000 }))
		w.must(keyed("key", "body", put("k", 1)))
		w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			_, err := t.Exec(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 600)
				INSERT INTO ns_idempotency SELECT principal, scope, 'k' || n, body_sha256, status, body, expires_at FROM ns_idempotency, n`)
			return namespace.Answer{}, err
		})))
		var left []int64
		time.Sleep(5*time.Second + 10*time.Millisecond)
		for range 3 {
			left = append(left, w.count(`SELECT count(*) FROM ns_idempotency`))
			time.Sleep(50 * time.Millisecond)
		}
		if diff := cmp.Diff(left, []int64{345, 89, 0}); diff != "" {
			t.Errorf("records left after each step (-got +want):\n%s", diff)
		}
	})
}

// recorder keeps its record in a row of its own.
type recorder struct{ act }

func (r recorder) Apply(t *namespace.Turn) (namespace.Answer, error) {
	out, err := r.act(t)
	if err != nil {
		return out, err
	}
	document, err := namespace.Encode(out.Body)
	if err != nil {
		return out, err
	}
	sum := t.Idempotency().BodySHA256
	_, err = t.Exec(`UPDATE depot_item SET kind = ?, holder = ? WHERE id = (SELECT max(id) FROM depot_item)`, string(document), string(sum[:4]))
	return out.WithEncoded(document), err
}

func (r recorder) Recorded(t *namespace.Turn) (namespace.Record, bool, error) {
	record := namespace.Record{Status: 201}
	var sum []byte
	found, err := t.QueryRow(`SELECT kind, holder FROM depot_item ORDER BY id LIMIT 1`, nil, &record.Body, &sum)
	copy(record.BodySHA256[:], sum)
	return record, found, err
}

func TestRecorderKeepsTheRecordItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.must(keyed("key", "body", recorder{put("k", 1)}))
	again := w.must(keyed("key", "body", recorder{put("k", 1)}))
	a, _ := first.Answer.Encoded()
	b, _ := again.Answer.Encoded()
	if !again.Replayed || string(a) != string(b) || len(a) == 0 {
		t.Errorf("got replayed %v, %s; want true, %s", again.Replayed, b, a)
	}
	w.fails(keyed("key", "else", recorder{put("k", 1)}), api.IdempotencyConflict)
	if got := w.count(`SELECT count(*) FROM ns_idempotency`); got != 0 {
		t.Errorf("got %d records in the runtime's table, want 0", got)
	}
}

func TestStoredAnswerIsLookedUpBeforeEveryLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(func(s *namespace.Settings) { s.ClaimsPerMinute = 1 }))
	w.must(call(put("k", 2)))
	w.must(keyed("key", "body", take("k", 0)))
	if e := w.fails(call(take("k", 0)), api.RateLimited); e.Reason != "legacy quota" {
		t.Fatalf("got reason %q, want legacy quota", e.Reason)
	}
	if out := w.must(keyed("key", "body", take("k", 0))); !out.Replayed || out.Admission == nil || out.Admission.Wait != 0 {
		t.Errorf("got replayed %v, admission %v; want a replay that waited for nothing", out.Replayed, out.Admission)
	}
	w.fails(keyed("key", "other", take("k", 0)), api.IdempotencyConflict)
	w.patch(`{"mode": "paused"}`)
	if out := w.must(keyed("key", "body", take("k", 0))); !out.Replayed {
		t.Error("a paused namespace does not replay")
	}
}

func TestKeyStaysInProgressWhileParked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.start(keyed("key", "body", take("k", 10*time.Second)))
		synctest.Wait()
		w.fails(keyed("key", "body", take("k", 10*time.Second)), api.IdempotencyInProgress)
		w.must(call(put("k", 2)))
		if got := first.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
	})
}
