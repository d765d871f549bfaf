package client

import (
	"context"
	"time"
)

// now reads the local clock. Only differences of its values are used, which Go
// takes from the monotonic reading, so that a wall clock that jumps changes
// nothing. It is the one place of the package that reads a clock.
func now() time.Time { return time.Now() }

// sleep waits for d, or until ctx ends and then returns its error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
