package namespace

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// Class gives namespaces behaviour: tables, commands, queries, alarms, routes.
// It is a value that an embedder composes; the two services of Skerry are
// classes like any other. Several classes share a namespace's one file and one
// writer, so that their commands can commit together.
//
// The runtime, not the class, does admission, idempotency, transactions, group
// commit, alarms and the output gate, so no class can bypass them.
type Class struct {
	// Name is the prefix of the class's tables ("claims" owns claims_verb) and
	// the name under which its migrations and its alarm are recorded. It is
	// [a-z][a-z0-9]*, unique in a runtime, and must never change.
	Name string
	// Migrations holds NNN_name.sql files at its root, numbered from 001
	// without gaps, append-only.
	Migrations fs.FS
	// New makes the memory of the class for one activation of a namespace, or
	// is nil if it keeps none. The value is used only by the namespace's writer,
	// so it needs no lock; it may have the powers [Activator], [Alarmer],
	// [Rereader] and [Sharer].
	New func() any
	// Routes are the class's HTTP routes below /ns/{namespace}/api/v2.
	Routes []Route
	// Limits are figures that the catalog shows, by name.
	Limits map[string]int64
	// Describe adds to the catalog what the settings in force mean for the class,
	// and for a tenant. It may be nil.
	Describe func(s *Settings, tenant string, doc *api.Catalog)
	// Attend, if not nil, looks after a namespace from the inside: it is called in a
	// goroutine of its own when a namespace becomes active and after every commit
	// that signals a topic at or below one of Topics, once for all that came while
	// it ran. It acts like any caller, through n, may start goroutines, and may hold
	// the namespace active ([Namespace.Hold]). ctx ends when the runtime has no time
	// left. Once a runtime is shutting down it is not called again; then Stop, if
	// not nil, is called once and must have ended all that Attend has started when
	// it returns, which it should before its ctx ends.
	Topics []string
	Attend func(ctx context.Context, n Namespace)
	Stop   func(ctx context.Context)
}

// Command changes a namespace. Its fields are the request, already checked for
// shape; Apply checks it against the state and carries it out.
//
// Apply runs on the namespace's writer, in a savepoint of its own: an error
// rolls back every statement it made and nothing else (memory that it changed
// is brought back by [Rereader] if it had written, and stays as it is if it had
// not). It must not block on anything but the transaction, and must not keep
// the Turn. The answer leaves only when the commit is durable.
//
// Optional powers: [Waiting], [Admitted], [Laned], [Batched], [Recorder],
// [Chained]. A command whose answer depends on later ones calls [Turn.Defer].
type Command interface {
	Apply(t *Turn) (Answer, error)
}

// Query reads a namespace from a snapshot that holds every acknowledged write.
// Read runs on the caller's goroutine, beside other reads and the writer.
//
// Optional powers: [Watching], [Streaming].
type Query interface {
	Read(ctx context.Context, v *View) (Answer, error)
}

// Answer is what a command or query says to its caller.
type Answer struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	// Body is the document. It must not be changed after it was returned.
	Body any
	// NoEffect marks a successful command that changed nothing, so that its
	// answer is not kept for its idempotency key.
	NoEffect bool
	// Await marks the answer of a query that has not seen yet what its caller
	// waits for; see [Watching].
	Await bool
	// Raw, if not nil, is sent instead of Body.
	Raw *Raw
	// encoded is Body as it was stored with an idempotency record.
	encoded []byte
}

// Raw is a body that is not a JSON document.
type Raw struct {
	MediaType string
	ETag      string
	Bytes     []byte
}

// Encoded is the stored form of the body, if the answer was stored for its
// idempotency key: what must be sent, byte for byte.
func (a Answer) Encoded() ([]byte, bool) { return a.encoded, a.encoded != nil }

// WithEncoded is the answer with document as the form in which its body is
// sent. A [Recorder] uses it so that its first answer is, byte for byte, what it
// has stored.
func (a Answer) WithEncoded(document []byte) Answer {
	a.encoded = document
	return a
}

// Document is the answer's document as a T, also when the answer was replayed
// from a stored form.
func Document[T any](a Answer) (T, error) {
	if v, ok := a.Body.(T); ok {
		return v, nil
	}
	var v T
	if a.encoded == nil {
		return v, fmt.Errorf("read answer: it holds a %T, not a %T", a.Body, v)
	}
	if err := json.Unmarshal(a.encoded, &v); err != nil {
		return v, fmt.Errorf("read answer: %w", err)
	}
	return v, nil
}

