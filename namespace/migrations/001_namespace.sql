-- The tables that every namespace has, whatever its classes.

CREATE TABLE ns_meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    incarnation TEXT    NOT NULL,             -- random: a later namespace of the same name has another
    secret      BLOB    NOT NULL,             -- signs ids that carry their own proof
    epoch       INTEGER NOT NULL CHECK (epoch >= 0),
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE ns_setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL                       -- JSON
) STRICT, WITHOUT ROWID;

-- Revoked keys stay, so that a principal remains in its tenant.
CREATE TABLE ns_key (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL,              -- SHA-256 of the secret
    principal  TEXT    NOT NULL,
    tenant     TEXT    NOT NULL,
    roles      TEXT    NOT NULL,              -- comma-separated
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX ns_key_principal ON ns_key (principal);

CREATE TABLE ns_alarm (
    class TEXT PRIMARY KEY,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ns_idempotency (
    principal   TEXT    NOT NULL,
    scope       TEXT    NOT NULL,             -- method and path
    key         TEXT    NOT NULL,
    body_sha256 BLOB    NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (principal, scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ns_idempotency_expiry ON ns_idempotency (expires_at);

CREATE TABLE ns_event (
    stream   TEXT    NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    type     TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT    NOT NULL,                -- JSON
    PRIMARY KEY (stream, sequence)
) STRICT, WITHOUT ROWID;
