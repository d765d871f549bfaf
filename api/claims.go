package api

import (
	"encoding/json"
	"time"
)

// NounSpec asks for the next version of a noun. Exactly one of Body, BodyBase64
// and URI is given; URI goes with Digest.
type NounSpec struct {
	Key string `json:"key"`
	Content
}

// Content is a body inline, or a URI with the digest of what lies there.
type Content struct {
	MediaType  string  `json:"media_type,omitempty"`
	Body       *string `json:"body,omitzero"`
	BodyBase64 *string `json:"body_base64,omitzero"`
	URI        string  `json:"uri,omitempty"`
	// Digest is "sha256:" and 64 hexadecimal digits. With a body it is checked;
	// with a URI it is taken on trust.
	Digest string `json:"digest,omitempty"`
}

// Noun is one immutable version of an input or artifact.
type Noun struct {
	Key       string `json:"key"`
	Version   int64  `json:"version"`
	Ref       string `json:"ref"`
	MediaType string `json:"media_type"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
	URI       string `json:"uri,omitempty"`
	// DigestTrusted is true where the digest is the maker's word, not checked
	// against a body.
	DigestTrusted bool      `json:"digest_trusted,omitzero"`
	CreatedAt     time.Time `json:"created_at"`
	// Body and BodyBase64 hold a small body when one noun is read.
	Body       *string `json:"body,omitzero"`
	BodyBase64 *string `json:"body_base64,omitzero"`
}

// GroupInput takes every alternative of an attempt group as input. Min is how many
// attempts must succeed, from 1 to the size of the group; nil means 1.
type GroupInput struct {
	Group string `json:"group"`
	Min   *int   `json:"min,omitempty"`
}

// VerbSpec asks for a verb, or with Attempts for a group of them.
type VerbSpec struct {
	Kind         string          `json:"kind"`
	Artifact     string          `json:"artifact"`
	Brief        json.RawMessage `json:"brief,omitempty"`
	BriefVersion string          `json:"brief_version,omitempty"`
	// Inputs holds strings (a noun's key or key@version) and [GroupInput]
	// objects.
	Inputs      []Input           `json:"inputs,omitempty"`
	Attempts    *int              `json:"attempts,omitempty"`
	LeaseMs     *int64            `json:"lease_ms,omitempty"`
	MaxAttempts *int              `json:"max_attempts,omitempty"`
	NotBefore   *time.Time        `json:"not_before,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// VerbState is where a verb stands in its life.
type VerbState string

// The states of a verb. The last three are final.
const (
	VerbBlocked   VerbState = "blocked"
	VerbReady     VerbState = "ready"
	VerbLeased    VerbState = "leased"
	VerbSucceeded VerbState = "succeeded"
	VerbFailed    VerbState = "failed"
	VerbCancelled VerbState = "cancelled"
)

// Ended reports whether the state is final.
func (s VerbState) Ended() bool {
	return s == VerbSucceeded || s == VerbFailed || s == VerbCancelled
}

// Verb is a unit of work.
type Verb struct {
	ID           string            `json:"id"`
	Kind         string            `json:"kind"`
	Brief        json.RawMessage   `json:"brief"`
	BriefVersion string            `json:"brief_version,omitempty"`
	Inputs       []VerbInput       `json:"inputs"`
	Artifact     string            `json:"artifact"`
	State        VerbState         `json:"state"`
	Group        string            `json:"group,omitempty"`
	Attempt      int               `json:"attempt,omitzero"`
	AttemptCount int               `json:"attempt_count"`
	MaxAttempts  int               `json:"max_attempts"`
	WaitingFor   *WaitingFor       `json:"waiting_for,omitempty"`
	Error        *Failure          `json:"error,omitempty"`
	Receipt      string            `json:"receipt,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	CreatedAt    time.Time         `json:"created_at"`
	EndedAt      *time.Time        `json:"ended_at,omitempty"`
}

// VerbInput is one input of a verb as it stands: Key as it was asked for, and
// Ref once it is fixed to a version; or Group and Min.
type VerbInput struct {
	Key   string `json:"key,omitempty"`
	Ref   string `json:"ref,omitempty"`
	Group string `json:"group,omitempty"`
	Min   int    `json:"min,omitzero"`
}

// Failure says why work failed.
type Failure struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// WaitingFor says why a verb is not under way. Reason is "inputs", "time" or
// "turn".
type WaitingFor struct {
	Reason string         `json:"reason"`
	Inputs []WaitingInput `json:"inputs,omitempty"`
	Until  *time.Time     `json:"until,omitempty"`
	// Position is the verb's place among the ready ones of its kind, from 1.
	// With OrMore it stands at least there.
	Position int  `json:"position,omitzero"`
	OrMore   bool `json:"or_more,omitzero"`
}

// WaitingInput is an input that is not there yet. Problem says so if its maker
// failed or was cancelled, so that waiting alone will not bring it.
type WaitingInput struct {
	Key     string `json:"key,omitempty"`
	Group   string `json:"group,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// VerbGroup is the answer to a verb asked for with attempts.
type VerbGroup struct {
	Group string `json:"group"`
	Verbs []Verb `json:"verbs"`
}

// VerbBatchSpec asks for many verbs, all or none.
type VerbBatchSpec struct {
	Verbs []VerbSpec `json:"verbs"`
}

// VerbBatch is the answer to a [VerbBatchSpec]: an entry for each one sent, in
// the same order.
type VerbBatch struct {
	Verbs []VerbEntry `json:"verbs"`
}

// VerbEntry is what one entry of a batch made: a verb, or a group of them if it
// asked for attempts. Exactly one of the two is set.
type VerbEntry struct {
	Verb  *Verb
	Group *VerbGroup
}

// ClaimSpec asks for work.
type ClaimSpec struct {
	// Kinds is empty for any kind.
	Kinds   []string `json:"kinds,omitempty"`
	Max     *int     `json:"max,omitempty"`
	LeaseMs *int64   `json:"lease_ms,omitempty"`
	WaitMs  *int64   `json:"wait_ms,omitempty"`
}

// Claims is the answer to a claim. Idle is present when it is empty.
type Claims struct {
	Claims []Claim `json:"claims"`
	Idle   *Idle   `json:"idle,omitempty"`
}

// Idle advises a worker that found nothing when to ask again.
type Idle struct {
	PollAfterMs int64 `json:"poll_after_ms"`
}

// Claim is the grant of one verb to one principal until ExpiresAt.
type Claim struct {
	ID        string       `json:"id"`
	Verb      Verb         `json:"verb"`
	Inputs    []ClaimInput `json:"inputs"`
	Fence     int64        `json:"fence"`
	GrantedAt time.Time    `json:"granted_at"`
	ExpiresAt time.Time    `json:"expires_at"`
	// TTLMs is what is left of the lease at the server when it answered. A
	// worker counts it on its own monotonic clock from when it sent the
	// request.
	TTLMs int64 `json:"ttl_ms"`
}

// ClaimInput is an input as a claim delivers it: inline if small, else Href is
// where to read it, or URI where it lies.
type ClaimInput struct {
	Ref        string  `json:"ref"`
	Digest     string  `json:"digest"`
	MediaType  string  `json:"media_type"`
	Size       int64   `json:"size"`
	Body       *string `json:"body,omitzero"`
	BodyBase64 *string `json:"body_base64,omitzero"`
	URI        string  `json:"uri,omitempty"`
	Href       string  `json:"href,omitempty"`
	Group      string  `json:"group,omitempty"`
	Attempt    int     `json:"attempt,omitzero"`
}

// HeartbeatSpec renews a lease.
type HeartbeatSpec struct {
	Fence   int64  `json:"fence"`
	LeaseMs *int64 `json:"lease_ms,omitempty"`
}

// Heartbeat tells how a lease stands.
type Heartbeat struct {
	ExpiresAt       time.Time `json:"expires_at"`
	TTLMs           int64     `json:"ttl_ms"`
	ServerTime      time.Time `json:"server_time"`
	CancelRequested bool      `json:"cancel_requested"`
}

// SubmitSpec submits the artifact of a claim.
type SubmitSpec struct {
	Fence     int64             `json:"fence"`
	Output    Content           `json:"output"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	ClaimNext *ClaimSpec        `json:"claim_next,omitempty"`
}

// Receipt is the permanent record of one accepted submission.
type Receipt struct {
	ID           string            `json:"id"`
	Sequence     int64             `json:"sequence"`
	Verb         string            `json:"verb"`
	Claim        string            `json:"claim"`
	Principal    string            `json:"principal"`
	Fence        int64             `json:"fence"`
	BriefVersion string            `json:"brief_version,omitempty"`
	Inputs       []NounRef         `json:"inputs"`
	Output       NounRef           `json:"output"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	// Late is true if the lease had run out when the submission came, and
	// nobody else had been granted the verb.
	Late        bool      `json:"late"`
	SubmittedAt time.Time `json:"submitted_at"`
	// Digest is "sha256:" and the SHA-256 of the receipt's other fields as
	// canonical JSON (RFC 8785), in hexadecimal. It is empty only while it is
	// being computed.
	Digest string `json:"digest,omitempty"`
}

// NounRef names a version of a noun with its digest.
type NounRef struct {
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
}

// Submitted is the answer to a submission: the receipt, and what claim_next
// brought if it was asked for.
type Submitted struct {
	Receipt
	Next *Next `json:"next,omitempty"`
}

// Next is what claim_next brought: claims, which may be none, or the error that
// refused them.
type Next struct {
	Claims []Claim      `json:"claims,omitzero"`
	Idle   *Idle        `json:"idle,omitempty"`
	Error  *ErrorDetail `json:"error,omitempty"`
}

// FailSpec reports that a claim's work failed.
type FailSpec struct {
	Fence        int64      `json:"fence"`
	Error        Failure    `json:"error"`
	RetryAfterMs *int64     `json:"retry_after_ms,omitempty"`
	Final        bool       `json:"final,omitzero"`
	ClaimNext    *ClaimSpec `json:"claim_next,omitempty"`
}

// Failed is the answer to a reported failure.
type Failed struct {
	Verb Verb  `json:"verb"`
	Next *Next `json:"next,omitempty"`
}

// ReleaseSpec hands a claim back unharmed.
type ReleaseSpec struct {
	Fence        int64  `json:"fence"`
	RetryAfterMs *int64 `json:"retry_after_ms,omitempty"`
}

// Released is the answer to a release.
type Released struct {
	Verb Verb `json:"verb"`
}
