package admission

// ID is the caller's handle of one request. It must be unique among the
// requests that wait or run; one that has ended may be used again.
type ID uint64

// Kind says what a Decision does to a request.
type Kind uint8

// The kinds of decisions. Enqueue is the only one that may be followed by Start,
// Refuse or Cancelled of the same request, and Start the only one followed by Finished.
const (
	// Start lets the request's work begin now.
	Start Kind = iota
	// Enqueue puts the request into the queue.
	Enqueue
	// Refuse ends the request without any work; Reason and RetryAfter say why
	// and when to come back.
	Refuse
	// Cancelled confirms that a waiting request has left at its caller's wish.
	Cancelled
	// Finished confirms that a request's work has ended and its slot is free.
	Finished

	kinds = int(Finished) + 1
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Start:
		return "start"
	case Enqueue:
		return "enqueue"
	case Refuse:
		return "refuse"
	case Cancelled:
		return "cancelled"
	case Finished:
		return "finished"
	}
	return "unknown"
}

// Reason says why a request was refused. The zero value, None, belongs to
// decisions that refuse nothing.
type Reason uint8

// The reasons of a refusal. A Controller gives the first three only; Paused
// comes from a Gate, and the quotas from callers that ask a Quota first.
const (
	// None is the reason of every decision other than Refuse.
	None Reason = iota
	// QueueFull means that no pending slot was free for the arriver.
	QueueFull
	// WaitDeadline means that the request has waited as long as it may.
	WaitDeadline
	// FairShare means that the request gave its pending slot to a principal
	// that held less than its share.
	FairShare
	// Paused means that the operator has stopped all claims.
	Paused
	// LegacyQuota means that the principal has used up its claims of the last minute.
	LegacyQuota
	// AnonymousQuota means that callers without a key have used up their claims
	// of the last hour.
	AnonymousQuota

	reasons = int(AnonymousQuota) + 1
)

// String returns the words that clients are shown.
func (r Reason) String() string {
	switch r {
	case None:
		return "none"
	case QueueFull:
		return "pending queue full"
	case WaitDeadline:
		return "wait deadline"
	case FairShare:
		return "fair share of waiting slots"
	case Paused:
		return "paused"
	case LegacyQuota:
		return "legacy quota"
	case AnonymousQuota:
		return "anonymous quota"
	}
	return "unknown"
}

// A Decision is what an event did to one request.
type Decision struct {
	Kind      Kind
	Reason    Reason // of a Refuse, else None
	ID        ID
	Principal string
	// RetryAfter is the number of whole seconds after which a refused principal
	// should come back; zero unless Kind is Refuse.
	RetryAfter int
	// Waited is the time the request has spent in the queue, in the caller's
	// unit. It is set for Start, Refuse and Cancelled.
	Waited int64
}
