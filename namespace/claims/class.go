package claims

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

// className is the prefix of the tables, and the name by which calls are
// addressed to the class.
const className = "claims"

//go:embed migrations/*.sql
var migrations embed.FS

// Class is the claims service as a class of namespaces.
func Class() namespace.Class {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is constant and valid
	}
	return namespace.Class{
		Name:       className,
		Migrations: files,
		New:        func() any { return newMemory() },
		Routes:     routes(),
		Limits: map[string]int64{
			"noun_key_bytes":      maxKeyBytes,
			"noun_body_bytes":     maxBodyBytes,
			"claim_max":           maxClaimed,
			"claim_wait_ms":       maxWaitMs,
			"claim_inline_bytes":  maxInlineBytes,
			"verb_kinds":          maxKinds,
			"verb_inputs":         maxInputs,
			"verb_attempts":       maxGroup,
			"verb_max_attempts":   maxMaxAttempts,
			"verb_brief_bytes":    maxBriefBytes,
			"verb_metadata_bytes": maxMetadataBytes,
			"verb_batch":          maxBatch,
			"verb_lease_ms":       maxLeaseMs,
		},
	}
}

// memory is what one activation keeps of its rows: hints that save statements,
// each of which may be too cautious but never wrong, and idle pacing, which is
// advice. It belongs to the namespace's writer.
type memory struct {
	ready  readyKinds
	pacing pacing
	// due is no later than the earliest lease to be checked or gate to be
	// opened; 0 is a moment that has passed.
	due int64
	// sequence is the last receipt's, or unknown.
	sequence int64
}

const unknown = -1

func newMemory() *memory {
	return &memory{ready: newReadyKinds(), pacing: newPacing(), sequence: unknown}
}

// dueBy lowers due to at.
func (m *memory) dueBy(at int64) { m.due = min(m.due, at) }

// Activate takes up the file: it cuts leases that a clock set back has
// prolonged, and finds the kinds that have ready verbs.
func (m *memory) Activate(t *namespace.Turn) error {
	now := millis(t.Now())
	if _, err := t.Exec(sqlCutLeases, now); err != nil {
		return fmt.Errorf("cut leases: %w", err)
	}
	for kind := ""; ; {
		var id int64
		found, err := t.QueryRow(sqlReadyKind, []any{kind}, &kind, &id)
		if err != nil {
			return fmt.Errorf("find ready kinds: %w", err)
		}
		if !found {
			break
		}
		m.ready.add(kind, id)
	}
	next, err := begin(t).nextAlarm(now)
	if err != nil {
		return err
	}
	if next != 0 {
		t.AlarmBy(moment(max(next, now)))
	}
	return nil
}

// RolledBack forgets what the rolled back command may have changed.
func (m *memory) RolledBack(*namespace.View) error {
	m.ready.restore()
	m.due = 0
	m.sequence = unknown
	return nil
}

// change is what one command has of its namespace: the turn, the class's memory,
// and what the command owes at its end. Its methods write rows that belong
// together and keep the memory in line.
type change struct {
	*namespace.Turn
	m   *memory
	now int64
	// woken counts the verbs that became ready by kind.
	woken map[string]int
	// touched are the verbs whose watchers are to be told.
	touched []int64
	// ended holds attempts whose groups have yet to be told of their end.
	ended []endedAttempt
}

func begin(t *namespace.Turn) *change {
	return &change{Turn: t, m: t.State().(*memory), now: millis(t.Now())}
}

// finish settles what follows from the change, and signals it.
func (c *change) finish() error {
	if err := c.settleGroups(); err != nil {
		return err
	}
	for _, id := range c.touched {
		c.Signal(verbTopic(id), 0)
	}
	for _, kind := range slices.Sorted(maps.Keys(c.woken)) {
		c.Signal(readyTopic(kind), c.woken[kind])
		c.m.pacing.ready(kind)
	}
	return nil
}

// changed notes that whoever watches the verb must be told.
func (c *change) changed(b *verb) { c.touched = append(c.touched, b.id) }

// wakeBy sees to it that what falls due at the given time is looked at then.
func (c *change) wakeBy(at int64) {
	c.m.dueBy(at)
	c.AlarmBy(moment(at))
}

// Topics of signals.
const receiptsTopic = "receipts"

func readyTopic(kind string) string { return "ready/" + kind }

func verbTopic(id int64) string { return formatID("verb/", id) }

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
