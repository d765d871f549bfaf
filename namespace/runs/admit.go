package runs

import (
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// createRun admits a run.
type createRun struct {
	base string
	// parsed and invalid are what became of reading the body. An invalid one is
	// refused only by Apply, because the look for a stored answer comes first.
	parsed  *document
	invalid error
	// shared and payloads are what is stored of it, written before the writer is
	// asked for its turn.
	shared   []byte
	payloads [][]byte
}

func newCreateRun(base string, body []byte) *createRun {
	r := &createRun{base: base}
	if r.parsed, r.invalid = readDocument(body); r.invalid == nil {
		r.invalid = r.encode()
	}
	return r
}

func (a *createRun) encode() (err error) {
	if a.shared, err = a.parsed.shared(); err != nil {
		return err
	}
	a.payloads = make([][]byte, len(a.parsed.items))
	for i := range a.payloads {
		if a.payloads[i], err = a.parsed.payload(i); err != nil {
			return err
		}
	}
	if len(a.payloads) == 0 {
		a.payloads = [][]byte{[]byte("{}")} // of a kind that takes no items
	}
	return nil
}

// Recorded finds the run that an earlier request with the same key has made.
func (*createRun) Recorded(t *namespace.Turn) (namespace.Record, bool, error) {
	var record namespace.Record
	var sum []byte
	var status, expires int64
	found, err := t.QueryRow(sqlReadRecord, []any{t.Caller().Principal, t.Idempotency().Key}, &sum, &status, &record.Body, &expires)
	if err != nil || !found {
		return record, false, err
	}
	copy(record.BodySHA256[:], sum)
	record.Status = int(status)
	if expires > 0 {
		record.Expires = moment(expires)
	}
	return record, true, nil
}

// Apply stores the run with what it reserves, or nothing.
func (a *createRun) Apply(t *namespace.Turn) (namespace.Answer, error) {
	if a.invalid != nil {
		return namespace.Answer{}, a.invalid
	}
	c := begin(t)
	p, refused, err := planRun(a.parsed, c.Settings())
	if err == nil {
		err = refused
	}
	if err != nil {
		return namespace.Answer{}, err
	}
	name := c.Caller().Tenant
	var used api.Budgets
	if owner := c.m.tenants[name]; owner != nil {
		used = owner.used
	}
	if err := checkBudget(c.Settings().BudgetsOf(name), used, p.needs()); err != nil {
		return namespace.Answer{}, err
	}
	r, err := c.admit(a, p, name)
	if err != nil {
		return namespace.Answer{}, err
	}
	doc := r.document(&c.View, a.base, string(p.metadata))
	document, err := namespace.Encode(doc)
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("encode run: %w", err)
	}
	if err := c.storeRecord(r, document); err != nil {
		return namespace.Answer{}, err
	}
	answer := namespace.Answer{Status: http.StatusAccepted, Body: doc}
	return answer.WithEncoded(document), c.finish()
}

// admit stores a run and hands its items to the scheduler.
func (c *change) admit(a *createRun, p *plan, name string) (*run, error) {
	owner, err := c.tenantOf(name)
	if err != nil {
		return nil, err
	}
	r := &run{
		tenant: name, kind: p.kind, timeoutMs: timeoutOf(p.def), maxAttempts: attemptsOf(p.def), cells: p.cells,
		bytes: int64(p.size), createdAt: c.now, sharedSHA: sha256.Sum256(a.shared), status: api.RunQueued,
		progress: api.Progress{Total: p.count(), Pending: p.count()}, waitingSince: c.now,
	}
	_, err = c.QueryRow(sqlInsertRun, []any{
		r.tenant, r.kind, r.timeoutMs, r.maxAttempts, p.count(), r.cells, r.bytes, r.createdAt, r.sharedSHA[:],
		string(p.metadata), string(a.shared),
	}, &r.id)
	if err != nil {
		return nil, fmt.Errorf("store run: %w", err)
	}
	if _, err := c.Exec(sqlInsertState, r.id, string(r.status), r.progress.Pending, r.waitingSince); err != nil {
		return nil, fmt.Errorf("store run's state: %w", err)
	}
	if err := c.storeItems(r, p, a.payloads); err != nil {
		return nil, err
	}
	err = c.m.schedule.Admit(c.now, schedule.Run{ID: r.id, Tenant: r.tenant, Pool: api.PoolDurable, Kind: r.kind, Costs: p.cost})
	if err != nil {
		return nil, fmt.Errorf("schedule run: %w", err)
	}
	c.m.runs[r.id] = r
	owner.used = plus(owner.used, r.reserved())
	if _, err := c.log(r, event{kind: "run.queued", Status: string(r.status)}); err != nil {
		return nil, err
	}
	c.offer(api.PoolDurable, r.kind, p.count())
	return r, nil
}

func (c *change) storeItems(r *run, p *plan, payloads [][]byte) error {
	for i, payload := range payloads {
		if _, err := c.Exec(sqlInsertItem, row(r.id, i), string(payload)); err != nil {
			return fmt.Errorf("store item: %w", err)
		}
		if _, err := c.Exec(sqlInsertWork, row(r.id, i), p.names[i], p.cost[i]); err != nil {
			return fmt.Errorf("store item's state: %w", err)
		}
	}
	return nil
}

// storeRecord remembers the answer for the request's key. It replaces a record that
// has expired with its run.
func (c *change) storeRecord(r *run, document []byte) error {
	idem := c.Idempotency()
	if idem.Key == "" {
		return nil
	}
	_, err := c.Exec(sqlInsertRecord, c.Caller().Principal, idem.Key, r.id, idem.BodySHA256[:], http.StatusAccepted, document)
	if err != nil {
		return fmt.Errorf("store idempotency record: %w", err)
	}
	return nil
}
