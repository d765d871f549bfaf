package runs

import "fmt"

const (
	// sweepStep bounds the rows that one step of the sweeper removes.
	sweepStep = 256
	// reclaimPages is how much of the file a step gives back at most.
	reclaimPages = 64
	// sweepPauseMs lies between two steps, for others to come in.
	sweepPauseMs = 20
)

// sweep removes some of what has expired, and gives room back to the file system. A
// run's own row is the last to go, so that a sweep that is cut off goes on where it
// was.
func (c *change) sweep() error {
	room := int64(sweepStep)
	for room > 0 {
		runs, err := c.numbers(sqlExpired, c.now, 1)
		if err != nil {
			return fmt.Errorf("find expired run: %w", err)
		}
		if len(runs) == 0 {
			break
		}
		if room, err = c.sweepRun(runs[0], room); err != nil {
			return err
		}
	}
	if room == sweepStep {
		return nil
	}
	return c.Reclaim(reclaimPages)
}

// sweepRun removes up to room rows of a run, and gives what is left of room.
func (c *change) sweepRun(id, room int64) (int64, error) {
	for _, sql := range []string{sqlSweepOutcomes, sqlSweepItems, sqlSweepWork} {
		n, err := c.Exec(sql, row(id, 0), row(id+1, 0), room)
		if err != nil {
			return 0, fmt.Errorf("sweep items of run: %w", err)
		}
		if room -= n; room <= 0 {
			return 0, nil
		}
	}
	n, err := c.TrimEvents(streamOf(id), int(room))
	if err != nil {
		return 0, fmt.Errorf("sweep events of run: %w", err)
	}
	last := []string{sqlSweepRecords, sqlSweepState, sqlSweepRun} // one row each at most
	if room -= int64(n); room < int64(len(last)) {
		return 0, nil
	}
	for _, sql := range last {
		n, err := c.Exec(sql, id)
		if err != nil {
			return 0, fmt.Errorf("sweep run: %w", err)
		}
		room -= n
	}
	return room, nil
}

// nextExpiry is when to sweep next; 0 is never.
func (c *change) nextExpiry() (int64, error) {
	var next *int64
	if _, err := c.QueryRow(sqlNextExpiry, nil, &next); err != nil {
		return 0, fmt.Errorf("find next expiry: %w", err)
	}
	if next == nil {
		return 0, nil
	}
	return max(*next, c.now+sweepPauseMs), nil
}
