package actors_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/actors"
)

func TestSystemClockFollowsMonotonicTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := actors.SystemClock()
		start := clock.Now()
		if start != start.Round(0) {
			t.Error("Now has a monotonic reading, so that it does not compare with stored times")
		}
		if want := time.Now(); !start.Equal(want) {
			t.Errorf("got %v, want %v", start, want)
		}
		fired := make(chan time.Time)
		timer := clock.AfterFunc(time.Hour, func() { fired <- clock.Now() })
		if got := (<-fired).Sub(start); got != time.Hour {
			t.Errorf("fired after %v, want 1h", got)
		}
		if timer.Stop() {
			t.Error("Stop of a fired timer returned true")
		}
	})
}
