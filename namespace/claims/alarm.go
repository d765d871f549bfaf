package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/namespace"
)

const (
	// sweepStep bounds how many rows of a sort one turn sweeps, so that those who
	// wait for its commit do not wait long.
	sweepStep = 256
	// retentionPauseMs is how long retention waits for more to sweep at once.
	retentionPauseMs = 1000
)

// Alarm ends leases, opens gates and sweeps what retention lets go, and sets the
// alarm for what comes next.
func (m *memory) Alarm(t *namespace.Turn) error {
	c := begin(t)
	if err := c.sweep(); err != nil {
		return err
	}
	more, err := c.sweepEnded()
	if err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	retention := c.now + retentionPauseMs
	if more {
		retention = c.now
	}
	next, err := c.nextAlarm(retention)
	if err != nil {
		return err
	}
	if next != 0 {
		c.SetAlarm(moment(next))
	}
	return nil
}

// sweepDue sweeps if anything may be due.
func (c *change) sweepDue() error {
	if c.now < c.m.due {
		return nil
	}
	return c.sweep()
}

// sweep ends the leases and opens the gates that are due, up to sweepStep of
// each.
func (c *change) sweep() error {
	leases, err := readVerbs(&c.View, sqlDueLeases, c.now, sweepStep)
	if err != nil {
		return err
	}
	for _, b := range leases {
		if err := c.check(b); err != nil {
			return err
		}
	}
	gates, err := readVerbs(&c.View, sqlDueGates, c.now, sweepStep)
	if err != nil {
		return err
	}
	for _, b := range gates {
		if err := c.open(b); err != nil {
			return err
		}
	}
	lease, err := c.first(sqlNextCheck)
	if err != nil {
		return err
	}
	gate, err := c.first(sqlNextGate)
	if err != nil {
		return err
	}
	c.m.due = earliest(lease, gate)
	return nil
}

// check looks at a lease that may be over: it is ended, or looked at again when
// it will be.
func (c *change) check(b *verb) error {
	if b.leaseUntil <= c.now {
		return c.expire(b)
	}
	if _, err := c.Exec(sqlCheckAt, b.id, b.leaseUntil); err != nil {
		return fmt.Errorf("defer check of lease: %w", err)
	}
	return nil
}

// nextAlarm is when something is due next, 0 for never. Retention is not due
// before the given time.
func (c *change) nextAlarm(retention int64) (int64, error) {
	lease, err := c.first(sqlNextCheck)
	if err != nil {
		return 0, err
	}
	gate, err := c.first(sqlNextGate)
	if err != nil {
		return 0, err
	}
	ended, err := c.firstEnded()
	if err != nil {
		return 0, err
	}
	if ended != never {
		ended = max(ended, retention)
	}
	if next := earliest(lease, gate, ended); next != never {
		return next, nil
	}
	return 0, nil
}

// never is a time that does not come.
const never = 1<<63 - 1

// first reads the one number that a statement gives, never if it gives none.
func (c *change) first(sql string, args ...any) (int64, error) {
	var at int64
	found, err := c.QueryRow(sql, args, &at)
	if err != nil {
		return 0, fmt.Errorf("find what is due: %w", err)
	}
	if !found {
		return never, nil
	}
	return at, nil
}

func earliest(at int64, others ...int64) int64 {
	for _, t := range others {
		at = min(at, t)
	}
	return at
}
