package runs

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// change is what one command has of its namespace: the turn, the class's memory,
// and what the command owes at its end. Its methods write rows that belong
// together, keep memory and scheduler in line, and append the events. A command
// looks before it changes: once it has changed anything it does not refuse.
type change struct {
	*namespace.Turn
	m   *memory
	now int64
	// touched are the runs whose state is to be written, and moved the tenants'.
	touched map[int64]*run
	moved   map[string]*tenant
	// freed counts, by topic, the quanta that can be cut from items that became
	// pending.
	freed map[string]int
}

func begin(t *namespace.Turn) *change {
	return &change{
		Turn: t, m: t.State().(*memory), now: millis(t.Now()),
		touched: map[int64]*run{}, moved: map[string]*tenant{}, freed: map[string]int{},
	}
}

// finish writes what was touched and signals what happened.
func (c *change) finish() error {
	c.tellAbandoned()
	for _, id := range slices.Sorted(maps.Keys(c.touched)) {
		if err := c.writeState(c.touched[id]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.moved)) {
		if err := c.writeTenant(c.moved[name]); err != nil {
			return err
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(c.freed)) {
		c.Signal(topic, c.freed[topic])
	}
	return nil
}

// touch notes that the run's row, and that of its tenant, must be written.
func (c *change) touch(r *run) {
	c.touched[r.id] = r
	c.move(c.m.tenants[r.tenant])
}

func (c *change) move(t *tenant) { c.moved[t.name] = t }

// offer tells workers that items of a kind became pending in a pool.
func (c *change) offer(pool, kind string, items int) {
	c.m.polls.offered()
	c.freed[workTopic(pool, kind)] += c.quantaOf(items)
}

// quantaOf is how many quanta items make if nothing but their number bounds them.
func (c *change) quantaOf(items int) int {
	size := c.Settings().QuantumItems
	return (items + size - 1) / size
}

// offerRest tells workers of what a quantum has left: one that was bounded by its cost,
// or by what its worker takes, leaves more quanta than were offered.
func (c *change) offerRest(kind string, granted, pending int) {
	if more := c.quantaOf(pending) - c.quantaOf(pending+granted) + 1; more > 0 && pending > 0 {
		c.freed[workTopic(api.PoolDurable, kind)] += more
	}
}

// tenantOf finds the caller's tenant, or makes it known. What it makes is written by
// finish.
func (c *change) tenantOf(name string) (*tenant, error) {
	if t := c.m.tenants[name]; t != nil {
		return t, nil
	}
	t := &tenant{name: name}
	if _, err := c.QueryRow(sqlInsertTenant, []any{name}, &t.id); err != nil {
		return nil, fmt.Errorf("store tenant: %w", err)
	}
	c.m.tenants[name] = t
	return t, nil
}

// log appends an event of the run and gives its number.
func (c *change) log(r *run, e event) (int64, error) {
	p := r.progress
	e.Progress = &p
	sequence, err := c.Append(streamOf(r.id), e.kind, e)
	if err != nil {
		return 0, err
	}
	r.events = sequence
	c.touch(r)
	return sequence, nil
}

// event is the body of an entry in the log.
type event struct {
	kind     string
	ItemID   string        `json:"item_id,omitempty"`
	Status   string        `json:"status,omitempty"`
	Progress *api.Progress `json:"progress,omitempty"`
}

// item is a row of runs_work.
type item struct {
	index    int
	name     string
	cost     int64
	status   api.ItemStatus
	attempts int
	fence    int64
	ended    int64
}

// row is the number of an item in every table.
func row(run int64, index int) int64 { return run<<10 | int64(index) }

// outcome is what came of an item: a result, or an error.
type outcome struct {
	result  []byte
	failure *api.Failure
}

// end ends an item that is pending or running. The scheduler is not told: whoever
// ends items tells it of all of them at once.
func (c *change) end(r *run, i *item, status api.ItemStatus, o outcome) error {
	r.uncount(i.status)
	i.status = status
	switch status {
	case api.ItemSucceeded:
		r.progress.Succeeded++
	case api.ItemFailed:
		r.progress.Failed++
	default:
		r.progress.Cancelled++
	}
	var err error
	if i.ended, err = c.log(r, event{kind: "item." + string(status), ItemID: i.name, Status: string(status)}); err != nil {
		return err
	}
	if _, err := c.Exec(sqlEndWork, row(r.id, i.index), string(status), i.fence, i.ended); err != nil {
		return fmt.Errorf("end item: %w", err)
	}
	return c.writeOutcome(r, i, o)
}

func (c *change) writeOutcome(r *run, i *item, o outcome) error {
	failure := ""
	if o.failure != nil {
		document, err := namespace.Encode(o.failure)
		if err != nil {
			return fmt.Errorf("encode item's error: %w", err)
		}
		failure = string(document)
	}
	if o.result == nil && failure == "" {
		return nil
	}
	if _, err := c.Exec(sqlInsertOutcome, row(r.id, i.index), string(o.result), failure); err != nil {
		return fmt.Errorf("store outcome: %w", err)
	}
	return nil
}

// back makes a running item pending again. The scheduler is not told; see end.
func (c *change) back(r *run, i *item) error {
	r.uncount(i.status)
	r.progress.Pending++
	i.status, i.fence = api.ItemPending, 0
	if _, err := c.Exec(sqlReturnWork, row(r.id, i.index)); err != nil {
		return fmt.Errorf("return item: %w", err)
	}
	_, err := c.log(r, event{kind: "item.returned", ItemID: i.name, Status: string(api.ItemPending)})
	return err
}

// inOrder are items by their index.
func inOrder(items map[string]*item) []*item {
	return slices.SortedFunc(maps.Values(items), func(a, b *item) int { return a.index - b.index })
}

// uncount takes an item out of the count of its status.
func (r *run) uncount(s api.ItemStatus) {
	if s == api.ItemPending {
		r.progress.Pending--
	} else {
		r.progress.Running--
	}
}

// conclude ends the run if nothing of it is left, and releases what it had
// reserved.
func (c *change) conclude(r *run) error {
	p := &r.progress
	if p.Pending+p.Running > 0 || r.status.Ended() {
		return nil
	}
	switch {
	case r.cancelling:
		r.status = api.RunCancelled
	case p.Succeeded == p.Total:
		r.status = api.RunCompleted
	case p.Succeeded == 0:
		r.status = api.RunFailed
	default:
		r.status = api.RunCompletedWithErrors
	}
	r.endedAt = c.now
	r.expiresAt = c.now + c.Settings().RetentionMs
	if _, err := c.log(r, event{kind: "run." + string(r.status), Status: string(r.status)}); err != nil {
		return err
	}
	t := c.m.tenants[r.tenant]
	t.used = minus(t.used, r.reserved())
	if s, ok := c.m.schedule.Run(r.id); ok {
		r.attained, r.waitingSince = s.Attained, s.Waiting
	}
	c.m.schedule.Forget(r.id)
	delete(c.m.runs, r.id)
	c.wakeBy(r.expiresAt)
	return nil
}

// reserved is what the run takes of its tenant's budgets until it has ended.
func (r *run) reserved() api.Budgets {
	return api.Budgets{Runs: 1, Items: int64(r.progress.Total), ResultCells: r.cells, InputBytes: r.bytes}
}

func plus(a, b api.Budgets) api.Budgets {
	return api.Budgets{
		Runs: a.Runs + b.Runs, Items: a.Items + b.Items,
		ResultCells: a.ResultCells + b.ResultCells, InputBytes: a.InputBytes + b.InputBytes,
	}
}

func minus(a, b api.Budgets) api.Budgets {
	return plus(a, api.Budgets{Runs: -b.Runs, Items: -b.Items, ResultCells: -b.ResultCells, InputBytes: -b.InputBytes})
}

// wakeBy sees to it that what falls due at the given time is looked at then.
func (c *change) wakeBy(at int64) { c.AlarmBy(moment(at)) }

// Topics of signals. Workers wait for work of a kind, or of any kind in a pool.
const workTopics = "work"

func workTopic(pool, kind string) string {
	return poolTopic(pool) + "/" + url.PathEscape(kind)
}

func poolTopic(pool string) string { return workTopics + "/" + pool }

// streamOf names the log of a run.
func streamOf(run int64) string { return strconv.FormatInt(run, 10) }
