package claims

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// How the last claim of a verb ended; empty while it has not, or if there was
// none.
const (
	overExpired   = "expired"
	overReleased  = "released"
	overFailed    = "failed"
	overSubmitted = "submitted"
)

// verb is a verb's two rows: what was asked for, which never changes, and how it
// stands. Times are Unix milliseconds; 0 and "" stand for none.
type verb struct {
	id      int64
	kind    string
	state   api.VerbState
	missing int64 // inputs still waited for
	until   int64 // a time before which it is not ready
	// attempts counts the grants that ended by expiry, fail or submit.
	attempts int64

	// The last claim.
	fence      int64
	principal  string
	grantedAt  int64
	leaseMs    int64 // as granted
	spanMs     int64 // as last renewed
	leaseUntil int64
	over       string

	receipt int64
	endedAt int64
	failure string // an api.Failure as JSON

	artifact     string
	briefVersion string
	group        int64
	attempt      int64
	maxAttempts  int64
	inputCount   int64
	ownLeaseMs   int64 // as the verb asks for
	notBefore    int64
	createdAt    int64

	// brief and metadata are JSON, and empty in a verb read without them.
	brief, metadata string
	// inputs are filled in when they were read.
	inputs []input
}

// scan reads a row of sqlSelectVerb or sqlSelectHeld.
func (v *verb) scan(rows *namespace.Rows) error {
	return rows.Scan(&v.id, &v.kind, (*string)(&v.state), &v.missing, &v.until, &v.attempts, &v.fence, &v.principal,
		&v.grantedAt, &v.leaseMs, &v.spanMs, &v.leaseUntil, &v.over, &v.receipt, &v.endedAt, &v.failure,
		&v.artifact, &v.briefVersion, &v.group, &v.attempt, &v.maxAttempts, &v.inputCount, &v.ownLeaseMs, &v.notBefore,
		&v.createdAt, &v.brief, &v.metadata)
}

// readVerbs reads the verbs that a statement gives.
func readVerbs(v *namespace.View, sql string, args ...any) ([]*verb, error) {
	rows, err := v.Query(sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read verbs: %w", err)
	}
	defer rows.Close()
	var verbs []*verb
	for rows.Next() {
		b := new(verb)
		if err := b.scan(rows); err != nil {
			return nil, fmt.Errorf("read verb: %w", err)
		}
		verbs = append(verbs, b)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read verbs: %w", err)
	}
	return verbs, nil
}

// verbByID reads a whole verb; without one it is a not_found error.
func verbByID(v *namespace.View, id int64) (*verb, error) {
	verbs, err := readVerbs(v, sqlSelectVerb+`WHERE s.id = ?`, id)
	if err != nil {
		return nil, err
	}
	if len(verbs) == 0 {
		return nil, errNoVerb()
	}
	return verbs[0], nil
}

func errNoVerb() error { return api.Errorf(api.NotFound, "there is no such verb") }

// reader makes documents out of rows in one view. It remembers how many ready
// verbs stand before the last one looked at, so that the places of many verbs
// cost one count.
type reader struct {
	view  *namespace.View
	ahead map[string]ahead
}

type ahead struct {
	verb  int64
	count int64
}

func newReader(v *namespace.View) *reader { return &reader{view: v, ahead: map[string]ahead{}} }

// verb is the document of a verb, for which its inputs are read if need be.
func (r *reader) verb(b *verb) (api.Verb, error) {
	if err := r.readInputs(b); err != nil {
		return api.Verb{}, err
	}
	doc := api.Verb{
		ID: formatID(verbPrefix, b.id), Kind: b.kind, Brief: json.RawMessage(b.brief), BriefVersion: b.briefVersion,
		Inputs: make([]api.VerbInput, len(b.inputs)), Artifact: b.artifact, State: b.state, Attempt: int(b.attempt),
		AttemptCount: int(b.attempts), MaxAttempts: int(b.maxAttempts), CreatedAt: moment(b.createdAt),
	}
	for i := range b.inputs {
		doc.Inputs[i] = b.inputs[i].document()
	}
	if b.group != 0 {
		doc.Group = formatID(groupPrefix, b.group)
	}
	if b.receipt != 0 {
		doc.Receipt = formatID(receiptPrefix, b.receipt)
	}
	if b.endedAt != 0 {
		at := moment(b.endedAt)
		doc.EndedAt = &at
	}
	if b.failure != "" {
		doc.Error = new(api.Failure)
		if err := namespace.Decode([]byte(b.failure), doc.Error); err != nil {
			return api.Verb{}, fmt.Errorf("read failure of verb: %w", err)
		}
	}
	if b.metadata != "" {
		if err := namespace.Decode([]byte(b.metadata), &doc.Metadata); err != nil {
			return api.Verb{}, fmt.Errorf("read metadata of verb: %w", err)
		}
	}
	var err error
	doc.WaitingFor, err = r.waitingFor(b)
	return doc, err
}

// verbByID reads a verb as it stands now.
func (r *reader) verbByID(id int64) (api.Verb, error) {
	b, err := verbByID(r.view, id)
	if err != nil {
		return api.Verb{}, err
	}
	return r.verb(b)
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
