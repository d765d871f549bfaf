// Package storage is given the time.
package storage

import (
	"time"
	clock "time"
)

type retry struct{ now func() time.Time }

func newRetry() retry { return retry{now: time.Now} } // want `time.Now reads the wall clock`

func (r retry) wait(last time.Time, d time.Duration) {
	if r.now().After(last) { // a comparison, not a timer
		<-clock.After(d) // want `time.After reads the wall clock`
	}
	defer time.NewTimer(d).Stop() // want `time.NewTimer reads the wall clock`
	_ = time.Since(last)          // want `time.Since reads the wall clock`
}
