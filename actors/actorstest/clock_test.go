package actorstest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAdvanceRunsWhatFallsDueInOrder(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := NewClock(start)
	var got []string
	note := func(name string) func() {
		return func() { got = append(got, name+" "+c.Now().Sub(start).String()) }
	}
	c.AfterFunc(3*time.Second, note("third"))
	c.AfterFunc(time.Second, note("first"))
	c.AfterFunc(time.Second, note("second"))
	c.AfterFunc(time.Second, func() { c.AfterFunc(time.Second, note("nested")) })
	stopped := c.AfterFunc(2*time.Second, note("stopped"))
	moved := c.AfterFunc(time.Second, note("moved"))
	c.AfterFunc(9*time.Second, note("late"))
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop does not say whether it stopped the timer")
	}
	if !moved.Reset(4 * time.Second) {
		t.Error("Reset of a pending timer returned false")
	}
	c.Advance(5 * time.Second)
	want := []string{"first 1s", "second 1s", "nested 2s", "third 3s", "moved 4s"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
	if got := c.Now().Sub(start); got != 5*time.Second {
		t.Errorf("got %v passed, want 5s", got)
	}
	if moved.Reset(-time.Hour) {
		t.Error("Reset of a fired timer returned true")
	}
	got = nil
	c.Advance(0)
	if diff := cmp.Diff(got, []string{"moved 5s"}); diff != "" {
		t.Errorf("overdue call (-got +want):\n%s", diff)
	}
}
