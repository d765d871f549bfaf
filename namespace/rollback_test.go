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

// spoilt writes and then fails.
func spoilt(t *namespace.Turn) (namespace.Answer, error) {
	_, err := put("spoilt", 1)(t)
	return namespace.Answer{}, errors.Join(err, api.Errorf(api.Conflict, "spoilt"))
}

func TestMemoryIsReadAgainAfterARollback(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		w := newWorld(t, withPowers(&powers{rolledBack: func(v *namespace.View) error {
			all, err := items(v)
			j.note("rolled back to %d", len(all))
			return err
		}}))
		b := w.hold()
		for _, c := range []act{put("k", 1), spoilt, j.noting("next"), func(*namespace.Turn) (namespace.Answer, error) {
			return namespace.Answer{}, api.Errorf(api.Conflict, "refused before it wrote")
		}, j.noting("last")} {
			w.start(call(c))
			synctest.Wait()
		}
		b.lift()
		synctest.Wait()
		if diff := cmp.Diff(j.all(), []string{"rolled back to 1", "next", "last"}); diff != "" {
			t.Errorf("calls (-got +want):\n%s", diff)
		}
	})
}

func TestMemoryThatCannotBeReadAgainEndsTheActivation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withPowers(&powers{rolledBack: func(*namespace.View) error { return errors.New("unreadable") }}))
		b := w.hold()
		var calls []*pending
		for _, c := range []act{put("k", 1), spoilt, put("k", 1)} {
			calls = append(calls, w.start(call(c)))
			synctest.Wait()
		}
		before, bad, behind := calls[0], calls[1], calls[2]
		b.lift()
		if got := before.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		_, err := bad.outcome()
		wantCode(t, err, api.Conflict)
		// What would have run on memory that mirrors nothing must not have run.
		_, err = behind.outcome()
		if e := wantCode(t, err, api.NamespaceUnavailable); e.RetryAfter != time.Second {
			t.Errorf("got retry after %v, want 1s", e.RetryAfter)
		}
		synctest.Wait()
		if got := len(w.items()); got != 1 {
			t.Errorf("got %d items, want 1", got)
		}
		if got := w.describe().Epoch; got != 2 {
			t.Errorf("got epoch %d, want 2", got)
		}
	})
}

func TestAlarmOfARefusedCommandIsNotSet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		w := newWorld(t, withPowers(&powers{alarm: func(*namespace.Turn) error { j.note("alarm"); return nil }}))
		w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			t.SetAlarm(t.Now().Add(time.Second))
			return namespace.Answer{}, api.Errorf(api.Conflict, "refused before it wrote")
		})), api.Conflict)
		w.must(call(put("k", 1)))
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff(j.all(), []string{}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
	})
}
