package api

import "time"

// ErrorBody is the document of every answer that is not 2xx.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail is an [Error] as it stands on the wire.
type ErrorDetail struct {
	Code         Code           `json:"code"`
	Message      string         `json:"message"`
	Retryable    bool           `json:"retryable"`
	Reason       string         `json:"reason,omitempty"`
	Field        string         `json:"field,omitempty"`
	Details      map[string]any `json:"details,omitempty"`
	RetryAfterMs int64          `json:"retry_after_ms,omitzero"`
	RequestID    string         `json:"request_id,omitempty"`
}

// Detail is e in its wire form.
func (e *Error) Detail() ErrorDetail {
	return ErrorDetail{
		Code: e.Code, Message: e.Message, Retryable: e.Code.Retryable(), Reason: e.Reason, Field: e.Field,
		Details: e.Details, RetryAfterMs: e.RetryAfter.Milliseconds(), RequestID: e.RequestID,
	}
}

// AsError is the wire form turned back into an [Error].
func (d ErrorDetail) AsError() *Error {
	return &Error{
		Code: d.Code, Message: d.Message, Reason: d.Reason, Field: d.Field, Details: d.Details,
		RetryAfter: time.Duration(d.RetryAfterMs) * time.Millisecond, RequestID: d.RequestID,
	}
}

// Page is one page of a list. NextCursor is null on the last page; a page may
// hold fewer than the limit, even none, and still have a next one.
type Page[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// Header names that Skerry reads or writes beside the standard ones.
const (
	HeaderAPIKey             = "X-Api-Key"
	HeaderIdempotencyKey     = "Idempotency-Key"
	HeaderIdempotentReplayed = "Idempotent-Replayed"
	HeaderRequestID          = "X-Request-Id"
	// HeaderClaimWait holds the whole milliseconds that a claim spent in the
	// admission queue; waiting for work is not in it.
	HeaderClaimWait = "X-Claim-Wait-Ms"
	// HeaderClaimConcurrency holds the limit in force when the claim was
	// decided.
	HeaderClaimConcurrency = "X-Claim-Concurrency"
)

// Time is t cut to the precision that is stored and shown: UTC, milliseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
