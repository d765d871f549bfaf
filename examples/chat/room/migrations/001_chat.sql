-- A room and when it was last spoken in, in milliseconds since 1970. What was
-- said is in the runtime's event streams, so it needs no table here.
CREATE TABLE chat_room (
    name         TEXT    PRIMARY KEY,
    last_post_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_room_last_post ON chat_room (last_post_at);
