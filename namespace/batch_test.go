package namespace_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// journal notes what the writer does, in order.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string{}, j.entries...)
}

// noting is an act that only notes its name.
func (j *journal) noting(name string) act {
	return func(*namespace.Turn) (namespace.Answer, error) {
		j.note("%s", name)
		return namespace.Answer{}, nil
	}
}

// bulk is a command with a batch form: it stores an item of its kind.
type bulk struct {
	kind    string
	journal *journal
	// spoil makes the batch form fail, after it has written.
	spoil bool
	// refuse makes the command be refused.
	refuse bool
	// arrived, if not nil, is told that the command has come to the writer's queue.
	arrived func()
}

func (b bulk) Lane() namespace.Lane {
	if b.arrived != nil {
		b.arrived()
	}
	return namespace.LaneNormal
}

func (b bulk) Apply(t *namespace.Turn) (namespace.Answer, error) {
	b.journal.note("apply %s", b.kind)
	if b.refuse {
		return namespace.Answer{}, api.Errorf(api.Conflict, "refused")
	}
	return put(b.kind, 1)(t)
}

func (b bulk) ApplyAll(turns []*namespace.Turn) error {
	kinds := ""
	for _, t := range turns {
		c := t.Command().(bulk)
		kinds += c.kind
		if c.refuse {
			t.Refuse(api.Errorf(api.Conflict, "refused"))
			continue
		}
		out, err := put(c.kind, 1)(t)
		if err != nil {
			return err
		}
		t.Answer(out)
	}
	b.journal.note("apply all %s", kinds)
	if b.spoil {
		return errors.New("spoilt")
	}
	return nil
}

func TestLanesOrderTheCommandsOfACommit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		j := &journal{}
		b := w.hold()
		for _, c := range []namespace.Command{
			admitted{0, j.noting("admitted 1")},
			j.noting("normal 1"),
			laned{namespace.LaneFinish, j.noting("finish 1")},
			laned{namespace.LaneUrgent, j.noting("urgent")},
			admitted{0, j.noting("admitted 2")},
			laned{namespace.LaneNormal, j.noting("normal 2")},
			laned{namespace.LaneFinish, j.noting("finish 2")},
		} {
			w.start(call(c))
			synctest.Wait()
		}
		b.lift()
		synctest.Wait()
		want := []string{"urgent", "finish 1", "finish 2", "normal 1", "normal 2", "admitted 1", "admitted 2"}
		if diff := cmp.Diff(j.all(), want); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
	})
}

func TestFailedCommandRollsBackAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.hold()
		commits := w.stats().Storage.Commits
		good, bad := []*pending{}, []*pending{}
		for n := range 6 {
			if n%2 == 0 {
				good = append(good, w.start(call(put("good", 1))))
			} else {
				bad = append(bad, w.start(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
					_, err := put("bad", 1)(t)
					return namespace.Answer{}, errors.Join(err, api.Errorf(api.Conflict, "no"))
				}))))
			}
			synctest.Wait()
		}
		b.lift()
		for n, p := range good {
			if got := p.body(); got != int64(n+1) {
				t.Errorf("got item %d, want %d", got, n+1)
			}
		}
		for _, p := range bad {
			_, err := p.outcome()
			wantCode(t, err, api.Conflict)
		}
		want := []item{{Kind: "good"}, {Kind: "good"}, {Kind: "good"}}
		if diff := cmp.Diff(w.items(), want, cmpopts.IgnoreFields(item{}, "ID")); diff != "" {
			t.Errorf("items (-got +want):\n%s", diff)
		}
		if got := w.stats().Storage.Commits - commits; got != 2 { // the barrier's and theirs
			t.Errorf("got %d commits, want 2", got)
		}
	})
}

func TestBatchIsCarriedOutTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		j := &journal{}
		b := w.hold()
		var calls []*pending
		for n := range 5 {
			calls = append(calls, w.start(call(bulk{kind: fmt.Sprint(n), journal: j, refuse: n == 2})))
			synctest.Wait()
		}
		b.lift()
		for n, p := range calls {
			if n == 2 {
				_, err := p.outcome()
				wantCode(t, err, api.Conflict)
				continue
			}
			id := p.body()
			if got := w.items()[id-1].Kind; got != fmt.Sprint(n) {
				t.Errorf("command %d was answered with item %d of kind %s", n, id, got)
			}
		}
		if diff := cmp.Diff(j.all(), []string{"apply all 01234"}); diff != "" {
			t.Errorf("calls (-got +want):\n%s", diff)
		}
	})
}

func TestBatchThatFailsIsCarriedOutOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		j := &journal{}
		b := w.hold()
		var calls []*pending
		for n := range 3 {
			calls = append(calls, w.start(call(bulk{kind: fmt.Sprint(n), journal: j, spoil: true, refuse: n == 1})))
			synctest.Wait()
		}
		b.lift()
		if got := []int64{calls[0].body(), calls[2].body()}; got[0] != 1 || got[1] != 2 {
			t.Errorf("got items %v, want 1 and 2", got)
		}
		_, err := calls[1].outcome()
		wantCode(t, err, api.Conflict)
		if diff := cmp.Diff(j.all(), []string{"apply all 012", "apply 0", "apply 1", "apply 2"}); diff != "" {
			t.Errorf("calls (-got +want):\n%s", diff)
		}
		if got := len(w.items()); got != 2 {
			t.Errorf("got %d items, want 2", got)
		}
	})
}

func TestBatchReplaysStoredAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		j := &journal{}
		first := w.must(keyed("key", "body", bulk{kind: "a", journal: j}))
		b := w.hold()
		calls := []*pending{
			w.start(keyed("key", "body", bulk{kind: "a", journal: j})),
			w.start(keyed("new", "body", bulk{kind: "b", journal: j})),
		}
		synctest.Wait()
		b.lift()
		if out, err := calls[0].outcome(); err != nil || !out.Replayed {
			t.Errorf("got replayed %v, %v; want a replay", out.Replayed, err)
		}
		if calls[1].body() != 2 {
			t.Error("the other command of the batch did not go its way")
		}
		want, _ := first.Answer.Encoded()
		if got, _ := calls[0].out.Answer.Encoded(); string(got) != string(want) {
			t.Errorf("got %s, want %s", got, want)
		}
		b = w.hold()
		calls = []*pending{
			w.start(keyed("new", "another body", bulk{kind: "c", journal: j})),
			w.start(keyed("newer", "body", bulk{kind: "d", journal: j})),
		}
		synctest.Wait()
		b.lift()
		_, err := calls[0].outcome()
		wantCode(t, err, api.IdempotencyConflict)
		if calls[1].body() != 3 || len(w.items()) != 3 {
			t.Errorf("got %d items, want 3", len(w.items()))
		}
	})
}

// grab is an admitted command with a batch form.
type grab struct {
	admitted
	journal *journal
}

func (g grab) ApplyAll(turns []*namespace.Turn) error {
	names := ""
	for _, t := range turns {
		names += t.Caller().Principal
		out, err := g.act(t)
		if err != nil {
			return err
		}
		t.Answer(out)
	}
	g.journal.note("grab %s", names)
	return nil
}

func TestBatchLeavesOutCallersWhoHaveGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(call(put("k", 3)))
		j := &journal{}
		b := w.hold()
		var calls []*pending
		for _, name := range []string{"x", "y", "z"} {
			calls = append(calls, w.start(callAs(name, grab{take("k", 0), j})))
			synctest.Wait()
		}
		calls[1].cancel()
		synctest.Wait()
		b.lift()
		if a, c := calls[0].body(), calls[2].body(); a != 1 || c != 2 {
			t.Errorf("got items %d and %d, want 1 and 2", a, c)
		}
		if diff := cmp.Diff(j.all(), []string{"grab xz"}); diff != "" {
			t.Errorf("batches (-got +want):\n%s", diff)
		}
	})
}

func TestCommandsOfTwoClassesAreNoBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other := depot(nil)
		other.Name, other.Migrations = "other", nil
		w := newWorld(t, func(o *namespace.Options) { o.Classes = append(o.Classes, other) })
		j := &journal{}
		b := w.hold()
		for n := range 4 {
			c := call(bulk{kind: fmt.Sprint(n), journal: j})
			if n >= 2 {
				c.Class = "other"
			}
			w.start(c)
			synctest.Wait()
		}
		b.lift()
		synctest.Wait()
		if diff := cmp.Diff(j.all(), []string{"apply all 01", "apply all 23"}); diff != "" {
			t.Errorf("calls (-got +want):\n%s", diff)
		}
	})
}