// Waiting is the power of a command that would rather wait than find nothing to
// do: it then calls [Turn.Park].
type Waiting interface {
	Command
	// Wait is how long the command may be parked until there is work for it.
	Wait() time.Duration
}

// Admitted is the power of a command that passes the admission controller before
// it runs.
type Admitted interface {
	Waiting
	// PassesAdmission tells the two powers apart; it is not called.
	PassesAdmission()
}

// Lane orders the commands of one commit.
type Lane = storage.Lane

// The lanes, first to last. A command without the power [Laned] goes in
// LaneNormal, an [Admitted] one in LaneAdmitted.
const (
	LaneUrgent   = storage.LaneUrgent
	LaneFinish   = storage.LaneFinish
	LaneNormal   = storage.LaneNormal
	LaneAdmitted = storage.LaneAdmitted
)

// Laned is the power of a command that chooses its lane.
type Laned interface {
	Lane() Lane
}

// Batched is the power of a command that can be carried out together with
// others of its type that happen to be in the same commit, as many waiting
// claimants are served by one statement.
type Batched interface {
	Command
	// ApplyAll carries out turns, in their order, in one savepoint. Each turn's
	// command is [Turn.Command]; each gets its outcome by [Turn.Answer] or
	// [Turn.Refuse]. If ApplyAll itself fails, everything is rolled back and
	// every command is applied by itself. A command that is alone of its type in
	// a commit is applied by Apply; turns can still be one, if the callers of the
	// others have gone away or their answers were replayed.
	ApplyAll(turns []*Turn) error
}

// Recorder is the power of a command that keeps its idempotency record in a row
// that it writes anyway, rather than in the runtime's table.
type Recorder interface {
	Command
	// Recorded finds the record of an earlier request with t's idempotency key,
	// or says false. The caller, the method and the path are the same by
	// construction only if the row is found by what stands in the path, so
	// Recorded must also check the principal.
	Recorded(t *Turn) (Record, bool, error)
}

// Record is a stored answer. Expires is when it stops being one; zero is never.
type Record struct {
	BodySHA256 [32]byte
	Status     int
	Body       []byte
	Expires    time.Time
}

// Chained is the power of a command that carries another one, which the runtime
// takes up as a new arrival once the first is durable.
type Chained interface {
	Command
	// Next is the command that follows, or nil. It is asked after a commit.
	Next() Admitted
	// Join makes the one answer out of the first one's and the second one's
	// answer or error. A replayed answer is not joined.
	Join(own Answer, next Answer, err *api.Error) Answer
}

// Watching is the power of a query whose caller would rather wait for a change.
// While Read gives an answer with Await, the runtime reads again whenever one of
// the topics was signalled, until Wait is over; then the last answer counts.
type Watching interface {
	Query
	Wait() time.Duration
	Topics() []string
}

// Streaming is the power of a query whose answer can be followed as it grows: over
// HTTP, as server-sent events, by a request that accepts text/event-stream.
type Streaming interface {
	Query
	// Next reads what has come since the last call, in order, and reports whether
	// that was the end. An error ends the stream.
	Next(ctx context.Context, v *View) (frames []Frame, end bool, err error)
	// Topics are those at whose signals there may be more.
	Topics() []string
}

// Frame is one entry of a stream.
type Frame struct {
	// ID is from where a client that lost its connection goes on; Event is its type.
	// Both are a single line of text.
	ID, Event string
	// Data is sent as one JSON document.
	Data any
}

// Sharer is the power of a class's memory that queries may see a part of: Shared is
// asked once for each activation, and its value must be safe for concurrent use.
// Queries get it by [View.Shared].
type Sharer interface {
	Shared() any
}

// Activator is the power of a class's memory that must be filled when the
// namespace is activated. Activate runs in the transaction that raises the
// epoch.
type Activator interface {
	Activate(t *Turn) error
}

// Alarmer is the power of a class's memory that is woken by the alarm it set
// with [Turn.SetAlarm]. Alarm runs like a command, at or after that time, in a
// namespace that is activated for it if need be. When it begins the alarm is
// spent; it sets the next one. If it fails, by an error or a panic, it is rolled
// back and tried again after a second.
type Alarmer interface {
	Alarm(t *Turn) error
}

// Rereader is the power of a class's memory that mirrors rows: RolledBack is
// called before anything else runs whenever something was rolled back, and
// brings the memory back in line with the file. A failure to do so fails the
// namespace, which starts again from its file.
type Rereader interface {
	RolledBack(v *View) error
}
