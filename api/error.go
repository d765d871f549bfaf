package api

import (
	"errors"
	"fmt"
	"time"
)

// Code is the stable, machine-readable name of an error. Programs decide by the
// code; the message is for people and may change.
type Code string

// The codes. Each has one HTTP status and one answer to "may I try again?"; see
// [Code.Status] and [Code.Retryable].
const (
	BadRequest             Code = "bad_request"
	InvalidNamespace       Code = "invalid_namespace"
	IdempotencyKeyRequired Code = "idempotency_key_required"

	Unauthorized Code = "unauthorized"
	Forbidden    Code = "forbidden"

	NotFound         Code = "not_found"
	RunExpired       Code = "run_expired"
	MethodNotAllowed Code = "method_not_allowed"

	StaleFence            Code = "stale_fence"
	LeaseExpired          Code = "lease_expired"
	ClaimOver             Code = "claim_over"
	VerbTerminal          Code = "verb_terminal"
	VerbNotFailed         Code = "verb_not_failed"
	RunTerminal           Code = "run_terminal"
	IdempotencyInProgress Code = "idempotency_in_progress"
	Conflict              Code = "conflict"

	BodyTooLarge Code = "body_too_large"

	InvalidField        Code = "invalid_field"
	IdempotencyConflict Code = "idempotency_conflict"
	DigestMismatch      Code = "digest_mismatch"
	UnknownKind         Code = "unknown_kind"
	TooManyItems        Code = "too_many_items"
	TooManyCells        Code = "too_many_cells"
	DuplicateItemID     Code = "duplicate_item_id"
	PriorityNotAllowed  Code = "priority_not_allowed"
	RunExceedsBudget    Code = "run_exceeds_budget"

	RateLimited            Code = "rate_limited"
	TenantRunQuotaExceeded Code = "tenant_run_quota_exceeded"

	Internal Code = "internal"

	StorageUnavailable   Code = "storage_unavailable"
	NamespaceUnavailable Code = "namespace_unavailable"
	ShuttingDown         Code = "shutting_down"

	ItemTimeout Code = "item_timeout"
)

// Status is the HTTP status that goes with the code; 500 for a code that is not
// in the table.
func (c Code) Status() int {
	switch c {
	case BadRequest, InvalidNamespace, IdempotencyKeyRequired:
		return 400
	case Unauthorized:
		return 401
	case Forbidden:
		return 403
	case NotFound, RunExpired:
		return 404
	case MethodNotAllowed:
		return 405
	case StaleFence, LeaseExpired, ClaimOver, VerbTerminal, VerbNotFailed, RunTerminal, IdempotencyInProgress, Conflict:
		return 409
	case BodyTooLarge:
		return 413
	case InvalidField, IdempotencyConflict, DigestMismatch, UnknownKind, TooManyItems, TooManyCells,
		DuplicateItemID, PriorityNotAllowed, RunExceedsBudget:
		return 422
	case RateLimited, TenantRunQuotaExceeded:
		return 429
	case StorageUnavailable, NamespaceUnavailable, ShuttingDown:
		return 503
	case ItemTimeout:
		return 504
	}
	return 500
}

// Retryable reports whether the same request, sent again unchanged, may succeed.
func (c Code) Retryable() bool {
	switch c.Status() {
	case 429, 503, 504:
		return true
	}
	return c == IdempotencyInProgress
}

// Error is the one error of Skerry. The server renders it, the client returns
// it, and inside the process it travels through ordinary error chains (use
// [AsError]). It never holds a payload.
//
// The zero value is not meaningful: an Error is made with [Errorf].
type Error struct {
	Code    Code
	Message string
	// Reason tells apart causes that share a code, such as the three reasons
	// for which admission refuses. Empty if there is nothing to tell apart.
	Reason string
	// Field names the member of the request that is wrong, as a path of the
	// request's own names: "inputs[3]". Empty if no single one is.
	Field string
	// Details holds figures that a program can use: the limit and the actual
	// value, the state a verb is in.
	Details map[string]any
	// RetryAfter is how long to wait before the next try; 0 if there is no
	// advice.
	RetryAfter time.Duration
	// RequestID is the identity of the request in the server's log.
	RequestID string
	// Err is the inner cause. It is logged, never sent.
	Err error
}

// Errorf makes an Error of the code with a message for people.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid is an [InvalidField] error that names the field.
func Invalid(field, format string, args ...any) *Error {
	e := Errorf(InvalidField, format, args...)
	e.Field = field
	return e
}

// Error is "code: message", with the reason in brackets if there is one.
func (e *Error) Error() string {
	if e.Reason != "" {
		return string(e.Code) + ": " + e.Message + " (" + e.Reason + ")"
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap gives the inner cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an Error of the same code, so that
// errors.Is(err, &api.Error{Code: api.StaleFence}) asks for a code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns e after adding one figure to its details.
func (e *Error) With(name string, value any) *Error {
	if e.Details == nil {
		e.Details = make(map[string]any, 2)
	}
	e.Details[name] = value
	return e
}

// After returns e after setting the advice of when to try again.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// Because returns e after setting its reason.
func (e *Error) Because(reason string) *Error {
	e.Reason = reason
	return e
}

// Wrapping returns e after setting the inner cause.
func (e *Error) Wrapping(err error) *Error {
	e.Err = err
	return e
}

// AsError finds the Error in err's chain. An error without one becomes an
// [Internal] error that wraps it, so that no inner text reaches a client. It
// returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Errorf(Internal, "an unexpected error occurred; the server's log has it under the request id").Wrapping(err)
}

// IsCode reports whether err's chain holds an Error of the code.
func IsCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
