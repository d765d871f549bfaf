package runs

const sqlWorkColumns = `id, name, cost, status, attempts, fence, ended`

// Quanta and the items in them. Parameters that name several items are JSON arrays
// of their numbers.
const (
	sqlGrantWork = `UPDATE runs_work SET status = 'running', attempts = attempts + 1, fence = ?2
		WHERE id IN (SELECT value FROM json_each(?1))`
	sqlReadGranted = `SELECT w.id, w.name, w.attempts, i.payload FROM json_each(?1) AS n
		CROSS JOIN runs_work AS w ON w.id = n.value CROSS JOIN runs_item AS i ON i.id = n.value ORDER BY w.id`
	sqlReadShared  = `SELECT shared FROM runs_run WHERE id = ?`
	sqlGrantedWork = `SELECT ` + sqlWorkColumns + ` FROM runs_work
		WHERE id IN (SELECT value FROM json_each(?1)) AND fence = ?2 ORDER BY id`
	sqlOpenWork = `SELECT ` + sqlWorkColumns + ` FROM runs_work
		WHERE id IN (SELECT value FROM json_each(?1)) AND fence = ?2 AND status = 'running' ORDER BY id`
	sqlWorkUnderFence = `SELECT ` + sqlWorkColumns + ` FROM runs_work WHERE id >= ? AND id < ? AND fence = ? ORDER BY id`
	sqlWorkByName     = `SELECT ` + sqlWorkColumns + ` FROM runs_work
		WHERE id >= ? AND id < ? AND name IN (SELECT value FROM json_each(?)) ORDER BY id`

	sqlInsertQuantum = `INSERT INTO runs_quantum
		(fence, run, principal, lease_ms, granted_at, lease_until, deadline, check_at, node, items)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlRenew          = `UPDATE runs_quantum SET lease_until = ?2, lease_ms = ?3 WHERE fence = ?1`
	sqlCheckQuantum   = `UPDATE runs_quantum SET check_at = ?2 WHERE fence = ?1`
	sqlShortenQuantum = `UPDATE runs_quantum SET lease_until = ?2, check_at = ?2, deadline = ?3 WHERE fence = ?1`
	sqlDueQuanta      = `SELECT fence FROM runs_quantum WHERE check_at <= ? ORDER BY check_at LIMIT ?`
	sqlNextCheck      = `SELECT min(check_at) FROM runs_quantum`
	sqlDeleteQuantum  = `DELETE FROM runs_quantum WHERE fence = ?`
	sqlReadMetadata   = `SELECT metadata FROM runs_run WHERE id = ?`
)
