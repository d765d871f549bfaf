package namespace

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skerryhq/skerry/storage"
)

// Rows are the rows of a query; see [storage.Rows].
type Rows = storage.Rows

// View is a read-only snapshot of a namespace's file. It is used on one
// goroutine and only while the call that got it lasts.
type View struct {
	tx       *storage.Tx
	now      time.Time
	caller   Caller
	settings *Settings
	name     string
	class    string
	signer   signer
	shared   any
}

// Namespace is the namespace's name.
func (v *View) Namespace() string { return v.name }

// Now is the time of the call, in UTC and whole milliseconds, by a clock that
// never steps.
func (v *View) Now() time.Time { return v.now }

// Caller is who asks.
func (v *View) Caller() Caller { return v.caller }

// Settings are the settings in force. They must not be changed.
func (v *View) Settings() *Settings { return v.settings }

// Shared is what the class's memory shares with queries; see [Sharer]. Nil if it
// shares nothing.
func (v *View) Shared() any { return v.shared }

// Query reads rows; args may be nil, integers, bool, string, []byte, float64.
func (v *View) Query(sql string, args ...any) (*Rows, error) { return v.tx.Query(sql, args...) }

// QueryRow reads the first row into dest and reports whether there was one.
func (v *View) QueryRow(sql string, args []any, dest ...any) (bool, error) {
	return v.tx.QueryRow(sql, args, dest...)
}

// Turn is what a command has of its namespace: the transaction, the time, who
// asks, and the means to leave something behind. Nothing else is time or
// wake-up. It is used on one goroutine and only while the call lasts.
type Turn struct {
	View
	host     *classHost
	call     *call
	idem     Idempotency
	received time.Time

	// wrote tells whether an error must roll anything back.
	wrote    bool
	answer   Answer
	err      error
	replayed bool
	parked   bool
	topics   []string
	signals  []signal
	// deferred, if not nil, is what the caller gets when the command is not answered
	// in time, and rulings are what the turn decides for deferred commands.
	deferred *ruling
	rulings  []ruling
}

// signal says that n things happened on a topic.
type signal struct {
	topic string
	n     int
}

// Command is the command being carried out.
func (t *Turn) Command() Command { return t.call.Command }

// Received is when the runtime took the command in, which is before [View.Now]
// by the time it waited. A deadline that the caller had to meet is held against
// it, so that no lease runs out in a queue of ours.
func (t *Turn) Received() time.Time { return t.received }

// State is the memory of the class that [Class.New] made for this activation.
func (t *Turn) State() any { return t.host.state }

// Idempotency is the request's idempotency key; the zero value is none.
func (t *Turn) Idempotency() Idempotency { return t.idem }

// Exec carries out one statement and reports how many rows it changed.
func (t *Turn) Exec(sql string, args ...any) (int64, error) {
	t.wrote = true
	return t.tx.Exec(sql, args...)
}

// Query carries out a statement that gives rows; see [View.Query]. It may write.
func (t *Turn) Query(sql string, args ...any) (*Rows, error) {
	t.wrote = t.wrote || writes(sql)
	return t.tx.Query(sql, args...)
}

// QueryRow carries out a statement and reads its first row; see
// [View.QueryRow]. It may write.
func (t *Turn) QueryRow(sql string, args []any, dest ...any) (bool, error) {
	t.wrote = t.wrote || writes(sql)
	return t.tx.QueryRow(sql, args, dest...)
}

// writes reports whether a statement may change rows. It errs on the side of
// yes, which costs a rollback of nothing.
func writes(sql string) bool {
	sql = strings.TrimLeft(sql, " \t\r\n")
	return len(sql) < 6 || !strings.EqualFold(sql[:6], "select")
}

// Answer sets the outcome of a turn in a batch.
func (t *Turn) Answer(a Answer) { t.answer, t.err = a, nil }

// Refuse sets the outcome of a turn in a batch: it changed nothing and fails
// with err.
func (t *Turn) Refuse(err error) { t.answer, t.err = Answer{}, err }

// Fence is a new fencing token: greater than every earlier one of the namespace,
// across restarts, crashes and power loss, and below 2^53.
func (t *Turn) Fence() (int64, error) { return t.host.writer.fences.next(t.tx) }

// Sign gives 80 unguessable bits bound to parts, the same in every activation of
// this namespace and in no other namespace. With it an id can carry its own
// proof, so that looking it up needs no row.
func (v *View) Sign(parts ...string) [10]byte { return v.signer.sign(parts) }

// SetAlarm sets when the class's [Alarmer] is to be called next; the zero time
// is never. It replaces an earlier setting.
func (t *Turn) SetAlarm(at time.Time) { t.host.setAlarm(at) }

// AlarmBy makes sure that the class's alarm goes off at the given time or
// earlier. It writes only if the alarm moves, so that it is cheap to call on
// every grant of a lease.
func (t *Turn) AlarmBy(at time.Time) {
	if set := t.host.alarm; set.IsZero() || set.After(at) {
		t.host.setAlarm(at)
	}
}

// Signal says, once the commit is durable, that something happened on the topic:
// every [Watching] query on it reads again, and n of the parked commands that
// wait for it, or for what it lies below ("a" for "a/b"), are taken up again (n may
// be 0). Topics are private to the class.
func (t *Turn) Signal(topic string, n int) {
	t.signals = append(t.signals, signal{topic, n})
}

// Park says that a [Waiting] command found nothing. Its answer is kept while
// it waits for one of the topics (if none are given, for any that is signalled
// with a count), and is what the caller gets when the wait is over.
func (t *Turn) Park(topics ...string) {
	t.parked, t.topics = true, topics
}

// Reclaim gives up to so many pages that deletions have freed back to the file
// system. The work is part of the commit, so it is done in small steps.
func (t *Turn) Reclaim(pages int) error {
	// The statement frees a page with every step, so it is to be run to its end.
	rows, err := t.Query("PRAGMA incremental_vacuum(" + strconv.Itoa(pages) + ")")
	if err != nil {
		return fmt.Errorf("reclaim pages: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reclaim pages: %w", err)
	}
	return nil
}
