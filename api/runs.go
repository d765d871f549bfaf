package api

import (
	"encoding/json"
	"time"
)

// RunSchema is the schema_version of run documents.
const RunSchema = "run/1"

// The pools. Each worker has separate slots in each.
const (
	// PoolDefault is for quick singular calls.
	PoolDefault = "default"
	// PoolSlow is for slow singular calls.
	PoolSlow = "slow"
	// PoolDurable is for the items of runs.
	PoolDurable = "durable"
)

// RunSpec asks for a run: a batch of items of one kind. On the wire it is one
// object: the members of Shared stand beside the others, and what an item says
// beside its id is its payload.
type RunSpec struct {
	// SchemaVersion is [RunSchema], which is also what an empty one is sent as.
	SchemaVersion string
	Kind          string
	// Items is empty for a kind that takes none.
	Items []RunItemSpec
	// Shared are the members that all items share. They cannot be called as the
	// other members are, nor priority, lane or pool.
	Shared map[string]json.RawMessage
	// Metadata is a JSON object; nil is {}.
	Metadata json.RawMessage
}

// RunItemSpec is one item of a [RunSpec]. On the wire the members of Payload stand
// beside the id.
type RunItemSpec struct {
	// ID is unique within the run, 1 to 200 characters; if it is empty the item is
	// called item-<index>.
	ID      string
	Payload map[string]json.RawMessage
}

// RunStatus is where a run stands in its life.
type RunStatus string

// The statuses of a run. The last four are final.
const (
	RunQueued              RunStatus = "queued"
	RunRunning             RunStatus = "running"
	RunCompleted           RunStatus = "completed"
	RunCompletedWithErrors RunStatus = "completed_with_errors"
	RunFailed              RunStatus = "failed"
	RunCancelled           RunStatus = "cancelled"
)

// Ended reports whether the status is final.
func (s RunStatus) Ended() bool {
	switch s {
	case RunCompleted, RunCompletedWithErrors, RunFailed, RunCancelled:
		return true
	case RunQueued, RunRunning:
	}
	return false
}

// Run is a run as its tenant sees it.
type Run struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"` // "run"
	Kind              string            `json:"kind"`
	Status            RunStatus         `json:"status"`
	Progress          Progress          `json:"progress"`
	LastEventSequence int64             `json:"last_event_sequence"`
	Links             map[string]string `json:"links"`
	Metadata          json.RawMessage   `json:"metadata"`
	WaitingFor        *RunWaiting       `json:"waiting_for,omitempty"`
	CancelRequested   bool              `json:"cancel_requested,omitzero"`
	CreatedAt         time.Time         `json:"created_at"`
	StartedAt         *time.Time        `json:"started_at,omitempty"`
	EndedAt           *time.Time        `json:"ended_at,omitempty"`
	ExpiresAt         time.Time         `json:"expires_at"`
}

