package namespace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/namespace"
)

// waitOn starts a command that waits for topics and is done when it is woken.
func (w *world) waitOn(principal string, topics ...string) *pending {
	looked := false
	p := w.start(callAs(principal, patient{time.Hour, func(t *namespace.Turn) (namespace.Answer, error) {
		if !looked {
			looked = true
			t.Park(topics...)
		}
		return namespace.Answer{Body: int64(1)}, nil
	}}))
	synctest.Wait()
	return p
}

func TestSignalWakesThoseWhoWaitForItOrForWhatItLiesBelow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		signal string
		want   []string
	}{
		{"a/b", []string{"", "a", "a/b"}},
		{"a/b/c", []string{"", "a", "a/b", "a/b/c"}},
		{"a", []string{"", "a"}},
		{"ab", []string{"", "ab"}},
		{"a/", []string{"", "a", "a/"}},
		{"a/bc", []string{"", "a"}},
		{"other", []string{""}},
	} {
		t.Run(tt.signal, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				topics := []string{"a", "a/", "a/b", "a/b/c", "a/c", "ab", "b"}
				calls := map[string]*pending{"": w.waitOn("p")}
				for _, topic := range topics {
					calls[topic] = w.waitOn("p", topic)
				}
				w.must(call(signal(tt.signal, 100)))
				synctest.Wait()
				woken := []string{}
				for _, topic := range append([]string{""}, topics...) {
					if calls[topic].over() {
						woken = append(woken, topic)
					}
				}
				if diff := cmp.Diff(woken, tt.want); diff != "" {
					t.Errorf("woken (-got +want):\n%s", diff)
				}
			})
		})
	}
}

func TestTopicsOfOneClassWakeNobodyOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other := depot(nil)
		other.Name, other.Migrations = "other", nil
		w := newWorld(t, func(o *namespace.Options) { o.Classes = append(o.Classes, other) })
		p := w.waitOn("p", "a")
		c := call(signal("a/b", 5))
		c.Class = "other"
		w.must(c)
		synctest.Wait()
		if p.over() {
			t.Error("it was woken by another class's signal")
		}
	})
}

// One signal's count is shared by those who wait at every height, round robin
// over principals.
func TestCountOfASignalIsSharedInTurnOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		calls := []struct {
			name string
			call *pending
		}{
			{"x1", w.waitOn("x", "a")},
			{"x2", w.waitOn("x", "a/b")},
			{"y1", w.waitOn("y", "a/c")}, // not concerned
			{"x3", w.waitOn("x", "a")},
			{"z1", w.waitOn("z", "a/b")},
			{"y2", w.waitOn("y", "a")},
			{"z2", w.waitOn("z", "c", "a")},
		}
		over := func() (names []string) {
			for _, c := range calls {
				if c.call.over() {
					names = append(names, c.name)
				}
			}
			return names
		}
		for _, tt := range []struct {
			n    int
			want []string
		}{
			{0, nil},
			{2, []string{"x1", "y2"}},
			{1, []string{"x1", "z1", "y2"}},
			{2, []string{"x1", "x2", "z1", "y2", "z2"}},
			{9, []string{"x1", "x2", "x3", "z1", "y2", "z2"}},
		} {
			w.must(call(signal("a/b", tt.n)))
			synctest.Wait()
			if diff := cmp.Diff(over(), tt.want); diff != "" {
				t.Fatalf("answered after a signal of %d (-got +want):\n%s", tt.n, diff)
			}
		}
	})
}

// A command that waits for all of a branch may have been woken for a leaf of it;
// what it leaves is offered to those who wait for the leaf, and the other way
// round.
func TestWorkIsPassedOnAlongABranch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ first, second string }{
		"from the branch to a leaf": {"k", "k/x"},
		"from a leaf to the branch": {"k/x", "k"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				first := w.waitOn("a", tt.first)
				second := w.waitOn("b", tt.second)
				aside := w.waitOn("c", "other")
				b := w.thenHold(signal("k/x", 1))
				if got := w.status().Parked; got != 2 {
					t.Fatalf("got %d parked, want 2", got)
				}
				first.cancel()
				synctest.Wait()
				b.lift()
				synctest.Wait()
				if !second.over() || aside.over() {
					t.Errorf("answered: the one near it %v, the one elsewhere %v; want true, false", second.over(), aside.over())
				}
			})
		})
	}
}
