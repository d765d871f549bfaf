package namespace

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/storage"
)

// Event is one entry of a stream: a log inside the namespace that a class
// appends to and callers read from any number on. Numbers begin at 1 and have no
// gap, in the order of commits.
type Event struct {
	Sequence int64           `json:"sequence"`
	Type     string          `json:"type"`
	At       time.Time       `json:"at"`
	Body     json.RawMessage `json:"body"`
}

// eventTopic is the topic that is signalled whenever a stream grows.
func eventTopic(stream string) string { return "events/" + stream }

// EventTopic is the topic on which a [Watching] query waits for a stream to grow.
func EventTopic(stream string) string { return eventTopic(stream) }

// Append adds an event to a stream of the class and gives its number. Watchers
// of [EventTopic] are told when it is durable.
func (t *Turn) Append(stream, kind string, body any) (int64, error) {
	doc, err := Encode(body)
	if err != nil {
		return 0, fmt.Errorf("encode event: %w", err)
	}
	var sequence int64
	_, err = t.QueryRow(sqlAppendEvent, []any{t.streamKey(stream), kind, t.now.UnixMilli(), string(doc)}, &sequence)
	if err != nil {
		return 0, fmt.Errorf("append event: %w", err)
	}
	t.Signal(eventTopic(stream), 0)
	return sequence, nil
}

// DropEvents removes a whole stream. If it is appended to later it begins at 1
// again, so it is for streams whose owner ends.
func (t *Turn) DropEvents(stream string) error {
	_, err := t.TrimEvents(stream, -1)
	return err
}

// TrimEvents removes up to limit of the oldest events of a stream, all of them for a
// negative limit, and reports how many there were. It takes long streams apart in
// small steps; see [Turn.DropEvents] for what becomes of an empty one.
func (t *Turn) TrimEvents(stream string, limit int) (int, error) {
	n, err := t.Exec(sqlTrimEvents, t.streamKey(stream), limit)
	if err != nil {
		return 0, fmt.Errorf("remove events: %w", err)
	}
	return int(n), nil
}

// Events reads up to limit events of a stream of the class behind the number
// after, in order.
func (v *View) Events(stream string, after int64, limit int) ([]Event, error) {
	events, err := readEvents(v.tx, v.streamKey(stream), after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}

// streamKey keeps the streams of classes apart.
func (v *View) streamKey(stream string) string { return v.class + "/" + stream }

func readEvents(tx *storage.Tx, stream string, after int64, limit int) ([]Event, error) {
	rows, err := tx.Query(sqlReadEvents, stream, after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	events := []Event{}
	for rows.Next() {
		var e Event
		var at int64
		var body string
		if err := rows.Scan(&e.Sequence, &e.Type, &at, &body); err != nil {
			return nil, err
		}
		e.At, e.Body = time.UnixMilli(at).UTC(), json.RawMessage(body)
		events = append(events, e)
	}
	return events, rows.Err()
}
