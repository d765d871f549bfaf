package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skerryhq/skerry/api"
)

// maxCut bounds the leases that are ended in one go.
const maxCut = 64

// ending is why the items of a quantum are no longer worked on.
type ending int

const (
	endReleased ending = iota // the worker gave them back
	endLost                   // its lease ran out
	endTimeout                // they took longer than their kind allows
)

// failure is what an item fails with that is not granted again.
func (e ending) failure() *api.Failure {
	if e == endTimeout {
		return &api.Failure{Code: "item_timeout", Message: "the item did not end within its time limit"}
	}
	return &api.Failure{Code: "worker_lost", Message: "the item's worker was lost, and it may not be granted again"}
}

// look sees to it that leases are examined at the given time.
func (c *change) look(at int64) {
	if c.m.due == 0 || at < c.m.due {
		c.m.due = at
	}
	c.wakeBy(at)
}

// cutLeases ends leases that have run out, at most maxCut of them.
func (c *change) cutLeases() error {
	if c.m.due == 0 || c.m.due > c.now {
		return nil
	}
	if err := c.cutCalls(); err != nil {
		return err
	}
	fences, err := c.numbers(sqlDueQuanta, c.now, maxCut)
	if err != nil {
		return fmt.Errorf("read due quanta: %w", err)
	}
	for _, fence := range fences {
		q := c.m.quanta[fence]
		if q == nil {
			return fmt.Errorf("end lease: quantum %d is stored and not known", fence)
		}
		if err := c.examine(q); err != nil {
			return err
		}
	}
	return c.findDue()
}

// examine ends a quantum whose time is over, and notes when to look again at one
// that was prolonged.
func (c *change) examine(q *quantum) error {
	switch {
	case q.until > c.now:
		if _, err := c.Exec(sqlCheckQuantum, q.id.fence, q.until); err != nil {
			return fmt.Errorf("postpone look at quantum: %w", err)
		}
		return nil
	case q.deadline <= c.now:
		return c.endQuantum(q, endTimeout)
	}
	return c.endQuantum(q, endLost)
}

// findDue works out when to look at leases next.
func (c *change) findDue() error {
	c.m.due = 0
	var next *int64
	if _, err := c.QueryRow(sqlNextCheck, nil, &next); err != nil {
		return fmt.Errorf("find next lease: %w", err)
	}
	if next != nil {
		c.look(*next)
	}
	for _, q := range c.m.calls.granted {
		c.look(q.until)
	}
	return nil
}

// setAlarm sets the alarm to whatever is due next.
func (c *change) setAlarm() error {
	if c.m.due > 0 {
		c.wakeBy(c.m.due)
	}
	at, err := c.nextExpiry()
	if err == nil && at > 0 {
		c.wakeBy(at)
	}
	return err
}

// endQuantum takes back what is open of a quantum and forgets it.
func (c *change) endQuantum(q *quantum, why ending) error {
	if q.call != nil {
		return c.endCall(q, why)
	}
	r := c.m.runs[q.id.run]
	if r == nil {
		return fmt.Errorf("end quantum %d: its run is not known", q.id.fence)
	}
	open, err := c.openItems(q)
	if err != nil {
		return err
	}
	if err := c.takeBack(r, open, why); err != nil {
		return err
	}
	return c.forget(r, q)
}

// forget removes a quantum of which nothing is open, and ends its run if that was
// the last of it.
func (c *change) forget(r *run, q *quantum) error {
	delete(c.m.quanta, q.id.fence)
	if _, err := c.Exec(sqlDeleteQuantum, q.id.fence); err != nil {
		return fmt.Errorf("delete quantum: %w", err)
	}
	c.touch(r)
	return c.conclude(r)
}

// takeBack makes running items pending again. Those of a cancelled run are cancelled
// instead, and those that were lost and may not be granted again fail.
func (c *change) takeBack(r *run, items []*item, why ending) error {
	var returned, ended []int
	for _, i := range items {
		i.fence = 0
		var err error
		switch {
		case r.cancelling:
			returned = append(returned, i.index) // what was charged for it is given back
			err = c.end(r, i, api.ItemCancelled, outcome{})
		case why != endReleased && i.attempts >= r.maxAttempts:
			ended = append(ended, i.index)
			err = c.end(r, i, api.ItemFailed, outcome{failure: why.failure()})
		default:
			returned = append(returned, i.index)
			err = c.back(r, i)
		}
		if err != nil {
			return err
		}
	}
	c.m.schedule.Return(r.id, returned)
	c.m.schedule.Drop(r.id, ended)
	if !r.cancelling && len(returned) > 0 {
		c.offer(api.PoolDurable, r.kind, len(returned))
	}
	return nil
}

// openItems are the items of a quantum that its worker may still report on.
func (c *change) openItems(q *quantum) ([]*item, error) {
	rows, err := indexArray(q.id.run, q.items)
	if err != nil {
		return nil, err
	}
	return c.items(sqlOpenWork, rows, q.id.fence)
}

// items reads rows of runs_work.
func (c *change) items(sql string, args ...any) ([]*item, error) {
	rows, err := c.Query(sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	defer rows.Close()
	var items []*item
	for rows.Next() {
		i := &item{}
		var number, attempts int64
		var status string
		if err := rows.Scan(&number, &i.name, &i.cost, &status, &attempts, &i.fence, &i.ended); err != nil {
			return nil, fmt.Errorf("read item: %w", err)
		}
		i.index, i.status, i.attempts = indexOf(number), api.ItemStatus(status), int(attempts)
		items = append(items, i)
	}
	return items, rows.Err()
}

// numbers reads a column of integers.
func (c *change) numbers(sql string, args ...any) ([]int64, error) {
	rows, err := c.Query(sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

// resume brings the quanta that were held when the namespace was last active to
// where they stand now. Those of the node's own handlers ended with it. A wall clock
// that stepped while nobody looked prolongs no lease beyond its own length.
func (c *change) resume() error {
	for _, fence := range slices.Sorted(maps.Keys(c.m.quanta)) {
		q := c.m.quanta[fence]
		if q.node != "" && q.node != c.m.crew.node {
			if err := c.endQuantum(q, endLost); err != nil {
				return err
			}
			continue
		}
		r := c.m.runs[q.id.run]
		if r == nil {
			return errors.New("resume quanta: the run of one is not known")
		}
		deadline := min(q.deadline, c.now+int64(len(q.items))*r.timeoutMs+graceMs)
		until := min(q.until, c.now+q.leaseMs, deadline)
		if until == q.until && deadline == q.deadline {
			continue
		}
		q.until, q.deadline = until, deadline
		if _, err := c.Exec(sqlShortenQuantum, fence, until, deadline); err != nil {
			return fmt.Errorf("shorten lease: %w", err)
		}
	}
	return c.findDue()
}

func (m *memory) scanQuantum(scan func(...any) error) (*quantum, error) {
	q := &quantum{pool: api.PoolDurable}
	var items string
	if err := scan(&q.id.fence, &q.id.run, &q.principal, &q.leaseMs, &q.until, &q.deadline, &q.node, &items); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(items), &q.items); err != nil {
		return nil, fmt.Errorf("read items of quantum: %w", err)
	}
	if r := m.runs[q.id.run]; r != nil {
		q.asked = []string{r.kind}
	}
	return q, nil
}
