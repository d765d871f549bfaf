package actors

import "time"

// Clock is the one source of time. Implementations are safe for concurrent use,
// and Now never goes back.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// AfterFunc calls f once d has passed, in a goroutine that is not the
	// caller's or, for a simulated clock, in the one that moves the clock. f
	// must not block.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending call of [Clock.AfterFunc]. Its methods are those of
// [time.Timer] and safe for concurrent use.
type Timer interface {
	// Stop prevents the call and reports whether it did so. When it returns
	// false the call has begun, or the timer had been stopped before.
	Stop() bool
	// Reset makes the call due d from now, and reports whether it was pending.
	Reset(d time.Duration) bool
}

// SystemClock returns a clock whose Now is the wall time of this call plus the
// monotonic time that has passed since. A wall clock that is set while the
// process runs moves it neither forward nor back.
func SystemClock() Clock {
	start := time.Now()
	// Round(0) drops the monotonic reading, so that what Now returns compares
	// by wall time with what was read from a file.
	return systemClock{start: start, wall: start.Round(0)}
}

type systemClock struct {
	start time.Time // with its monotonic reading
	wall  time.Time
}

func (c systemClock) Now() time.Time { return c.wall.Add(time.Since(c.start)) }

func (c systemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
