package runs

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// writeState stores how a run stands.
func (c *change) writeState(r *run) error {
	if s, ok := c.m.schedule.Run(r.id); ok {
		r.attained, r.waitingSince = s.Attained, s.Waiting
	}
	p := r.progress
	_, err := c.Exec(sqlWriteState, r.id, string(r.status), r.cancelling, p.Pending, p.Running, p.Succeeded, p.Failed,
		p.Cancelled, r.attained, r.waitingSince, r.events, r.startedAt, r.endedAt, r.expiresAt)
	if err != nil {
		return fmt.Errorf("store run's state: %w", err)
	}
	return nil
}

func (c *change) writeTenant(t *tenant) error {
	var s schedule.TenantState
	if known, ok := c.m.schedule.Tenant(t.name); ok {
		s = known
	}
	u := t.used
	_, err := c.Exec(sqlWriteTenant, t.id, s.Attained, int64(s.Picks), u.Runs, u.Items, u.ResultCells, u.InputBytes)
	if err != nil {
		return fmt.Errorf("store tenant's state: %w", err)
	}
	return nil
}

// scanRun reads a row of sqlSelectRun, and what stands behind its columns into more.
func scanRun(rows *namespace.Rows, more ...any) (*run, error) {
	r := &run{}
	var status string
	var sum []byte
	var maxAttempts, total, pending, running, succeeded, failed, cancelled int64
	dest := []any{
		&r.id, &r.tenant, &r.kind, &r.timeoutMs, &maxAttempts, &total, &r.cells, &r.bytes, &r.createdAt, &sum,
		&status, &r.cancelling, &pending, &running, &succeeded, &failed, &cancelled,
		&r.attained, &r.waitingSince, &r.events, &r.startedAt, &r.endedAt, &r.expiresAt,
	}
	if err := rows.Scan(append(dest, more...)...); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	r.maxAttempts, r.status = int(maxAttempts), api.RunStatus(status)
	copy(r.sharedSHA[:], sum)
	r.progress = api.Progress{
		Total: int(total), Pending: int(pending), Running: int(running),
		Succeeded: int(succeeded), Failed: int(failed), Cancelled: int(cancelled),
	}
	return r, nil
}

func (m *memory) loadTenants(v *namespace.View) error {
	rows, err := v.Query(sqlReadTenants)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		t := &tenant{}
		var attained, picks int64
		u := &t.used
		if err := rows.Scan(&t.id, &t.name, &attained, &picks, &u.Runs, &u.Items, &u.ResultCells, &u.InputBytes); err != nil {
			return err
		}
		m.tenants[t.name] = t
		if err := m.schedule.RestoreTenant(schedule.RestoredTenant{Name: t.name, Attained: attained, Picks: uint64(picks)}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (m *memory) loadRuns(v *namespace.View) error {
	rows, err := v.Query(sqlActiveRuns)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return err
		}
		m.runs[r.id] = r
		if err := m.loadItems(v, r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// loadItems gives a run to the scheduler as it stands.
func (m *memory) loadItems(v *namespace.View, r *run) error {
	restored := schedule.RestoredRun{
		Run:      schedule.Run{ID: r.id, Tenant: r.tenant, Pool: api.PoolDurable, Kind: r.kind, Costs: make([]int64, 0, r.progress.Total)},
		Attained: r.attained, Waiting: r.waitingSince, Cancelled: r.cancelling,
	}
	rows, err := v.Query(sqlCostsOf, row(r.id, 0), row(r.id+1, 0))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var cost int64
		var status string
		if err := rows.Scan(&cost, &status); err != nil {
			return err
		}
		switch api.ItemStatus(status) {
		case api.ItemPending:
			restored.Pending = append(restored.Pending, len(restored.Costs))
		case api.ItemRunning:
			restored.Granted = append(restored.Granted, len(restored.Costs))
		case api.ItemSucceeded, api.ItemFailed, api.ItemCancelled:
		}
		restored.Costs = append(restored.Costs, cost)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return m.schedule.RestoreRun(restored)
}

func (m *memory) loadQuanta(v *namespace.View) error {
	rows, err := v.Query(sqlReadQuanta)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		q, err := m.scanQuantum(rows.Scan)
		if err != nil {
			return err
		}
		m.quanta[q.id.fence] = q
	}
	return rows.Err()
}
