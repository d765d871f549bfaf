package claims

import "strings"

// The columns that verb.scan reads, in its order.
const (
	sqlStateColumns = `s.id, s.kind, s.state, s.missing, s.until, s.attempts, s.fence, s.principal,
		s.granted_at, s.lease_ms, s.span_ms, s.lease_until, s.over, s.receipt, s.ended_at, s.failure,
		v.artifact, v.brief_version, v.grp, v.attempt, v.max_attempts, v.inputs, v.lease_ms, v.not_before, v.created_at`
	sqlVerbTables = ` FROM claims_state s JOIN claims_verb v ON v.id = s.id `
	// sqlSelectVerb reads whole verbs, sqlSelectHeld what the commands on a
	// claim need: a brief may be large.
	sqlSelectVerb = `SELECT ` + sqlStateColumns + `, v.brief, v.metadata` + sqlVerbTables
	sqlSelectHeld = `SELECT ` + sqlStateColumns + `, '', ''` + sqlVerbTables
)

// Nouns.
const (
	sqlNounColumns = `n.id, n.key, n.version, n.media_type, n.digest, n.size, n.created_at, n.uri`

	sqlInsertNoun = `INSERT INTO claims_noun (key, version, media_type, digest, size, created_at, uri, body)
		VALUES (?1, 1 + coalesce((SELECT version FROM claims_noun WHERE key = ?1 ORDER BY version DESC LIMIT 1), 0),
			?2, ?3, ?4, ?5, ?6, ?7)
		RETURNING id, version`
	sqlNewestNoun  = `SELECT ` + sqlNounColumns + ` FROM claims_noun n WHERE n.key = ? ORDER BY n.version DESC LIMIT 1`
	sqlNounVersion = `SELECT ` + sqlNounColumns + ` FROM claims_noun n WHERE n.key = ? AND n.version = ?`
	sqlNounBody    = `SELECT body FROM claims_noun WHERE id = ?`

	sqlNounVersions     = `SELECT ` + sqlNounColumns + ` FROM claims_noun n WHERE n.key = ?1 AND n.version > ?2 ORDER BY n.version LIMIT ?3`
	sqlNounVersionsDesc = `SELECT ` + sqlNounColumns + ` FROM claims_noun n WHERE n.key = ?1 AND n.version < ?2 ORDER BY n.version DESC LIMIT ?3`
	// Lists go by creation, so the index on the key must not be used.
	sqlListNouns = `SELECT ` + sqlNounColumns + ` FROM claims_noun n NOT INDEXED
		WHERE n.id > ?1 AND n.id <= ?2 AND n.key >= ?3 AND (?4 = '' OR n.key < ?4) ORDER BY n.id LIMIT ?5`
	sqlListNounsDesc = `SELECT ` + sqlNounColumns + ` FROM claims_noun n NOT INDEXED
		WHERE n.id < ?1 AND n.id >= ?2 AND n.key >= ?3 AND (?4 = '' OR n.key < ?4) ORDER BY n.id DESC LIMIT ?5`
	sqlNounAfter  = `SELECT id FROM claims_noun WHERE id > ? ORDER BY id LIMIT 1`
	sqlNounBefore = `SELECT id FROM claims_noun WHERE id < ? ORDER BY id DESC LIMIT 1`
)

