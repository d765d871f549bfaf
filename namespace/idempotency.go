package namespace

import (
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
)

// replay looks for a stored answer to the call's idempotency key. If there is
// one for the same body it becomes the call's answer; for another body it is a
// conflict. It runs before the command looks at anything else.
func (c *call) replay() (bool, error) {
	record, found, err := c.recorded()
	if err != nil || !found {
		return false, err
	}
	if !record.Expires.IsZero() && !c.turn.now.Before(record.Expires) {
		return false, nil
	}
	if record.BodySHA256 != c.Idempotency.BodySHA256 {
		return false, api.Errorf(api.IdempotencyConflict,
			"this idempotency key belongs to a request with another body; use a new key for a new request")
	}
	c.turn.replayed = true
	c.turn.answer = Answer{Status: record.Status, encoded: record.Body}
	return true, nil
}

func (c *call) recorded() (Record, bool, error) {
	if r, ok := c.Command.(Recorder); ok {
		return r.Recorded(&c.turn)
	}
	var record Record
	var sum []byte
	var status int64
	var expires int64
	found, err := c.turn.tx.QueryRow(sqlReadRecord,
		[]any{c.Caller.Principal, c.Idempotency.Scope, c.Idempotency.Key}, &sum, &status, &record.Body, &expires)
	if err != nil {
		return record, false, fmt.Errorf("read idempotency record: %w", err)
	}
	copy(record.BodySHA256[:], sum)
	record.Status, record.Expires = int(status), time.UnixMilli(expires)
	return record, found, nil
}

// record stores the answer for the idempotency key, in the transaction of its
// effect. A [Recorder] has done so itself.
func (c *call) record() error {
	if _, ok := c.Command.(Recorder); ok {
		return nil
	}
	t := &c.turn
	if t.answer.encoded == nil {
		body, err := Encode(t.answer.Body)
		if err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
		t.answer.encoded = body
	}
	expires := t.now.Add(time.Duration(t.settings.RetentionMs) * time.Millisecond)
	_, err := t.Exec(sqlWriteRecord, c.Caller.Principal, c.Idempotency.Scope, c.Idempotency.Key,
		c.Idempotency.BodySHA256[:], t.answer.status(), t.answer.encoded, expires.UnixMilli())
	if err != nil {
		return fmt.Errorf("store idempotency record: %w", err)
	}
	core := t.host.writer.hosts[0]
	if core.stored.IsZero() || core.stored.After(expires) {
		core.setAlarm(expires)
		return core.writeAlarm(t)
	}
	return nil
}

// status is the HTTP status of the answer.
func (a Answer) status() int {
	if a.Status == 0 {
		return 200
	}
	return a.Status
}

// inFlight are the idempotency keys whose first request has not been answered.
// It belongs to the actor.
type inFlight map[inFlightKey][32]byte

type inFlightKey struct{ principal, scope, key string }

func (c *call) inFlightKey() inFlightKey {
	return inFlightKey{c.Caller.Principal, c.Idempotency.Scope, c.Idempotency.Key}
}

// enter registers the call's key, or says why it may not run now.
func (f inFlight) enter(c *call) error {
	if c.Idempotency.Key == "" {
		return nil
	}
	first, busy := f[c.inFlightKey()]
	switch {
	case !busy:
		f[c.inFlightKey()] = c.Idempotency.BodySHA256
		c.keyed = true
		return nil
	case first != c.Idempotency.BodySHA256:
		return api.Errorf(api.IdempotencyConflict,
			"this idempotency key belongs to a request with another body; use a new key for a new request")
	}
	return api.Errorf(api.IdempotencyInProgress, "the first request with this idempotency key is still running").
		After(time.Second)
}

// leave frees the call's key, if it was let in with it: one that was turned away
// must not free the key of the first.
func (f inFlight) leave(c *call) {
	if c.keyed {
		delete(f, c.inFlightKey())
		c.keyed = false
	}
}

// sweepRecords deletes idempotency records that have expired, a few at a time,
// and sets the alarm for the next.
func sweepRecords(t *Turn) error {
	const step = 256
	n, err := t.Exec(sqlSweepRecords, t.now.UnixMilli(), step)
	if err != nil {
		return fmt.Errorf("sweep idempotency records: %w", err)
	}
	if n == step {
		t.SetAlarm(t.now.Add(50 * time.Millisecond))
		return nil
	}
	var next *int64
	if _, err := t.QueryRow(sqlNextExpiry, nil, &next); err != nil {
		return fmt.Errorf("find next expiry: %w", err)
	}
	if next != nil {
		t.SetAlarm(time.UnixMilli(*next))
	}
	return nil
}
