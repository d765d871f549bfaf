package runs

// All SQL of the class stands here. Statements over many rows walk a primary key or
// an index and are bounded.

const sqlRunColumns = `r.id, r.tenant, r.kind, r.timeout_ms, r.max_attempts, r.items, r.cells, r.bytes, r.created_at, r.shared_sha,
	s.status, s.cancelling, s.pending, s.running, s.succeeded, s.failed, s.cancelled,
	s.attained, s.waiting_since, s.events, s.started_at, s.ended_at, s.expires_at`

// State of what has not ended.
const (
	sqlReadTenants = `SELECT id, name, attained, picks, runs, items, cells, bytes FROM runs_tenant ORDER BY id`
	sqlActiveRuns  = `SELECT ` + sqlRunColumns + ` FROM runs_state s CROSS JOIN runs_run r ON r.id = s.id WHERE s.ended_at = 0 ORDER BY s.id`
	sqlCostsOf     = `SELECT cost, status FROM runs_work WHERE id >= ? AND id < ? ORDER BY id`
	sqlReadQuanta  = `SELECT fence, run, principal, lease_ms, lease_until, deadline, node, items FROM runs_quantum ORDER BY fence`

	sqlInsertTenant = `INSERT INTO runs_tenant (name) VALUES (?) RETURNING id`
	sqlWriteTenant  = `UPDATE runs_tenant SET attained = ?2, picks = ?3, runs = ?4, items = ?5, cells = ?6, bytes = ?7 WHERE id = ?1`
	sqlWriteState   = `UPDATE runs_state SET status = ?2, cancelling = ?3, pending = ?4, running = ?5, succeeded = ?6, failed = ?7,
		cancelled = ?8, attained = ?9, waiting_since = ?10, events = ?11, started_at = ?12, ended_at = ?13, expires_at = ?14 WHERE id = ?1`
)

// The life of an item.
const (
	sqlEndWork       = `UPDATE runs_work SET status = ?2, fence = ?3, ended = ?4 WHERE id = ?1`
	sqlReturnWork    = `UPDATE runs_work SET status = 'pending', fence = 0 WHERE id = ?`
	sqlInsertOutcome = `INSERT INTO runs_outcome (id, result, error) VALUES (?, ?, ?)`
)
