package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const mediaJSON = "application/json"

// fail answers with an error. It is the only place where errors become answers.
func (x *exchange) fail(r *http.Request, err error) {
	e := api.AsError(err)
	if isCancelled(err) {
		e = api.Errorf(api.NamespaceUnavailable, "the request was given up before it was answered")
	}
	x.outcome = e.Code
	x.discardUnread(r)
	x.logFailure(r, e)
	detail := e.Detail()
	detail.RequestID = x.id
	status := e.Code.Status()
	switch {
	case status == http.StatusInternalServerError:
		// Whatever the message was, it is about the inside.
		detail = api.AsError(errors.New("")).Detail()
		detail.RequestID = x.id
	case status == http.StatusUnauthorized:
		x.Header().Set("WWW-Authenticate", "Bearer")
	}
	detail.RetryAfterMs = 0
	if seconds := retrySeconds(e); seconds > 0 {
		x.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
		detail.RetryAfterMs = seconds * 1000
	}
	document, err := namespace.Encode(api.ErrorBody{Error: detail})
	if err != nil {
		// Details that cannot be encoded are dropped rather than the answer.
		detail.Details = nil
		document, _ = namespace.Encode(api.ErrorBody{Error: detail})
	}
	x.send(status, mediaJSON, document)
}

// isCancelled reports whether the request's own context ended, as against one of
// the inside: that comes wrapped in an [api.Error].
func isCancelled(err error) bool {
	var own *api.Error
	return !errors.As(err, &own) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// retrySeconds is the whole number of seconds after which to try again, 0 for no
// advice. A refusal for now always has one, of at least a second.
func retrySeconds(e *api.Error) int64 {
	seconds := int64((max(e.RetryAfter, 0) + time.Second - 1) / time.Second)
	switch e.Code.Status() {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return max(seconds, 1)
	}
	if e.Code == api.IdempotencyInProgress {
		return max(seconds, 1)
	}
	return seconds
}

// document answers with a JSON document.
func (x *exchange) document(status int, body any) error {
	encoded, err := namespace.Encode(body)
	if err != nil {
		return err
	}
	x.send(status, mediaJSON, encoded)
	return nil
}

// answer sends what a command or query said.
func (x *exchange) answer(r *http.Request, a namespace.Answer) error {
	if a.Raw != nil {
		x.raw(r, a.Raw)
		return nil
	}
	// Not the route's status: a replay has only the answer's, and must be the
	// same.
	status := cmp.Or(a.Status, http.StatusOK)
	if encoded, stored := a.Encoded(); stored {
		x.send(status, mediaJSON, encoded)
		return nil
	}
	return x.document(status, a.Body)
}

// showAdmission tells a claimant how it was admitted, whether or not it succeeded.
func (x *exchange) showAdmission(wait time.Duration, concurrency int) {
	x.Header().Set(api.HeaderClaimWait, strconv.FormatInt(wait.Milliseconds(), 10))
	x.Header().Set(api.HeaderClaimConcurrency, strconv.Itoa(concurrency))
}

// send writes an answer that nothing may keep.
func (x *exchange) send(status int, media string, body []byte) {
	h := x.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", media)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	// A failed write means that the client is gone; there is nobody to tell.
	_, _ = x.Write(body)
}

// raw sends bytes that somebody stored. They are the work of a principal, not of
// the server, so a browser is told to save them, whatever they claim to be.
func (x *exchange) raw(r *http.Request, body *namespace.Raw) {
	h := x.Header()
	h.Set("Cache-Control", "private, no-cache")
	tag := entityTag(body.ETag)
	if tag != "" {
		h.Set("ETag", tag)
		if matches(r.Header.Values("If-None-Match"), tag) {
			x.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Type", body.MediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body.Bytes)))
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write(body.Bytes)
}

// entityTag is the tag in the quotes that HTTP wants.
func entityTag(tag string) string {
	if tag == "" || strings.HasPrefix(tag, `"`) || strings.HasPrefix(tag, `W/"`) {
		return tag
	}
	return `"` + tag + `"`
}

// matches reports whether one of the tags that a client has is tag, by the weak
// comparison of RFC 9110, section 8.8.3.2.
func matches(fields []string, tag string) bool {
	for _, field := range fields {
		for candidate := range strings.SplitSeq(field, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
