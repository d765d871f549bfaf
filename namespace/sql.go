package namespace

import "embed"

//go:embed migrations/*.sql
var migrations embed.FS

// The statements of the tables that every namespace has.
const (
	sqlCreateMeta = `INSERT INTO ns_meta (id, incarnation, secret, epoch, created_at) VALUES (1, ?, ?, 0, ?)`
	sqlRaiseEpoch = `UPDATE ns_meta SET epoch = epoch + 1 RETURNING epoch`
	sqlReadEpoch  = `SELECT epoch FROM ns_meta`
	sqlReadMeta   = `SELECT incarnation, secret, epoch, created_at FROM ns_meta`

	sqlReadSettings  = `SELECT name, value FROM ns_setting ORDER BY name`
	sqlReadSetting   = `SELECT value FROM ns_setting WHERE name = ?`
	sqlWriteSetting  = `INSERT INTO ns_setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
	sqlDeleteSetting = `DELETE FROM ns_setting WHERE name = ?`

	sqlReadKeys = `SELECT id, hash, principal, tenant, roles, created_at FROM ns_key WHERE revoked_at IS NULL ORDER BY id`
	sqlTenantOf = `SELECT tenant FROM ns_key WHERE principal = ? ORDER BY id LIMIT 1`
	sqlWriteKey = `INSERT INTO ns_key (hash, principal, tenant, roles, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id`
	sqlRevoke   = `UPDATE ns_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`
	sqlListKeys = `SELECT id, principal, tenant, roles, created_at FROM ns_key
		WHERE revoked_at IS NULL AND id > ? ORDER BY id LIMIT ?`
	sqlListKeysDesc = `SELECT id, principal, tenant, roles, created_at FROM ns_key
		WHERE revoked_at IS NULL AND (id < ? OR ? = 0) ORDER BY id DESC LIMIT ?`

	sqlReadAlarms  = `SELECT class, at FROM ns_alarm`
	sqlWriteAlarm  = `INSERT INTO ns_alarm (class, at) VALUES (?, ?) ON CONFLICT (class) DO UPDATE SET at = excluded.at`
	sqlDeleteAlarm = `DELETE FROM ns_alarm WHERE class = ?`

	sqlReadRecord = `SELECT body_sha256, status, body, expires_at FROM ns_idempotency
		WHERE principal = ? AND scope = ? AND key = ?`
	sqlWriteRecord = `INSERT INTO ns_idempotency (principal, scope, key, body_sha256, status, body, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (principal, scope, key) DO UPDATE SET
			body_sha256 = excluded.body_sha256, status = excluded.status, body = excluded.body, expires_at = excluded.expires_at`
	sqlSweepRecords = `DELETE FROM ns_idempotency WHERE (principal, scope, key) IN
		(SELECT principal, scope, key FROM ns_idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`
	sqlNextExpiry = `SELECT min(expires_at) FROM ns_idempotency`

	sqlAppendEvent = `INSERT INTO ns_event (stream, sequence, type, at, body)
		VALUES (?1, (SELECT coalesce(max(sequence), 0) + 1 FROM ns_event WHERE stream = ?1), ?2, ?3, ?4) RETURNING sequence`
	sqlReadEvents = `SELECT sequence, type, at, body FROM ns_event WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?`
	sqlTrimEvents = `DELETE FROM ns_event WHERE stream = ?1 AND sequence IN
		(SELECT sequence FROM ns_event WHERE stream = ?1 ORDER BY sequence LIMIT ?2)`
)
