package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Codes of the failures that the service itself reports.
const (
	failureExhausted = "attempts_exhausted"
	failureTooFew    = "too_few_outputs"
)

// heldVerb reads a verb without its brief and metadata; without one it is a
// not_found error.
func (c *change) heldVerb(id int64) (*verb, error) {
	verbs, err := readVerbs(&c.View, sqlSelectHeld+`WHERE s.id = ?`, id)
	if err != nil {
		return nil, err
	}
	if len(verbs) == 0 {
		return nil, errNoVerb()
	}
	return verbs[0], nil
}

// settle gives an open verb that nobody holds the state that follows from what
// it waits for.
func (c *change) settle(b *verb) {
	switch {
	case b.missing > 0:
		b.state = api.VerbBlocked
	case b.until > c.now:
		b.state = api.VerbBlocked
		c.wakeBy(b.until)
	default:
		b.state, b.until = api.VerbReady, 0
		c.m.ready.add(b.kind, b.id)
		if c.woken == nil {
			c.woken = map[string]int{}
		}
		c.woken[b.kind]++
	}
}

// open writes an open verb that nobody holds: ready, or blocked if it waits for
// something.
func (c *change) open(b *verb) error {
	c.settle(b)
	if _, err := c.Exec(sqlVerbState, b.id, string(b.state), b.missing, b.until, b.attempts, b.over); err != nil {
		return fmt.Errorf("open verb: %w", err)
	}
	c.changed(b)
	return nil
}

// end ends an open verb for good. If it succeeded, b.receipt says by what.
func (c *change) end(b *verb, state api.VerbState, failure *api.Failure) error {
	if err := setFailure(b, failure); err != nil {
		return err
	}
	waited := b.missing > 0
	b.state, b.endedAt, b.missing = state, c.now, 0
	_, err := c.Exec(sqlEndVerb, b.id, string(state), b.attempts, b.over, b.receipt, b.endedAt, b.failure)
	if err != nil {
		return fmt.Errorf("end verb: %w", err)
	}
	if waited {
		if _, err := c.Exec(sqlStopInputs, b.id); err != nil {
			return fmt.Errorf("stop waiting for inputs: %w", err)
		}
	}
	c.afterEnd(b)
	return nil
}

// afterEnd notes what follows from the end of a verb.
func (c *change) afterEnd(b *verb) {
	if b.group != 0 {
		c.ended = append(c.ended, endedAttempt{b.group, b.state == api.VerbSucceeded})
	}
	if retention := c.Settings().VerbRetentionMs; retention > 0 {
		c.AlarmBy(moment(b.endedAt + retention))
	}
	c.changed(b)
}

func setFailure(b *verb, failure *api.Failure) error {
	b.failure = ""
	if failure == nil {
		return nil
	}
	doc, err := namespace.Encode(failure)
	if err != nil {
		return fmt.Errorf("encode failure: %w", err)
	}
	b.failure = string(doc)
	return nil
}

// spend counts an attempt that ended without an artifact. If it was the last one
// allowed the verb fails, with the message as the last attempt's; otherwise it
// opens again.
func (c *change) spend(b *verb, over, message string) error {
	b.attempts++
	b.over = over
	if b.attempts < b.maxAttempts {
		return c.open(b)
	}
	failure := &api.Failure{Code: failureExhausted}
	failure.Message = fmt.Sprintf("no attempt of %d succeeded; the last: %s", b.maxAttempts, message)
	return c.end(b, api.VerbFailed, failure)
}

// expire ends the claim of a verb whose lease is over.
func (c *change) expire(b *verb) error {
	return c.spend(b, overExpired, "the lease expired")
}
