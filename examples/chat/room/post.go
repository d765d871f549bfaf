package room

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// maxText and maxName bound a message and a room's name, in bytes.
const (
	maxText = 4096
	maxName = 64
)

// Said is what a client sends to speak.
type Said struct {
	Text string `json:"text"`
}

// Posted tells the number of the new message in its room.
type Posted struct {
	Number int64 `json:"number"`
}

// post is the command that says something in a room.
type post struct{ room, text string }

// NewPost checks what needs no look at the state. Its errors go to the client as
// they are.
func NewPost(room, text string) (namespace.Command, error) {
	if room == "" || len(room) > maxName {
		return nil, api.Invalid("room", "a room's name has 1 to %d bytes", maxName)
	}
	if strings.TrimSpace(text) == "" || len(text) > maxText {
		return nil, api.Invalid("text", "a message has 1 to %d bytes, not all of them blank", maxText)
	}
	return post{room, text}, nil
}

// Apply runs in a savepoint of the transaction that commits this message and
// whatever else has come in meanwhile. If it returns an error, nothing that it
// did is kept. The client is answered when the commit is on the disk; sent again
// with the same Idempotency-Key, it gets the same answer and the message is not
// said twice. None of that is the class's work.
func (p post) Apply(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Exec(`INSERT INTO chat_room (name, last_post_at) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET last_post_at = excluded.last_post_at`, p.room, t.Now().UnixMilli())
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("note room: %w", err)
	}
	// Whoever listens to the room is told once the commit is durable.
	number, err := t.Append(p.room, "said", line{t.Caller().Principal, p.text})
	if err != nil {
		return namespace.Answer{}, err
	}
	// A durable alarm: it also goes off if the process has died in between. It is
	// written only if the class has none as early.
	t.AlarmBy(t.Now().Add(t.State().(*caretaker).idle))
	return namespace.Answer{Status: http.StatusCreated, Body: Posted{number}}, nil
}

// line is the body of a message's event.
type line struct {
	By   string `json:"by"`
	Text string `json:"text"`
}
