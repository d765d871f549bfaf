package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
)

const (
	defaultMaxBody = 2 << 20
	// bodyTimeout bounds how long a body may take from the end of its header.
	bodyTimeout = 30 * time.Second
	// discardTimeout bounds how long a body that is too large is read on, so
	// that its client, which may not read before it has written, sees the answer
	// and not a broken pipe.
	discardTimeout = 5 * time.Second
)

// boundBody gives the client a time by which the body must be there. It holds
// whether or not a route reads the body, because the server itself reads some of
// what a handler left; once all is read the server lifts it, so that it does not
// end a long poll. Where the writer has no connection to bound, as in a
// recorder, its server must.
func (x *exchange) boundBody(r *http.Request) {
	if r.ContentLength != 0 {
		x.unread = true
		x.readBy(bodyTimeout)
	}
}

// discardUnread reads on when the request has failed before its body was read.
// The client may be in the middle of it, with a key that has been revoked, say.
func (x *exchange) discardUnread(r *http.Request) {
	if !x.unread {
		return
	}
	x.unread = false
	limit := int64(defaultMaxBody)
	if x.route != nil {
		limit = max(limit, x.route.maxBody)
	}
	x.discardBody(r, limit)
}

// readBy makes reads of the connection fail after d.
func (x *exchange) readBy(d time.Duration) {
	_ = http.NewResponseController(x.ResponseWriter).SetReadDeadline(deadlineIn(d))
}

// writeBy makes writes to the connection fail after d, one that is under way too.
func (x *exchange) writeBy(d time.Duration) {
	_ = http.NewResponseController(x.ResponseWriter).SetWriteDeadline(deadlineIn(d))
}

// deadlineIn is the time after d. A connection's deadlines are wall times of the
// process; a context's are too, and this asks for one without asking what time it is.
func deadlineIn(d time.Duration) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	deadline, _ := ctx.Deadline()
	return deadline
}

// readBody reads the body up to the route's limit, and to its end: only from
// then on does the server notice that a client goes away.
func (x *exchange) readBody(r *http.Request) error {
	if r.ContentLength == 0 || r.Body == nil {
		return nil
	}
	x.unread = false
	limit := x.route.maxBody
	if r.ContentLength > limit {
		return x.refuseBody(r, limit)
	}
	body, err := readUpTo(r.Body, r.ContentLength, limit)
	switch {
	case int64(len(body)) > limit:
		return x.refuseBody(r, limit)
	case err == nil:
		x.body = body
		return nil
	}
	x.Header().Set("Connection", "close")
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return api.Errorf(api.BadRequest, "the body did not arrive within %s", bodyTimeout)
	}
	return api.Errorf(api.BadRequest, "the body ended too early").Wrapping(err)
}

// readUpTo reads r to its end, or until more than limit bytes have come. size is
// what the client says will come, -1 for unknown; it is believed only as far as
// costs little.
func readUpTo(r io.Reader, size, limit int64) ([]byte, error) {
	const least, most = 512, 64 << 10
	buf := make([]byte, 0, min(max(size, least), most)+1)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil || int64(len(buf)) > limit:
			return buf, err
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// discardBody reads what is left of a body, up to twice the limit and within
// discardTimeout. If there is more, the connection is of no use afterwards.
func (x *exchange) discardBody(r *http.Request, limit int64) {
	x.readBy(discardTimeout)
	// A client that waits to be told to go on has sent nothing, and reading
	// would tell it to.
	if r.Body == nil || strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	if _, err := io.CopyN(io.Discard, r.Body, 2*limit); err != io.EOF {
		x.Header().Set("Connection", "close")
	}
}

// refuseBody makes the error for a body over its limit, after discarding the
// body.
func (x *exchange) refuseBody(r *http.Request, limit int64) error {
	var actual any = r.ContentLength
	if r.ContentLength < 0 {
		actual = fmt.Sprintf("more than %d", limit)
	}
	x.discardBody(r, limit)
	return api.Errorf(api.BodyTooLarge, "the body is over the limit of %d bytes", limit).
		With("limit", limit).With("actual", actual)
}
