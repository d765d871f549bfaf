package runs

// Admission.
const (
	sqlInsertRun = `INSERT INTO runs_run
		(tenant, kind, timeout_ms, max_attempts, items, cells, bytes, created_at, shared_sha, metadata, shared)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
	sqlInsertState  = `INSERT INTO runs_state (id, status, pending, waiting_since) VALUES (?, ?, ?, ?)`
	sqlInsertItem   = `INSERT INTO runs_item (id, payload) VALUES (?, ?)`
	sqlInsertWork   = `INSERT INTO runs_work (id, name, cost, status) VALUES (?, ?, ?, 'pending')`
	sqlPendingWork  = `SELECT ` + sqlWorkColumns + ` FROM runs_work WHERE id >= ? AND id < ? AND status = 'pending' ORDER BY id`
	sqlReadUsed     = `SELECT runs, items, cells, bytes FROM runs_tenant WHERE name = ?`
	sqlInsertRecord = `INSERT OR REPLACE INTO runs_record (principal, key, run, body_sha256, status, body) VALUES (?, ?, ?, ?, ?, ?)`
	sqlReadRecord   = `SELECT k.body_sha256, k.status, k.body, s.expires_at
		FROM runs_record k CROSS JOIN runs_state s ON s.id = k.run WHERE k.principal = ? AND k.key = ?`
)

// Reading.
const (
	sqlSelectRun = `SELECT ` + sqlRunColumns + `, r.metadata FROM runs_run r CROSS JOIN runs_state s ON s.id = r.id`
	sqlRunByID   = sqlSelectRun + ` WHERE r.id = ?`
	sqlRunsUp    = sqlSelectRun + ` WHERE r.tenant = ?1 AND r.id > ?2 AND r.id < ?3 ORDER BY r.id LIMIT ?4`
	sqlRunsDown  = sqlSelectRun + ` WHERE r.tenant = ?1 AND r.id > ?2 AND r.id < ?3 ORDER BY r.id DESC LIMIT ?4`

	sqlSelectItem = `SELECT w.id, w.name, w.status, w.attempts, w.ended, coalesce(o.result, ''), coalesce(o.error, '')
		FROM runs_work w LEFT JOIN runs_outcome o ON o.id = w.id`
	sqlItemsUp   = sqlSelectItem + ` WHERE w.id >= ?1 AND w.id < ?2 AND w.id > ?3 AND w.id < ?4 ORDER BY w.id LIMIT ?5`
	sqlItemsDown = sqlSelectItem + ` WHERE w.id >= ?1 AND w.id < ?2 AND w.id > ?3 AND w.id < ?4 ORDER BY w.id DESC LIMIT ?5`
	sqlResults   = sqlSelectItem + ` WHERE w.id >> 10 = ?1 AND w.ended > 0 AND w.ended > ?2 ORDER BY w.ended LIMIT ?3`
)

// Retention.
const (
	sqlExpired       = `SELECT id FROM runs_state WHERE ended_at > 0 AND expires_at <= ? ORDER BY expires_at LIMIT ?`
	sqlNextExpiry    = `SELECT min(expires_at) FROM runs_state WHERE ended_at > 0`
	sqlSweepOutcomes = `DELETE FROM runs_outcome WHERE id IN (SELECT id FROM runs_outcome WHERE id >= ? AND id < ? LIMIT ?)`
	sqlSweepItems    = `DELETE FROM runs_item WHERE id IN (SELECT id FROM runs_item WHERE id >= ? AND id < ? LIMIT ?)`
	sqlSweepWork     = `DELETE FROM runs_work WHERE id IN (SELECT id FROM runs_work WHERE id >= ? AND id < ? LIMIT ?)`
	sqlSweepRecords  = `DELETE FROM runs_record WHERE run = ?`
	sqlSweepState    = `DELETE FROM runs_state WHERE id = ?`
	sqlSweepRun      = `DELETE FROM runs_run WHERE id = ?`
)
