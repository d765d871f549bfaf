-- Times are milliseconds since 1970 in UTC. In columns that are NOT NULL, 0 and
-- '' stand for none: they take no more room than NULL would.

-- A noun's version never changes: rows are only inserted. id is the order of
-- creation. The body stands last, so that reading the rest follows no overflow.
CREATE TABLE claims_noun (
    id         INTEGER PRIMARY KEY,
    key        TEXT    NOT NULL,
    version    INTEGER NOT NULL CHECK (version >= 1),
    media_type TEXT    NOT NULL,
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    size       INTEGER NOT NULL CHECK (size >= 0),
    created_at INTEGER NOT NULL,
    uri        TEXT    NOT NULL DEFAULT '',
    body       BLOB,
    UNIQUE (key, version)
) STRICT;

-- ended and succeeded count attempts, so that the end of one tells at once what
-- has become of the group.
CREATE TABLE claims_group (
    id        INTEGER PRIMARY KEY,
    size      INTEGER NOT NULL CHECK (size BETWEEN 1 AND 64),
    ended     INTEGER NOT NULL DEFAULT 0 CHECK (ended BETWEEN 0 AND size),
    succeeded INTEGER NOT NULL DEFAULT 0 CHECK (succeeded BETWEEN 0 AND ended)
) STRICT;

-- What a group's attempts have produced, kept as long as the nouns themselves.
CREATE TABLE claims_alternative (
    grp     INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    noun    INTEGER NOT NULL,
    PRIMARY KEY (grp, attempt)
) STRICT, WITHOUT ROWID;

-- What was asked for. Rows are wide and never updated. AUTOINCREMENT, because
-- the number of a verb that retention removed must not be used again.
CREATE TABLE claims_verb (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    kind          TEXT    NOT NULL,
    artifact      TEXT    NOT NULL,
    brief_version TEXT    NOT NULL,
    grp           INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    max_attempts  INTEGER NOT NULL,
    inputs        INTEGER NOT NULL,
    lease_ms      INTEGER NOT NULL,
    not_before    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    metadata      TEXT    NOT NULL,
    brief         TEXT    NOT NULL
) STRICT;
CREATE INDEX claims_verb_group ON claims_verb (grp) WHERE grp <> 0;
CREATE INDEX claims_verb_artifact ON claims_verb (artifact);

-- How each verb stands: narrow, because these rows change and each changed page
-- is written with its commit. lease_until moves with every heartbeat and so
-- stands in no index; check_at, which is never later, is when to look at it.
-- The fence, the principal and the times are those of the last claim, and over
-- is how it ended.
CREATE TABLE claims_state (
    id          INTEGER PRIMARY KEY,
    kind        TEXT    NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('blocked', 'ready', 'leased', 'succeeded', 'failed', 'cancelled')),
    missing     INTEGER NOT NULL DEFAULT 0 CHECK (missing >= 0),
    until       INTEGER NOT NULL DEFAULT 0,
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    fence       INTEGER NOT NULL DEFAULT 0,
    principal   TEXT    NOT NULL DEFAULT '',
    granted_at  INTEGER NOT NULL DEFAULT 0,
    lease_ms    INTEGER NOT NULL DEFAULT 0,
    span_ms     INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0,
    check_at    INTEGER NOT NULL DEFAULT 0,
    over        TEXT    NOT NULL DEFAULT '' CHECK (over IN ('', 'expired', 'released', 'failed', 'submitted')),
    receipt     INTEGER NOT NULL DEFAULT 0,
    ended_at    INTEGER NOT NULL DEFAULT 0,
    failure     TEXT    NOT NULL DEFAULT '',
    CHECK (state <> 'leased' OR (fence > 0 AND principal <> '' AND lease_until > 0 AND check_at > 0 AND over = '')),
    CHECK (state <> 'ready' OR missing = 0),
    CHECK ((state = 'succeeded') = (receipt > 0)),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (ended_at > 0))
) STRICT;
CREATE INDEX claims_state_ready ON claims_state (kind) WHERE state = 'ready';
CREATE INDEX claims_state_leased ON claims_state (check_at) WHERE state = 'leased';
CREATE INDEX claims_state_anonymous ON claims_state (id) WHERE state = 'leased' AND principal = 'anonymous';
CREATE INDEX claims_state_until ON claims_state (until) WHERE state = 'blocked' AND missing = 0;
CREATE INDEX claims_state_unmade ON claims_state (ended_at) WHERE state IN ('failed', 'cancelled');

-- An input is a noun's key, with the version asked for in want if one was, or
-- the group grp of which at least min attempts must succeed. waiting is 1 until
-- it is there; then noun is the version it was fixed to, or the bits of mask are
-- the attempts that had succeeded (bit 0 is attempt 1).
CREATE TABLE claims_input (
    verb     INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key      TEXT    NOT NULL,
    want     INTEGER NOT NULL,
    grp      INTEGER NOT NULL,
    min      INTEGER NOT NULL,
    waiting  INTEGER NOT NULL CHECK (waiting IN (0, 1)),
    noun     INTEGER NOT NULL,
    mask     INTEGER NOT NULL,
    PRIMARY KEY (verb, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_input_key ON claims_input (key) WHERE waiting = 1 AND grp = 0;
CREATE INDEX claims_input_group ON claims_input (grp) WHERE waiting = 1 AND grp <> 0;

-- The claims that were handed back, by fail or release: once the verb is granted
-- again its row tells nothing of them any more.
CREATE TABLE claims_over (
    verb  INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    PRIMARY KEY (verb, fence)
) STRICT, WITHOUT ROWID;

-- The log of accepted submissions. doc is the document as it was answered, byte
-- for byte; idem_key and idem_sha make the row the record of its idempotency key.
-- There is no index: a verb's state, or its row in claims_swept, has the number.
CREATE TABLE claims_receipt (
    sequence     INTEGER PRIMARY KEY CHECK (sequence >= 1),
    verb         INTEGER NOT NULL,
    fence        INTEGER NOT NULL,
    submitted_at INTEGER NOT NULL,
    idem_key     TEXT    NOT NULL,
    idem_sha     BLOB    NOT NULL,
    doc          TEXT    NOT NULL
) STRICT;

-- Where the receipts of verbs lie that retention has removed.
CREATE TABLE claims_swept (
    verb    INTEGER PRIMARY KEY,
    receipt INTEGER NOT NULL
) STRICT;

-- How far along the receipts retention has come.
CREATE TABLE claims_retention (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    receipt INTEGER NOT NULL
) STRICT;
INSERT INTO claims_retention (one, receipt) VALUES (1, 0);
