package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
)

// group counts the attempts at one brief.
type group struct {
	size, ended, succeeded int64
}

// outlook is what a verb that takes a group as input may expect of it.
type outlook int

const (
	groupOpen  outlook = iota // not every attempt has ended
	groupDone                 // every attempt has ended, and enough succeeded
	groupShort                // enough can succeed no more
)

func (g group) outlook(least int64) outlook {
	switch {
	case g.succeeded+g.size-g.ended < least:
		return groupShort
	case g.ended == g.size:
		return groupDone
	}
	return groupOpen
}

// endedAttempt is the end of one of a group's verbs.
type endedAttempt struct {
	group     int64
	succeeded bool
}

// readGroup reads a group; one that does not exist has size 0.
func (c *change) readGroup(id int64) (group, error) {
	var g group
	if _, err := c.QueryRow(sqlReadGroup, []any{id}, &g.size, &g.ended, &g.succeeded); err != nil {
		return g, fmt.Errorf("read group: %w", err)
	}
	return g, nil
}

// succeeded are the group's attempts that have succeeded, as an input's mask.
func (c *change) succeeded(id int64) (uint64, error) {
	rows, err := c.Query(sqlReadAttempts, id)
	if err != nil {
		return 0, fmt.Errorf("read attempts: %w", err)
	}
	defer rows.Close()
	var mask uint64
	for rows.Next() {
		var attempt int64
		if err := rows.Scan(&attempt); err != nil {
			return 0, fmt.Errorf("read attempt: %w", err)
		}
		mask |= 1 << (attempt - 1)
	}
	return mask, rows.Err()
}

// settleGroups counts the attempts that ended, and lets the verbs that wait for
// their groups go on or fail. That may end further attempts, so it goes on until
// none is left.
func (c *change) settleGroups() error {
	for len(c.ended) > 0 {
		e := c.ended[0]
		c.ended = c.ended[1:]
		var g group
		if _, err := c.QueryRow(sqlCountEnd, []any{e.group, e.succeeded}, &g.size, &g.ended, &g.succeeded); err != nil {
			return fmt.Errorf("count attempt: %w", err)
		}
		if err := c.settleGroup(e.group, g); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) settleGroup(id int64, g group) error {
	places, err := c.waitingInputs(sqlWaitingForGroup, 3, id)
	if err != nil || len(places) == 0 {
		return err
	}
	mask, err := c.succeeded(id)
	if err != nil {
		return err
	}
	for _, p := range places {
		switch g.outlook(p.min) {
		case groupShort:
			err = c.fallShort(p.verb)
		case groupDone:
			err = c.fix(p, 0, mask)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fallShort fails a verb for which a group has produced too little. It may have
// failed already, if it takes the group twice.
func (c *change) fallShort(id int64) error {
	b, err := c.heldVerb(id)
	if err != nil || b.state.Ended() {
		return err
	}
	return c.end(b, api.VerbFailed, tooFewOutputs())
}

func tooFewOutputs() *api.Failure {
	return &api.Failure{Code: failureTooFew, Message: "too few attempts of a group that is an input can succeed"}
}
