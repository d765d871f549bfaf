package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/skerryhq/skerry/api"
)

var (
	// ErrNoAnswer says that one try got no answer within its time. Whether the
	// request took effect is not known.
	ErrNoAnswer = errors.New("no answer in time")
	// ErrLeaseLost is the cause of a lease's context once the claim or quantum is
	// not the worker's any more: the lease lapsed, or the server said so.
	ErrLeaseLost = errors.New("lease lost")
	// ErrCancelRequested is the cause of a lease's context once the server said
	// that the verb was cancelled.
	ErrCancelRequested = errors.New("verb cancelled")
	// ErrRunCancelled is the same for the lease of a quantum and its run.
	ErrRunCancelled = errors.New("run cancelled")
	// ErrStopping is the cause of a job's context when its worker stops and the
	// grace period is over.
	ErrStopping = errors.New("worker stopping")
	// ErrItemTimeout is the cause of an item's context once it has been worked on
	// for as long as its kind allows.
	ErrItemTimeout = errors.New("item out of time")
	// ErrNoBody says that an input lies at a URI, where the server has no body
	// to give.
	ErrNoBody = errors.New("input lies at a uri")

	errNotJSON = errors.New("not the JSON that was expected")
)

// StatusError is an answer that is neither a success nor an error in Skerry's
// form, such as one from a proxy on the way.
type StatusError struct {
	// Status is the HTTP status.
	Status int
	// RetryAfter is the answer's advice, 0 if there was none.
	RetryAfter time.Duration
}

// Error names the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("unexpected answer %d %s, not in the form of a Skerry server", e.Status, http.StatusText(e.Status))
}

// answerError turns an answer that is not a success into an *api.Error, or into
// a *StatusError if it is not in Skerry's form. A bad retry_after_ms does not
// spoil the rest of the document.
func answerError(status int, header http.Header, body []byte) error {
	var doc struct {
		Error struct {
			api.ErrorDetail
			RetryAfterMs json.RawMessage `json:"retry_after_ms"`
		} `json:"error"`
	}
	advice := retryAfter(header, now())
	if err := json.Unmarshal(body, &doc); err != nil || doc.Error.Code == "" {
		return &StatusError{Status: status, RetryAfter: advice}
	}
	if ms, ok := retryAfterMs(doc.Error.RetryAfterMs); ok {
		advice = ms
	}
	e := doc.Error.AsError()
	e.RetryAfter = advice
	if e.RequestID == "" {
		e.RequestID = header.Get(api.HeaderRequestID)
	}
	return e
}

// definite reports whether err is the server's own word that the request was
// judged and will not succeed as it stands: a 4xx in Skerry's form that is not
// retryable. Trouble on the way, overload and faults of the server are not.
func definite(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && !e.Code.Retryable() && e.Code.Status() < 500
}

// hopeless reports whether trying on makes no sense: a definite refusal, or a
// 3xx or 4xx from something that is no Skerry server.
func hopeless(err error) bool {
	var s *StatusError
	if errors.As(err, &s) {
		return s.Status < 500 && s.Status != http.StatusTooManyRequests && s.Status != http.StatusRequestTimeout
	}
	return definite(err)
}

// neverSent reports whether err shows that the request did not leave.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
