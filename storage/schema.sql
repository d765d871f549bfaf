-- What each migration line has applied to this file.
CREATE TABLE IF NOT EXISTS skerry_migration (
	line    TEXT    NOT NULL,
	version INTEGER NOT NULL CHECK (version >= 1),
	name    TEXT    NOT NULL,
	sha256  TEXT    NOT NULL,
	PRIMARY KEY (line, version)
) STRICT, WITHOUT ROWID;
