package admission

import "math"

// QuotaConfig holds the settings of a Quota.
type QuotaConfig struct {
	// Limit is the number of takes in any Window. Zero switches the quota off.
	Limit int
	// Window is the length of the sliding window, in the caller's unit.
	Window int64
	// Second is the number of time units in a second. Zero means 1e9.
	Second int64
}

// A Quota lets each principal pass at most Limit times in any window of length
// Window, exactly: it remembers every pass that is younger than a window, and a
// principal without one not at all. A refusal is not remembered, so that asking
// again does not push the next pass away.
//
// A Quota is not safe for concurrent use.
type Quota struct {
	cfg    QuotaConfig
	now    int64
	takers map[string]*taker
	// Takers by their last pass: the front is idle first.
	front, back *taker
}

// taker is a principal that has passed within the window.
type taker struct {
	principal  string
	passes     history
	prev, next *taker
}

// NewQuota returns a quota that nobody has used, or the *ConfigError of c.
func NewQuota(c QuotaConfig) (*Quota, error) {
	setDefault(&c.Second, nanosecondsPerSecond)
	switch {
	case c.Limit < 0:
		return nil, &ConfigError{Field: fieldLimit, Rule: ruleNegative}
	case c.Window < 1:
		return nil, &ConfigError{Field: fieldWindow, Rule: rulePositive}
	case c.Window > maxSpan:
		return nil, &ConfigError{Field: fieldWindow, Rule: ruleTooLarge}
	case c.Second < 1:
		return nil, &ConfigError{Field: fieldSecond, Rule: ruleNegative}
	}
	return &Quota{cfg: c, now: math.MinInt64, takers: make(map[string]*taker)}, nil
}

const (
	fieldLimit  = "limit"
	fieldWindow = "window"
)

// Take lets the principal pass at now, if it has passed fewer than Limit times
// within the last Window. If not, retryAfter is the number of whole seconds, at
// least 1, until it would. A time before that of the previous call counts as
// that time. The quota keeps principal for as long as it remembers the pass.
func (q *Quota) Take(now int64, principal string) (ok bool, retryAfter int) {
	if q.cfg.Limit == 0 {
		return true, 0
	}
	q.now = max(q.now, now)
	q.forgetIdle()
	t := q.takers[principal]
	if t == nil {
		t = &taker{principal: principal}
		q.takers[principal] = t
	} else {
		t.passes.dropUntil(q.now - q.cfg.Window)
		if n := t.passes.len(); n >= q.cfg.Limit {
			// Passes beyond a limit that was lowered must go as well.
			return false, q.secondsUntil(t.passes.at(n-q.cfg.Limit) + q.cfg.Window)
		}
		q.unlink(t)
	}
	t.passes.push(q.now)
	q.link(t)
	return true, 0
}

// SetLimit changes the limit for the calls that follow; passes so far count.
// Zero switches the quota off and forgets them. A negative limit is a
// *ConfigError, and changes nothing.
func (q *Quota) SetLimit(limit int) error {
	if limit < 0 {
		return &ConfigError{Field: fieldLimit, Rule: ruleNegative}
	}
	q.cfg.Limit = limit
	if limit == 0 {
		clear(q.takers)
		q.front, q.back = nil, nil
	}
	return nil
}

// forgetIdle drops principals whose last pass has left the window. Each call
// adds one at most, so that dropping two at a time keeps up.
func (q *Quota) forgetIdle() {
	for range 2 {
		t := q.front
		if t == nil || t.passes.last() > q.now-q.cfg.Window {
			return
		}
		q.unlink(t)
		delete(q.takers, t.principal)
	}
}

// secondsUntil rounds up, so that whoever waits as long passes.
func (q *Quota) secondsUntil(at int64) int {
	wait := at - q.now
	seconds := wait / q.cfg.Second
	if wait%q.cfg.Second > 0 {
		seconds++
	}
	return int(seconds)
}

func (q *Quota) link(t *taker) {
	t.prev, t.next = q.back, nil
	if q.back == nil {
		q.front = t
	} else {
		q.back.next = t
	}
	q.back = t
}

func (q *Quota) unlink(t *taker) {
	if t.prev == nil {
		q.front = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		q.back = t.prev
	} else {
		t.next.prev = t.prev
	}
}
