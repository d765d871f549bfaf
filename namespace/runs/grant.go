package runs

import (
	"fmt"
	"slices"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// grant leases the picked items of a run to the caller.
func (c *change) grant(pick schedule.Pick, ask *claimQuanta) (*api.Quantum, error) {
	r := c.m.runs[pick.Run]
	if r == nil {
		return nil, fmt.Errorf("grant quantum: run %d is scheduled and not known", pick.Run)
	}
	q, err := c.lease(ask, r.id, slices.Clone(pick.Items), r.timeoutMs)
	if err != nil {
		return nil, err
	}
	rows, err := indexArray(r.id, q.items)
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(sqlGrantWork, rows, q.id.fence); err != nil {
		return nil, fmt.Errorf("grant items: %w", err)
	}
	if err := c.storeQuantum(q); err != nil {
		return nil, err
	}
	r.progress.Pending -= len(q.items)
	r.progress.Running += len(q.items)
	c.offerRest(r.kind, len(q.items), r.progress.Pending)
	c.touch(r)
	if r.status == api.RunQueued {
		r.status, r.startedAt = api.RunRunning, c.now
		if _, err := c.log(r, event{kind: "run.started", Status: string(r.status)}); err != nil {
			return nil, err
		}
	}
	return c.describe(r, q, rows)
}

// lease makes the quantum of a request: a new fence, and how long it lasts. Run is 0
// for a singular call.
func (c *change) lease(ask *claimQuanta, run int64, items []int, timeoutMs int64) (*quantum, error) {
	fence, err := c.Fence()
	if err != nil {
		return nil, fmt.Errorf("grant quantum: %w", err)
	}
	q := &quantum{
		id: quantumID{fence, run}, principal: c.Caller().Principal, asked: ask.kinds, pool: ask.pool,
		leaseMs: ask.lease(c.Settings()), node: ask.node, items: items,
	}
	q.deadline = c.now + int64(len(items))*timeoutMs + graceMs
	q.until = min(c.now+q.leaseMs, q.deadline)
	c.m.quanta[fence] = q
	c.m.polls.granted(q.principal)
	c.m.seen.pick(q.pool, q.asked, c.now, q.until)
	c.look(q.until)
	return q, nil
}

// describe tells the worker what it was granted.
func (c *change) describe(r *run, q *quantum, rows string) (*api.Quantum, error) {
	id := runID(&c.View, r.id, r.tenant)
	doc := q.document(&c.View)
	doc.Run, doc.Kind, doc.TimeoutMs = &id, r.kind, r.timeoutMs
	var shared string
	if _, err := c.QueryRow(sqlReadShared, []any{r.id}, &shared); err != nil {
		return nil, fmt.Errorf("read shared document: %w", err)
	}
	doc.Shared = []byte(shared)
	found, err := c.Query(sqlReadGranted, rows)
	if err != nil {
		return nil, fmt.Errorf("read granted items: %w", err)
	}
	defer found.Close()
	for found.Next() {
		var item api.QuantumItem
		var number, attempts int64
		var payload string
		if err := found.Scan(&number, &item.ID, &attempts, &payload); err != nil {
			return nil, fmt.Errorf("read granted item: %w", err)
		}
		item.InputIndex, item.AttemptCount, item.Payload = indexOf(number), int(attempts), []byte(payload)
		doc.Items = append(doc.Items, item)
	}
	return doc, found.Err()
}

// document is what all quanta have to say.
func (q *quantum) document(v *namespace.View) *api.Quantum {
	return &api.Quantum{
		ID: q.id.format(v, q.principal), Fence: q.id.fence, ExpiresAt: moment(q.until), TTLMs: q.until - millis(v.Now()),
	}
}

func (c *change) storeQuantum(q *quantum) error {
	items, err := namespace.Encode(q.items)
	if err != nil {
		return fmt.Errorf("encode items of quantum: %w", err)
	}
	_, err = c.Exec(sqlInsertQuantum, q.id.fence, q.id.run, q.principal, q.leaseMs, c.now, q.until, q.deadline, q.until,
		q.node, string(items))
	if err != nil {
		return fmt.Errorf("store quantum: %w", err)
	}
	return nil
}

// indexOf is the index of an item by its number.
func indexOf(number int64) int { return int(number & (1<<10 - 1)) }

// indexArray is the JSON array of the numbers of items.
func indexArray(run int64, items []int) (string, error) {
	numbers := make([]int64, len(items))
	for i, index := range items {
		numbers[i] = row(run, index)
	}
	array, err := namespace.Encode(numbers)
	if err != nil {
		return "", fmt.Errorf("encode item numbers: %w", err)
	}
	return string(array), nil
}