// Verbs and groups.
const (
	sqlInsertGroup = `INSERT INTO claims_group (size) VALUES (?) RETURNING id`
	sqlReadGroup   = `SELECT size, ended, succeeded FROM claims_group WHERE id = ?`
	sqlCountEnd    = `UPDATE claims_group SET ended = ended + 1, succeeded = succeeded + ?2 WHERE id = ?1
		RETURNING size, ended, succeeded`
	sqlUncountEnd        = `UPDATE claims_group SET ended = ended - 1 WHERE id = ?`
	sqlInsertAlternative = `INSERT INTO claims_alternative (grp, attempt, noun) VALUES (?, ?, ?)`
	sqlReadAttempts      = `SELECT attempt FROM claims_alternative WHERE grp = ?`
	sqlReadAlternatives  = `SELECT a.attempt, ` + sqlNounColumns + `
		FROM claims_alternative a JOIN claims_noun n ON n.id = a.noun WHERE a.grp = ? ORDER BY a.attempt`

	sqlInsertVerb = `INSERT INTO claims_verb (kind, artifact, brief_version, grp, attempt, max_attempts, inputs,
			lease_ms, not_before, created_at, metadata, brief)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
	sqlInsertState = `INSERT INTO claims_state (id, kind, state, missing, until, ended_at, failure) VALUES (?, ?, ?, ?, ?, ?, ?)`

	sqlListVerbs = sqlSelectVerb + `WHERE s.id > ?1 AND s.id <= ?2 AND (?3 = '' OR s.state = ?3) AND (?4 = '' OR s.kind = ?4)
		ORDER BY s.id LIMIT ?5`
	sqlListVerbsDesc = sqlSelectVerb + `WHERE s.id < ?1 AND s.id >= ?2 AND (?3 = '' OR s.state = ?3) AND (?4 = '' OR s.kind = ?4)
		ORDER BY s.id DESC LIMIT ?5`
	// CROSS JOIN keeps the order of the tables: a group is found by its index.
	sqlSelectOfGroup = `SELECT ` + sqlStateColumns + `, v.brief, v.metadata
		FROM claims_verb v CROSS JOIN claims_state s ON s.id = v.id
		WHERE v.grp = ?1 AND v.grp <> 0 AND (?3 = '' OR s.state = ?3) AND (?4 = '' OR s.kind = ?4) `
	sqlListGroup     = sqlSelectOfGroup + `AND v.id > ?2 ORDER BY v.id LIMIT ?5`
	sqlListGroupDesc = sqlSelectOfGroup + `AND v.id < ?2 ORDER BY v.id DESC LIMIT ?5`
	sqlVerbAfter     = `SELECT id FROM claims_state WHERE id > ? ORDER BY id LIMIT 1`
	sqlVerbBefore    = `SELECT id FROM claims_state WHERE id < ? ORDER BY id DESC LIMIT 1`

	// sqlCountAhead counts the ready verbs of a kind from one on and before
	// another, up to a limit.
	sqlCountAhead = `SELECT count(*) FROM (SELECT 1 FROM claims_state
		WHERE state = 'ready' AND kind = ?1 AND id >= ?2 AND id < ?3 LIMIT ?4)`
	sqlMakers = `SELECT v.id, s.state FROM claims_verb v JOIN claims_state s ON s.id = v.id
		WHERE v.artifact = ? ORDER BY v.id DESC LIMIT ?`
)

// Inputs.
const (
	sqlInsertInput = `INSERT INTO claims_input (verb, position, key, want, grp, min, waiting, noun, mask)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlReadInputs = `SELECT i.key, i.want, i.grp, i.min, i.waiting, i.noun, i.mask FROM claims_input i
		WHERE i.verb = ? ORDER BY i.position`
	sqlReadNoun       = `SELECT ` + sqlNounColumns + ` FROM claims_noun n WHERE n.id = ?`
	sqlWaitingForNoun = `SELECT verb, position FROM claims_input
		WHERE key = ?1 AND waiting = 1 AND grp = 0 AND (want = 0 OR want = ?2) ORDER BY verb, position`
	sqlWaitingForGroup = `SELECT verb, position, min FROM claims_input
		WHERE grp = ? AND waiting = 1 AND grp <> 0 ORDER BY verb, position`
	sqlFixInput   = `UPDATE claims_input SET waiting = 0, noun = ?3, mask = ?4 WHERE verb = ?1 AND position = ?2`
	sqlStopInputs = `UPDATE claims_input SET waiting = 0 WHERE verb = ? AND waiting = 1`
	sqlDropInputs = `DELETE FROM claims_input WHERE verb = ?`
)

// The life of a verb.
const (
	sqlVerbState = `UPDATE claims_state SET state = ?2, missing = ?3, until = ?4, attempts = ?5, over = ?6 WHERE id = ?1`
	sqlEndVerb   = `UPDATE claims_state SET state = ?2, missing = 0, attempts = ?3, over = ?4, receipt = ?5,
		ended_at = ?6, failure = ?7 WHERE id = ?1`
	sqlRequeue = `UPDATE claims_state SET state = ?2, missing = ?3, until = ?4, attempts = 0, fence = ?5, over = '',
		ended_at = ?6, failure = ?7 WHERE id = ?1`
	sqlRenew   = `UPDATE claims_state SET lease_until = ?2, span_ms = ?3 WHERE id = ?1`
	sqlGrantTo = `UPDATE claims_state SET state = 'leased', until = 0, over = '', fence = ?2, principal = ?3, granted_at = ?4,
		lease_ms = ?5, span_ms = ?5, lease_until = ?6, check_at = ?6 WHERE id = ?1`

	sqlHandBack   = `INSERT INTO claims_over (verb, fence) VALUES (?, ?)`
	sqlHandedBack = `SELECT 1 FROM claims_over WHERE verb = ? AND fence = ?`

	sqlReadyKind = `SELECT kind, id FROM claims_state WHERE state = 'ready' AND kind > ? ORDER BY kind, id LIMIT 1`
	sqlShelf     = sqlSelectVerb + `WHERE s.state = 'ready' AND s.kind = ? AND s.id > ? ORDER BY s.id LIMIT ?`

	sqlLeases = sqlSelectVerb + `WHERE s.state = 'leased' AND s.principal = ?1 AND s.lease_until > ?2 AND s.fence > ?3
		ORDER BY s.fence LIMIT ?4`
	sqlLeasesDesc = sqlSelectVerb + `WHERE s.state = 'leased' AND s.principal = ?1 AND s.lease_until > ?2 AND s.fence < ?3
		ORDER BY s.fence DESC LIMIT ?4`
	sqlAnonymousLeases = `SELECT count(*), coalesce(min(lease_until), 0) FROM claims_state
		WHERE state = 'leased' AND principal = 'anonymous' AND lease_until > ?`
)

