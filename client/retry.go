package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
)

const (
	// maxRetryAfter bounds the advice that is followed. More is a mistake of a
	// clock, or so long that asking once a minute harms nobody.
	maxRetryAfter = time.Minute
	firstBackoff  = 100 * time.Millisecond
	maxBackoff    = 10 * time.Second
	// spread is the part of a pause by which jitter may lengthen it.
	spread = 0.2
)

// retryAfter reads the header Retry-After: whole seconds, or an HTTP date. A
// date is taken against the answer's own Date, so that a local clock that is
// wrong does not count. The result lies within 0 and maxRetryAfter; anything
// malformed or past is 0.
func retryAfter(h http.Header, at time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(v, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	} else if errors.Is(err, strconv.ErrRange) {
		return maxRetryAfter
	}
	date, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		at = sent
	}
	return min(max(date.Sub(at), 0), maxRetryAfter)
}

// retryAfterMs reads the member retry_after_ms of an error: a positive integer.
// Anything else is no advice.
func retryAfterMs(raw json.RawMessage) (time.Duration, bool) {
	var ms int64
	if json.Unmarshal(raw, &ms) != nil || ms <= 0 {
		return 0, false
	}
	return time.Duration(min(ms, maxRetryAfter.Milliseconds())) * time.Millisecond, true
}

// backoff is the pause before the try after the given number of failed ones: the
// advice of the server, else a doubling time; and up to a fifth more.
func (s *sender) backoff(failed int, err error) time.Duration {
	pause := advised(err)
	if pause == 0 {
		pause = min(firstBackoff<<min(failed-1, 10), maxBackoff)
	}
	return pause + time.Duration(spread*s.o.Jitter()*float64(pause))
}

// advised is the server's advice in err, 0 if there is none.
func advised(err error) time.Duration {
	var e *api.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	var s *StatusError
	if errors.As(err, &s) {
		return s.RetryAfter
	}
	return 0
}

// mayRetry reports whether a request that failed with err may be sent again.
func mayRetry(q *call, err error) bool {
	if q.untilDone {
		return !hopeless(err) && !(q.contestable && contested(err))
	}
	var e *api.Error
	if errors.As(err, &e) {
		// Work that ran out of time had begun.
		return e.Code.Retryable() && (q.safe || e.Code != api.ItemTimeout)
	}
	var s *StatusError
	if errors.As(err, &s) {
		switch s.Status {
		case http.StatusTooManyRequests:
			return true
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return q.safe
		}
		return false
	}
	return q.safe || neverSent(err)
}

// mayGoOn reports whether the bounds allow another try after the pause.
func (s *sender) mayGoOn(q *call, failed int, elapsed time.Duration, err error) bool {
	if q.untilDone || (q.claims && s.o.Patient && api.IsCode(err, api.RateLimited)) {
		return true
	}
	return failed < s.o.MaxAttempts && elapsed <= s.o.MaxElapsed
}
