package room

import (
	"fmt"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

// caretaker is the memory of the class in one activation of a namespace. This
// one holds a setting; what must outlast the activation belongs into a table.
type caretaker struct{ idle time.Duration }

// Alarm closes the rooms in which nobody has spoken for too long, and sets the
// alarm for the next one. It is a turn like a command's: all of it is committed
// or none. If it fails, the runtime calls it again after a second.
func (c *caretaker) Alarm(t *namespace.Turn) error {
	const some = 100 // bounds the work of one turn; the rest is due at once
	closed, err := closeQuiet(t, t.Now().Add(-c.idle), some)
	if err != nil {
		return err
	}
	for _, name := range closed {
		if err := t.DropEvents(name); err != nil {
			return err
		}
	}
	var next *int64 // nil if there are no rooms
	if _, err := t.QueryRow(`SELECT min(last_post_at) FROM chat_room`, nil, &next); err != nil {
		return fmt.Errorf("find next room: %w", err)
	}
	if next != nil {
		t.SetAlarm(time.UnixMilli(*next).Add(c.idle))
	}
	return nil
}

// closeQuiet removes up to limit rooms in which nobody has spoken since a time.
func closeQuiet(t *namespace.Turn, since time.Time, limit int) (closed []string, err error) {
	rows, err := t.Query(`DELETE FROM chat_room WHERE name IN (SELECT name FROM chat_room
		WHERE last_post_at <= ? ORDER BY last_post_at LIMIT ?) RETURNING name`, since.UnixMilli(), limit)
	if err != nil {
		return nil, fmt.Errorf("close rooms: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("close rooms: %w", err)
		}
		closed = append(closed, name)
	}
	return closed, rows.Err()
}