// What falls due.
const (
	sqlDueLeases = sqlSelectHeld + `WHERE s.state = 'leased' AND s.check_at <= ? ORDER BY s.check_at LIMIT ?`
	sqlCheckAt   = `UPDATE claims_state SET check_at = ?2 WHERE id = ?1`
	sqlDueGates  = sqlSelectHeld + `WHERE s.state = 'blocked' AND s.missing = 0 AND s.until <= ? ORDER BY s.until LIMIT ?`
	sqlNextCheck = `SELECT check_at FROM claims_state WHERE state = 'leased' ORDER BY check_at LIMIT 1`
	sqlNextGate  = `SELECT until FROM claims_state WHERE state = 'blocked' AND missing = 0 ORDER BY until LIMIT 1`
	// sqlCutLeases takes from every lease what it has beyond its own length: the
	// wall clock was set back while the namespace was closed.
	sqlCutLeases = `UPDATE claims_state
		SET lease_until = min(lease_until, ?1 + span_ms), check_at = min(check_at, ?1 + span_ms), granted_at = min(granted_at, ?1)
		WHERE state = 'leased' AND (lease_until > ?1 + span_ms OR check_at > ?1 + span_ms OR granted_at > ?1)`
)

// Receipts and retention.
const (
	sqlLastReceipt   = `SELECT sequence FROM claims_receipt ORDER BY sequence DESC LIMIT 1`
	sqlInsertReceipt = `INSERT INTO claims_receipt (sequence, verb, fence, submitted_at, idem_key, idem_sha, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlReadReceipt      = `SELECT sequence, doc FROM claims_receipt WHERE sequence = ?`
	sqlListReceipts     = `SELECT sequence, doc FROM claims_receipt WHERE sequence > ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3`
	sqlListReceiptsDesc = `SELECT sequence, doc FROM claims_receipt WHERE sequence < ?1 AND sequence > ?2 ORDER BY sequence DESC LIMIT ?3`
	sqlReceiptOf        = `SELECT receipt FROM claims_state WHERE id = ?`
	sqlSweptReceiptOf   = `SELECT receipt FROM claims_swept WHERE verb = ?`
	sqlReadRecord       = `SELECT fence, submitted_at, idem_key, idem_sha, doc FROM claims_receipt WHERE sequence = ?`

	sqlRetentionMark = `SELECT receipt FROM claims_retention`
	sqlMoveMark      = `UPDATE claims_retention SET receipt = ?`
	sqlNextReceipts  = `SELECT sequence, verb, submitted_at FROM claims_receipt WHERE sequence > ? ORDER BY sequence LIMIT ?`
	sqlNextReceipt   = `SELECT submitted_at FROM claims_receipt WHERE sequence > ? ORDER BY sequence LIMIT 1`
	sqlOldUnmade     = `SELECT id FROM claims_state WHERE state IN ('failed', 'cancelled') AND ended_at <= ? ORDER BY ended_at LIMIT ?`
	sqlNextUnmade    = `SELECT ended_at FROM claims_state WHERE state IN ('failed', 'cancelled') ORDER BY ended_at LIMIT 1`
	sqlSwept         = `INSERT INTO claims_swept (verb, receipt) VALUES (?, ?)`
	sqlDropState     = `DELETE FROM claims_state WHERE id = ?`
	sqlDropVerb      = `DELETE FROM claims_verb WHERE id = ?`
	sqlDropOver      = `DELETE FROM claims_over WHERE verb = ?`
)

const (
	// Up to smallGrant rows are cheaper to grant one by one; more go in one
	// statement for a power of two of rows, of which there are few, so that each
	// is prepared once. largestGrant bounds its arguments.
	smallGrant   = 6
	largestGrant = 256
)

// sqlGrant is the statement that leases up to n verbs at once: the time, and then
// for each row its verb, fence, principal, length and end of the lease. A row
// whose verb is NULL grants nothing.
func sqlGrant(n int) string {
	return `UPDATE claims_state SET state = 'leased', until = 0, over = '', fence = g.column2, principal = g.column3, granted_at = ?,
		lease_ms = g.column4, span_ms = g.column4, lease_until = g.column5, check_at = g.column5
		FROM (VALUES ` + strings.Repeat(`(?, ?, ?, ?, ?), `, n-1) + `(?, ?, ?, ?, ?)) AS g
		WHERE claims_state.id = g.column1`
}

// grantStatements holds sqlGrant(8), sqlGrant(16) … sqlGrant(largestGrant).
var grantStatements = [...]string{
	sqlGrant(8), sqlGrant(16), sqlGrant(32), sqlGrant(64), sqlGrant(128), sqlGrant(largestGrant),
}
