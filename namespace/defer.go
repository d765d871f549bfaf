package namespace

import (
	"cmp"
	"time"
)

// Deferred is a command whose caller waits for what later commands decide. It is
// comparable; the zero value is none. A command is deferred in memory alone: when
// the activation ends its caller gets an error.
type Deferred struct{ call *call }

// Gone reports that the caller no longer waits, or that it has its answer.
func (d Deferred) Gone() bool { return d.call == nil || d.call.gone.Load() || d.call.over.Load() }

// ruling is what becomes of a deferred command: an answer, given now or when the
// time until has come.
type ruling struct {
	call   *call
	until  time.Time // zero: now
	answer Answer
	err    error
}

// Defer keeps the caller waiting: what Apply returns is not sent. If no later
// command resolves it before the time until, the caller gets a, or err if that is
// not nil. A deferred command has no stored answer.
func (t *Turn) Defer(until time.Time, a Answer, err error) Deferred {
	t.deferred = &ruling{t.call, until, a, err}
	return Deferred{t.call}
}

// Postpone replaces, once the present commit is durable, how long a deferred command
// waits and what it then gets.
func (t *Turn) Postpone(d Deferred, until time.Time, a Answer, err error) {
	t.rulings = append(t.rulings, ruling{d.call, until, a, err})
}

// Resolve answers a deferred command once the present commit is durable. It does
// nothing if that has its answer.
func (t *Turn) Resolve(d Deferred, a Answer, err error) {
	t.rulings = append(t.rulings, ruling{d.call, time.Time{}, a, err})
}

// hold makes the caller of a deferred command wait.
func (i *instance) hold(c *call) {
	c.stage = stageDeferred
	switch {
	case i.draining: // or it would keep what drains, and all who ask for it, waiting
		i.answer(c, cmp.Or(i.shutdown, error(errRestarting(nil))))
	case c.gone.Load():
		i.answer(c, errGone())
	default:
		i.rule(*c.turn.deferred)
	}
}

// rule carries out a ruling.
func (i *instance) rule(r ruling) {
	c := r.call
	if c == nil || c.stage != stageDeferred {
		return
	}
	c.ruling = r
	if r.until.IsZero() || !i.now().Before(r.until) {
		c.outcome.Answer = r.answer
		i.answer(c, r.err)
		return
	}
	i.waits.put(c, r.until)
}
