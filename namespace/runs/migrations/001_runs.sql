-- Times are milliseconds since 1970 in UTC. In columns that are NOT NULL, 0 and
-- '' stand for none: they take no more room than NULL would.
--
-- Items are numbered run * 1024 + index in every table, so that those of a run lie
-- together and need no index.

-- What was asked for. Rows are wide and never updated. AUTOINCREMENT, because the
-- number of a run that retention removed must not be used again. shared stands
-- last, so that reading the rest follows no overflow.
CREATE TABLE runs_run (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant       TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    timeout_ms   INTEGER NOT NULL CHECK (timeout_ms > 0),
    max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
    items        INTEGER NOT NULL CHECK (items BETWEEN 1 AND 1000),
    cells        INTEGER NOT NULL CHECK (cells >= 0),
    bytes        INTEGER NOT NULL CHECK (bytes >= 0),
    created_at   INTEGER NOT NULL,
    shared_sha   BLOB    NOT NULL CHECK (length(shared_sha) = 32),
    metadata     TEXT    NOT NULL,
    shared       TEXT    NOT NULL
) STRICT;
CREATE INDEX runs_run_tenant ON runs_run (tenant);

-- How each run stands: narrow, because these rows change. events is the number of
-- its last event, waiting_since when it was admitted or picked last. What has not
-- ended does not expire, so expires_at is that of runs that have.
CREATE TABLE runs_state (
    id            INTEGER PRIMARY KEY,
    status        TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'completed_with_errors', 'failed', 'cancelled')),
    cancelling    INTEGER NOT NULL DEFAULT 0 CHECK (cancelling IN (0, 1)),
    pending       INTEGER NOT NULL CHECK (pending >= 0),
    running       INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
    succeeded     INTEGER NOT NULL DEFAULT 0 CHECK (succeeded >= 0),
    failed        INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
    cancelled     INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
    attained      INTEGER NOT NULL DEFAULT 0 CHECK (attained >= 0),
    waiting_since INTEGER NOT NULL,
    events        INTEGER NOT NULL DEFAULT 0,
    started_at    INTEGER NOT NULL DEFAULT 0,
    ended_at      INTEGER NOT NULL DEFAULT 0,
    expires_at    INTEGER NOT NULL DEFAULT 0,
    CHECK ((status IN ('queued', 'running')) = (ended_at = 0)),
    CHECK (ended_at = 0 OR pending + running = 0),
    CHECK ((ended_at = 0) = (expires_at = 0))
) STRICT;
CREATE INDEX runs_state_active ON runs_state (id) WHERE ended_at = 0;
CREATE INDEX runs_state_expiry ON runs_state (expires_at) WHERE ended_at > 0;

-- What each item brings. Never updated.
CREATE TABLE runs_item (
    id      INTEGER PRIMARY KEY,
    payload TEXT NOT NULL
) STRICT;

-- How each item stands. fence is that of its newest grant, 0 if nobody may report
-- on it any more; ended is the number of the event of its end.
CREATE TABLE runs_work (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL,
    cost     INTEGER NOT NULL CHECK (cost >= 0),
    status   TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    fence    INTEGER NOT NULL DEFAULT 0,
    ended    INTEGER NOT NULL DEFAULT 0,
    CHECK ((status IN ('pending', 'running')) = (ended = 0)),
    CHECK (status <> 'running' OR (fence > 0 AND attempts > 0)),
    CHECK (status <> 'pending' OR fence = 0)
) STRICT;
CREATE INDEX runs_work_ended ON runs_work (id >> 10, ended) WHERE ended > 0;

-- What came of items that have ended: a JSON document in one of the two.
CREATE TABLE runs_outcome (
    id     INTEGER PRIMARY KEY,
    result TEXT NOT NULL,
    error  TEXT NOT NULL
) STRICT;

-- The quanta that workers hold. lease_until moves with every heartbeat and stands
-- in no index; check_at, which is never later, is when to look at it. items is the
-- JSON array of the indexes granted. node names the process whose own handlers hold
-- it, which ends with that; '' is a worker elsewhere.
CREATE TABLE runs_quantum (
    fence       INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL,
    principal   TEXT    NOT NULL,
    lease_ms    INTEGER NOT NULL,
    granted_at  INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    deadline    INTEGER NOT NULL,
    check_at    INTEGER NOT NULL,
    node        TEXT    NOT NULL,
    items       TEXT    NOT NULL
) STRICT;
CREATE INDEX runs_quantum_check ON runs_quantum (check_at);

-- Tenants in order of first arrival: what the scheduler knows of each, and what its
-- runs in flight have reserved.
CREATE TABLE runs_tenant (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    attained INTEGER NOT NULL DEFAULT 0 CHECK (attained >= 0),
    picks    INTEGER NOT NULL DEFAULT 0,
    runs     INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0),
    items    INTEGER NOT NULL DEFAULT 0 CHECK (items >= 0),
    cells    INTEGER NOT NULL DEFAULT 0 CHECK (cells >= 0),
    bytes    INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0)
) STRICT;

-- The answers to the requests that made runs, kept as long as the runs.
CREATE TABLE runs_record (
    principal   TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    run         INTEGER NOT NULL,
    body_sha256 BLOB    NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB    NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_record_run ON runs_record (run);