// Progress counts a run's items by their status.
type Progress struct {
	Total     int `json:"total"`
	Pending   int `json:"pending"`
	Running   int `json:"running"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
}

// RunWaiting says why no item of a run is being worked on. Reason is "worker" (no
// worker asks for its kind), "slot" (there are some, but none is free) or "turn"
// (slots become free, and others are due before it).
type RunWaiting struct {
	Reason string `json:"reason"`
	ForMs  int64  `json:"for_ms"`
}

// ItemStatus is where an item of a run stands.
type ItemStatus string

// The statuses of an item. The last three are final.
const (
	ItemPending   ItemStatus = "pending"
	ItemRunning   ItemStatus = "running"
	ItemSucceeded ItemStatus = "succeeded"
	ItemFailed    ItemStatus = "failed"
	ItemCancelled ItemStatus = "cancelled"
)

// RunItem is one item of a run with what came of it. Result and Error are null
// while there is none.
type RunItem struct {
	ID           string          `json:"id"`
	InputIndex   int             `json:"input_index"`
	Status       ItemStatus      `json:"status"`
	AttemptCount int             `json:"attempt_count"`
	Result       json.RawMessage `json:"result"`
	Error        *Failure        `json:"error"`
}

// RunEvent is one entry of a run's log. Sequences begin at 1 and have no gap.
type RunEvent struct {
	Sequence int64      `json:"sequence"`
	Type     string     `json:"type"`
	RunID    string     `json:"run_id"`
	ItemID   string     `json:"item_id,omitempty"`
	Status   string     `json:"status,omitempty"`
	Progress *Progress  `json:"progress,omitempty"`
	At       *time.Time `json:"at,omitempty"`
}

// RunEstimate says what a run would cost and whether it would be admitted now. If
// not, Reason is the code of the error that would refuse it, and Budget the budget
// that it would exceed, if it is that.
type RunEstimate struct {
	Admissible bool    `json:"admissible"`
	Reason     string  `json:"reason,omitempty"`
	Budget     string  `json:"budget,omitempty"`
	Work       RunWork `json:"work"`
}

// RunWork is a run's size. Cost is in the units of its kind, Quanta how many quanta
// it is cut into if no worker asks for fewer items at once.
type RunWork struct {
	Items       int   `json:"items"`
	ResultCells int64 `json:"result_cells"`
	Cost        int64 `json:"cost"`
	Quanta      int   `json:"quanta"`
}

// QuantumSpec asks for work for a free slot.
type QuantumSpec struct {
	Pool string `json:"pool"`
	// Kinds is empty for any kind.
	Kinds    []string `json:"kinds,omitempty"`
	MaxItems *int     `json:"max_items,omitempty"`
	WaitMs   *int64   `json:"wait_ms,omitempty"`
	LeaseMs  *int64   `json:"lease_ms,omitempty"`
}

// Quanta is the answer to a [QuantumSpec]. Quantum is null when there is none, and
// then Idle says when to ask again. Also holds further quanta that may be computed
// in one go with the first; each has its own fence and commit.
type Quanta struct {
	Quantum *Quantum  `json:"quantum"`
	Also    []Quantum `json:"also,omitempty"`
	Idle    *Idle     `json:"idle,omitempty"`
}

// Quantum is the grant of a few items of one run to one worker until ExpiresAt. Run
// is null for a singular call.
type Quantum struct {
	ID        string          `json:"id"`
	Run       *string         `json:"run"`
	Kind      string          `json:"kind"`
	Scorer    string          `json:"scorer,omitempty"`
	Shared    json.RawMessage `json:"shared"`
	Items     []QuantumItem   `json:"items"`
	TimeoutMs int64           `json:"timeout_ms"` // of each item
	Fence     int64           `json:"fence"`
	ExpiresAt time.Time       `json:"expires_at"`
	// TTLMs is what is left of the lease at the server when it answered. A
	// worker counts it on its own monotonic clock from when it sent the
	// request.
	TTLMs int64 `json:"ttl_ms"`
}

// QuantumItem is one item of a quantum.
type QuantumItem struct {
	ID           string          `json:"id"`
	InputIndex   int             `json:"input_index"`
	AttemptCount int             `json:"attempt_count"`
	Payload      json.RawMessage `json:"payload"`
}

// CommitSpec reports what came of items of a quantum. Done gives back the items of
// which nothing is reported.
type CommitSpec struct {
	Fence   int64        `json:"fence"`
	Results []ItemResult `json:"results,omitempty"`
	Done    bool         `json:"done,omitzero"`
}

// ItemResult is what came of one item: Status is [ItemSucceeded] with a Result, an
// object, or [ItemFailed] with an Error. Cost is what it really cost, in the units
// of its kind; without it the estimate stands.
type ItemResult struct {
	ID     string          `json:"id"`
	Status ItemStatus      `json:"status"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
	Cost   *int64          `json:"cost,omitempty"`
}

// Committed is the answer to a commit: the items whose result was taken, now or
// before under the same fence, and those whose was not. Run is null for a singular
// call.
type Committed struct {
	Committed []string      `json:"committed"`
	Ignored   []IgnoredItem `json:"ignored"`
	Run       *Run          `json:"run"`
}

// IgnoredItem is an item whose result was not taken. Reason is "stale_fence",
// "cancelled" or "unknown".
type IgnoredItem struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// QuantumReleaseSpec hands back what is left of a quantum.
type QuantumReleaseSpec struct {
	Fence int64 `json:"fence"`
}

// QuantumReleased is the answer to a release: the items that went back.
type QuantumReleased struct {
	Returned []string `json:"returned"`
	Run      *Run     `json:"run"`
}

// InvokeSpec asks for one singular call. Scorer chooses the pool along with the
// kind.
type InvokeSpec struct {
	Kind   string          `json:"kind"`
	Scorer string          `json:"scorer,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
}

// Invoked is what came of a singular call: Status is [ItemSucceeded] with a Result
// or [ItemFailed] with an Error.
type Invoked struct {
	Status ItemStatus      `json:"status"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}
