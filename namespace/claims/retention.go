package claims

import "fmt"

// sweepEnded removes verbs that ended longer ago than the namespace keeps them,
// up to sweepStep of each sort, and reports whether there may be more. Nouns,
// receipts and what groups have produced stay.
//
// Verbs that succeeded are found along their receipts, whose order is that of
// their ends, so that the end of a verb needs no index of its own.
func (c *change) sweepEnded() (more bool, err error) {
	retention := c.Settings().VerbRetentionMs
	if retention <= 0 {
		return false, nil
	}
	made, err := c.sweepMade(c.now - retention)
	if err != nil {
		return false, err
	}
	unmade, err := c.sweepUnmade(c.now - retention)
	return made == sweepStep || unmade == sweepStep, err
}

// firstEnded is when the first ended verb may be swept.
func (c *change) firstEnded() (int64, error) {
	retention := c.Settings().VerbRetentionMs
	if retention <= 0 {
		return never, nil
	}
	mark, err := c.first(sqlRetentionMark)
	if err != nil {
		return 0, err
	}
	made, err := c.first(sqlNextReceipt, mark)
	if err != nil {
		return 0, err
	}
	unmade, err := c.first(sqlNextUnmade)
	if err != nil {
		return 0, err
	}
	if ended := min(made, unmade); ended != never {
		return ended + retention, nil
	}
	return never, nil
}

// sweepMade removes verbs that succeeded at the given time or before.
func (c *change) sweepMade(before int64) (int, error) {
	mark, err := c.first(sqlRetentionMark)
	if err != nil {
		return 0, err
	}
	rows, err := c.Query(sqlNextReceipts, mark, sweepStep)
	if err != nil {
		return 0, fmt.Errorf("find ended verbs: %w", err)
	}
	defer rows.Close()
	var old [][2]int64
	for rows.Next() {
		var receipt, verb, submittedAt int64
		if err := rows.Scan(&receipt, &verb, &submittedAt); err != nil {
			return 0, fmt.Errorf("find ended verbs: %w", err)
		}
		// Those behind it are younger still, and are not read.
		if submittedAt > before {
			break
		}
		old = append(old, [2]int64{receipt, verb})
	}
	if err := rows.Close(); err != nil || len(old) == 0 {
		return 0, err
	}
	return len(old), c.dropMade(old)
}

// dropMade removes verbs by their receipts, and remembers where those are: a
// submission that is sent again must still find its own.
func (c *change) dropMade(old [][2]int64) error {
	for _, p := range old {
		receipt, verb := p[0], p[1]
		if _, err := c.Exec(sqlSwept, verb, receipt); err != nil {
			return fmt.Errorf("note swept verb: %w", err)
		}
		if err := c.drop(verb); err != nil {
			return err
		}
	}
	if _, err := c.Exec(sqlMoveMark, old[len(old)-1][0]); err != nil {
		return fmt.Errorf("note retention: %w", err)
	}
	return nil
}

// sweepUnmade removes verbs that failed or were cancelled at the given time or
// before.
func (c *change) sweepUnmade(before int64) (int, error) {
	rows, err := c.Query(sqlOldUnmade, before, sweepStep)
	if err != nil {
		return 0, fmt.Errorf("find ended verbs: %w", err)
	}
	defer rows.Close()
	var old []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return 0, fmt.Errorf("find ended verbs: %w", err)
		}
		old = append(old, id)
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("find ended verbs: %w", err)
	}
	for _, id := range old {
		if err := c.drop(id); err != nil {
			return 0, err
		}
	}
	return len(old), nil
}

// drop removes every row of a verb.
func (c *change) drop(id int64) error {
	for _, sql := range []string{sqlDropInputs, sqlDropOver, sqlDropState, sqlDropVerb} {
		if _, err := c.Exec(sql, id); err != nil {
			return fmt.Errorf("remove verb: %w", err)
		}
	}
	return nil
}
