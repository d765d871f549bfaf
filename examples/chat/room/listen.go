package room

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

// Message is one message of a room.
type Message struct {
	Number int64     `json:"number"`
	By     string    `json:"by"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

// Messages are the next messages of a room, at most 100.
type Messages struct {
	Messages []Message `json:"messages"`
}

// Listen is the query for the messages of a room behind a number. If there are
// none yet, it waits for one, for as long as it says.
type Listen struct {
	Room  string
	After int64
	For   time.Duration
}

// Wait and Topics are what makes the query a waiting one: it is read again
// whenever the room's stream has grown.
func (l Listen) Wait() time.Duration { return l.For }

// Topics names the stream.
func (l Listen) Topics() []string { return []string{namespace.EventTopic(l.Room)} }

// Read runs beside the writer, on a snapshot that holds every message that
// anybody has been told of.
func (l Listen) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	events, err := v.Events(l.Room, l.After, 100)
	if err != nil {
		return namespace.Answer{}, err
	}
	found := Messages{Messages: []Message{}}
	for _, e := range events {
		var said line
		if err := json.Unmarshal(e.Body, &said); err != nil {
			return namespace.Answer{}, fmt.Errorf("read message %d: %w", e.Sequence, err)
		}
		found.Messages = append(found.Messages, Message{Number: e.Sequence, By: said.By, Text: said.Text, At: e.At})
	}
	// Await: this is not yet what the caller waits for.
	return namespace.Answer{Body: found, Await: len(events) == 0}, nil
}
