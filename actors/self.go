package actors

import (
	"sync"
	"time"
)

// Self is what an instance has of its own actor. Its methods may be called in
// any goroutine, at any time: while Activate is still in course, in a turn, and
// after the instance was closed.
type Self struct {
	a *activation

	mu      sync.Mutex
	timers  map[*delayed]struct{} // those that may be pending
	stopped bool
}

// Name returns the name that the instance is an activation of.
func (s *Self) Name() string { return s.a.name }

// Tell puts a message into the instance's own mailbox. It does not count as
// use. Once the instance has failed or come to its end, msg goes to Refuse; if
// Activate returned an error, msg is dropped.
func (s *Self) Tell(msg any) { s.a.tell(msg) }

// Fail makes the instance unusable: what is in its mailbox and what comes after
// goes to Refuse with an error that wraps ErrRestarted, Close is called with
// err, which must not be nil, and the next request activates the name anew. The
// first call counts. Called before Activate has returned, it fails the
// activation.
func (s *Self) Fail(err error) { s.a.fail(err, s.a.restarted()) }

// Draining returns a channel that is closed when the instance begins to drain
// or fails. Long readers end then.
func (s *Self) Draining() <-chan struct{} { return s.a.leave }

// WakeAt says when the name is to be activated again, should the instance have
// been closed by then. The last call counts and takes effect when the instance
// is closed; the zero time means never. Without a call, what Directory.Wake was
// told last stays.
func (s *Self) WakeAt(at time.Time) {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	s.a.wakeAt, s.a.wakeSet = at, true
}

// After tells msg once d has passed. It costs no goroutine. A timer that has
// fired may have its message still in the mailbox when Stop returns false.
// Before the instance is closed all its timers are stopped for good: neither
// After nor Reset does anything then.
func (s *Self) After(d time.Duration, msg any) Timer {
	t := &delayed{self: s, msg: msg}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.addLocked(t)
		t.timer = s.a.router.clock.AfterFunc(d, t.fire)
	}
	return t
}

func (s *Self) addLocked(t *delayed) {
	if s.timers == nil {
		s.timers = make(map[*delayed]struct{})
	}
	s.timers[t] = struct{}{}
}

// stopTimers stops all timers for good.
func (s *Self) stopTimers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for t := range s.timers {
		t.timer.Stop()
	}
	s.timers = nil
}

// delayed is a message to be told later.
type delayed struct {
	self  *Self
	msg   any
	timer Timer // nil if the instance's timers had been stopped before
}

func (t *delayed) fire() {
	t.self.mu.Lock()
	stopped := t.self.stopped
	delete(t.self.timers, t)
	t.self.mu.Unlock()
	if !stopped {
		t.self.a.tell(t.msg)
	}
}

// Stop implements Timer.
func (t *delayed) Stop() bool {
	t.self.mu.Lock()
	defer t.self.mu.Unlock()
	if t.self.stopped {
		return false
	}
	delete(t.self.timers, t)
	return t.timer.Stop()
}

// Reset implements Timer.
func (t *delayed) Reset(d time.Duration) bool {
	t.self.mu.Lock()
	defer t.self.mu.Unlock()
	if t.self.stopped {
		return false
	}
	t.self.addLocked(t)
	return t.timer.Reset(d)
}

// IdleTimeoutChanged makes the directory ask for the instance's IdleTimeout now
// rather than when the old one has passed. It may be called in any goroutine.
func (s *Self) IdleTimeoutChanged() {
	r := s.a.router
	r.idle.postpone(s.a, r.clock.Now())
	r.nudgeKeeper()
}
