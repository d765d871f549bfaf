package actors

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// A wake-up that failed is tried again after wakeBackoffMin, then twice that,
// and so on up to wakeBackoffMax.
const (
	wakeBackoffMin = time.Second
	wakeBackoffMax = time.Minute
)

// wakeBackoff is how long to wait after so many failures in a row, at least one.
func wakeBackoff(failures int) time.Duration {
	d := wakeBackoffMin
	for ; failures > 1 && d < wakeBackoffMax; failures-- {
		d *= 2
	}
	return min(d, wakeBackoffMax)
}

// wake is the wake-up of one name. Its fields are guarded by wakes.mu.
type wake struct {
	at       time.Time
	failures int // in a row
}

// wakes holds the wake-ups of passive names. A name has at most one, in records;
// while it is in course it is not in due.
type wakes struct {
	limit int

	mu      sync.Mutex
	records map[string]*wake
	due     agenda[string]
	running int
}

// request sets a wake-up unless there is an earlier one. The zero time removes
// it; one in course is then not tried again.
func (w *wakes) request(name string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.IsZero() {
		w.forgetLocked(name)
		return
	}
	if old, ok := w.records[name]; !ok || at.Before(old.at) {
		w.putLocked(name, &wake{at: at})
	}
}

// replace sets the wake-up of a name to what its instance has left behind.
func (w *wakes) replace(name string, at time.Time, failures int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.IsZero() {
		w.forgetLocked(name)
		return
	}
	w.putLocked(name, &wake{at: at, failures: failures})
}

func (w *wakes) putLocked(name string, rec *wake) {
	if w.records == nil {
		w.records = make(map[string]*wake)
	}
	w.records[name] = rec
	w.due.set(name, rec.at)
}

func (w *wakes) forgetLocked(name string) {
	delete(w.records, name)
	w.due.remove(name)
}

// begin takes a wake-up that is due, if one more may be in course. It is
// followed by end.
func (w *wakes) begin(now time.Time) (string, *wake, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == w.limit {
		return "", nil, false
	}
	name, ok := w.due.due(now)
	if !ok {
		return "", nil, false
	}
	w.due.remove(name)
	w.running++
	return name, w.records[name], true
}

// end forgets a wake-up that has succeeded, or plans its next attempt, unless it
// was removed or replaced meanwhile.
func (w *wakes) end(name string, rec *wake, now time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	switch {
	case w.records[name] != rec:
	case err == nil:
		w.forgetLocked(name)
	default:
		rec.failures++
		rec.at = now.Add(wakeBackoff(rec.failures))
		w.putLocked(name, rec)
	}
}

// next is when a wake-up may begin; none may while the limit is reached.
func (w *wakes) next() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == w.limit {
		return time.Time{}, false
	}
	return w.due.next()
}

// startWakes begins the wake-ups that are due.
func (r *router) startWakes(now time.Time) {
	for {
		name, rec, ok := r.wakes.begin(now)
		if !ok {
			return
		}
		if !r.crew.join() {
			return // shutting down; nobody looks at the wake-ups any more
		}
		go r.wakeUp(name, rec)
	}
}

// wakeUp activates a name without counting as use.
func (r *router) wakeUp(name string, rec *wake) {
	defer r.crew.leave()
	err := r.rouse(name, rec)
	if errors.Is(err, ErrShuttingDown) {
		return
	}
	if err != nil && !errors.Is(err, errLeaving) {
		r.logger.Warn("wake-up failed", slog.String("name", name), slog.Any("error", err))
	}
	r.wakes.end(name, rec, r.clock.Now(), err)
	r.nudgeKeeper()
}

func (r *router) rouse(name string, rec *wake) error {
	a, err := r.obtain(name, rec)
	if err != nil {
		return err
	}
	switch a.enter() {
	case joined:
		// The activation ends by itself when the directory shuts down.
		if err := r.await(context.Background(), a); err != nil {
			return err
		}
	case shut:
		// Waiting would keep a place among the few wake-ups for as long as the
		// drain takes.
		return errLeaving
	case entered: // it sees to its alarms itself
	}
	a.release()
	return nil
}

// rememberWake keeps the wake-up that a closing instance asked for. One that is
// due already means, if the instance failed or was woken for it, that the
// wake-up did not achieve its end: it is put off, or it would be repeated
// without pause.
func (r *router) rememberWake(a *activation, cause error) {
	a.mu.Lock()
	at, set := a.wakeAt, a.wakeSet
	a.mu.Unlock()
	if !set {
		return
	}
	failures := 0
	if now := r.clock.Now(); !at.IsZero() && !at.After(now) && (a.woken || cause != nil) {
		failures = a.wakeFailures + 1
		at = now.Add(wakeBackoff(failures))
	}
	r.wakes.replace(a.name, at, failures)
	r.nudgeKeeper()
}
