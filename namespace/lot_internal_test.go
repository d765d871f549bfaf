package namespace

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// waiter is a parked command as the model has it.
type waiter struct {
	call      *call
	principal string
	topic     string // empty waits for anything
}

// lotModel is the plain form of a lot: principals in turn order, each with its
// waiters in order.
type lotModel struct {
	ring []string
	held map[string][]waiter
}

func (m *lotModel) add(w waiter) {
	if len(m.held[w.principal]) == 0 {
		m.ring = append(m.ring, w.principal)
	}
	m.held[w.principal] = append(m.held[w.principal], w)
}

// take gives the next n who wait for the topic: the first principal in the ring
// that has one gives its oldest, and goes to the tail if it has more.
func (m *lotModel) take(topic string, n int) (taken []*call) {
	for range n {
		found := false
		for at, p := range m.ring {
			k := slices.IndexFunc(m.held[p], func(w waiter) bool { return w.topic == "" || w.topic == topic })
			if k < 0 {
				continue
			}
			taken, found = append(taken, m.held[p][k].call), true
			m.drop(at, k)
			break
		}
		if !found {
			break
		}
	}
	return taken
}

func (m *lotModel) drop(at, k int) {
	p := m.ring[at]
	m.held[p] = slices.Delete(m.held[p], k, k+1)
	m.ring = slices.Delete(m.ring, at, at+1)
	if len(m.held[p]) > 0 {
		m.ring = append(m.ring, p)
	}
}

func newWaiter(principal, topic string) *call {
	c := &call{Call: Call{Class: "c", Caller: Caller{Principal: principal}}}
	if topic != "" {
		c.turn.topics = []string{topic}
	}
	return c
}

func names(calls []*call) []string {
	all := []string{}
	for _, c := range calls {
		all = append(all, fmt.Sprintf("%s%d", c.Caller.Principal, c.sequence))
	}
	return all
}

// Where each waiter waits for one topic, the one that signals come for, a lot
// takes turns as the model does.
func TestLotTakesTurnsAsTheModelDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, m := newLot(), &lotModel{held: map[string][]waiter{}}
		principals := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				p := principals.Draw(t, "principal")
				topic := rapid.SampledFrom([]string{"", "x"}).Draw(t, "topic")
				c := newWaiter(p, topic)
				l.add(c)
				m.add(waiter{c, p, topic})
			},
			"take": func(t *rapid.T) {
				n := rapid.IntRange(0, 5).Draw(t, "n")
				got, want := l.take("c", "x", n), m.take("x", n)
				if diff := cmp.Diff(names(got), names(want)); diff != "" {
					t.Fatalf("taken (-got +want):\n%s", diff)
				}
			},
			"take of another class": func(t *rapid.T) {
				if got := l.take("other", "x", 3); len(got) > 0 {
					t.Fatalf("took %v of another class", names(got))
				}
			},
			"": func(t *rapid.T) {
				size := 0
				for _, p := range []string{"a", "b", "c", "d"} {
					size += len(m.held[p])
					if l.of(p) != len(m.held[p]) {
						t.Fatalf("%s has %d, want %d", p, l.of(p), len(m.held[p]))
					}
				}
				if l.size != size || l.ring.Len() != len(m.ring) {
					t.Fatalf("got size %d, %d principals; want %d, %d", l.size, l.ring.Len(), size, len(m.ring))
				}
			},
		})
	})
}

// Whatever happens in between, one that comes back stands where it stood among
// those who have not been served since.
func TestLotGivesBackTheOldPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := newLot()
		principals := []string{"a", "b", "c", "d", "e"}
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			l.add(newWaiter(rapid.SampledFrom(principals).Draw(t, "principal"), "x"))
		}
		n := rapid.IntRange(1, 12).Draw(t, "n")
		order := l.take("c", "x", n)
		// All of them find nothing, and come back in whatever order.
		back := slices.Clone(order)
		for k := range back {
			swap := rapid.IntRange(k, len(back)-1).Draw(t, "swap")
			back[k], back[swap] = back[swap], back[k]
		}
		for _, c := range back {
			l.add(c)
		}
		first := order[0]
		if got := l.take("c", "x", 1); len(got) != 1 || got[0] != first {
			t.Fatalf("the first is %v, want %v again", names(got), names(order[:1]))
		}
	})
}

func TestLotForgetsWhatItGaveAway(t *testing.T) {
	t.Parallel()
	l := newLot()
	var calls []*call
	for _, p := range []string{"a", "b", "a"} {
		c := newWaiter(p, p)
		calls = append(calls, c)
		l.add(c)
	}
	l.remove(calls[0])
	l.remove(calls[0]) // it is not there any more
	if diff := cmp.Diff(l.known(), []string{"a", "b"}); diff != "" {
		t.Errorf("topics (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(names(l.drain(false)), []string{"a3", "b2"}); diff != "" {
		t.Errorf("drained (-got +want):\n%s", diff)
	}
	if l.size != 0 || len(l.topics) != 0 || len(l.principals) != 0 || l.ring.Len() != 0 {
		t.Errorf("an empty lot holds %d calls, topics %v, principals %v", l.size, l.topics, l.principals)
	}
}
