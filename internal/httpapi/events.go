package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const (
	headerLastEventID = "Last-Event-ID"
	// keepalive is how long a stream may be silent.
	keepalive = 15 * time.Second
	// eventTimeout bounds how long a client may take what it is sent at once.
	eventTimeout = 30 * time.Second
	// hurriedTimeout is what is left of that once the namespace is to be passivated
	// or closed, which a client that does not read must not hold up.
	hurriedTimeout = time.Second
)

// readStreaming reads what a client says of the stream it wants.
func (x *exchange) readStreaming(r *http.Request) error {
	if !x.route.streams {
		return nil
	}
	values := r.Header.Values(headerLastEventID)
	if len(values) > 1 || len(values) == 1 && values[0] != "" && !shortASCII(values[0]) {
		e := api.Errorf(api.BadRequest, "%s is one value of up to 255 printable ASCII characters", headerLastEventID)
		e.Field = headerLastEventID
		return e
	}
	if len(values) == 1 {
		x.lastEventID = values[0]
	}
	// HEAD asks for the header of a document, which has an end.
	x.stream = r.Method == x.route.method && acceptsEvents(r.Header)
	return nil
}

// follow answers with what a query finds, as it comes, in server-sent events. The
// header is sent when the first look has succeeded, so that an error that comes
// before is an answer like any other; later there is no one to tell of an error but
// the log, and the stream ends.
func (x *exchange) follow(r *http.Request, class string, q namespace.Streaming) error {
	// Only a request that was read to its end tells when its client goes away.
	x.discardUnread(r)
	s := &eventStream{x: x, control: http.NewResponseController(x.ResponseWriter), closing: r.ProtoMajor == 1}
	err := x.space().Stream(r.Context(), class, x.caller, q, keepalive, s.emit)
	switch {
	case err == nil && !s.begun:
		s.begin()
		return nil
	case err == nil || s.broken:
		return nil
	case !s.begun:
		return err
	}
	if !isCancelled(err) {
		x.logFailure(r, api.AsError(err))
	}
	return nil
}

// eventStream writes server-sent events (WHATWG HTML, section 9.2).
type eventStream struct {
	x       *exchange
	control *http.ResponseController
	// begun says that the header was sent, and broken that a write failed: the
	// client is gone or does not read.
	begun, broken bool
	// closing says that the connection ends with the stream: in HTTP/1 the deadline
	// for writes is the connection's, and would cut off an answer to a later request.
	closing bool
	out     bytes.Buffer
}

// emit sends frames, or a comment if there are none, and waits until they have left.
func (s *eventStream) emit(ctx context.Context, frames []namespace.Frame) error {
	s.out.Reset()
	for i := range frames {
		if err := s.encode(&frames[i]); err != nil {
			return err
		}
	}
	if len(frames) == 0 {
		s.out.WriteString(": keepalive\n\n")
	}
	s.x.writeBy(eventTimeout)
	defer s.hurry(ctx)()
	if !s.begun {
		s.begin()
	}
	_, err := s.x.Write(s.out.Bytes())
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		// A writer that cannot flush is the fault of who wrapped it, and is logged.
		s.broken = !errors.Is(err, http.ErrNotSupported)
		return fmt.Errorf("send events: %w", err)
	}
	return nil
}

// hurry shortens the time for a write under way when ctx ends. The function returned
// must be called behind the write, and waits: a deadline must not be set once the
// request is over.
func (s *eventStream) hurry(ctx context.Context) (settle func()) {
	settled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(settled)
		s.x.writeBy(hurriedTimeout)
	})
	return func() {
		if !stop() {
			<-settled
		}
	}
}

// begin sends the header.
func (s *eventStream) begin() {
	s.begun = true
	h := s.x.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", mediaEvents)
	h.Set("X-Content-Type-Options", "nosniff")
	if s.closing {
		h.Set("Connection", "close")
	}
	s.x.WriteHeader(http.StatusOK)
}

// encode appends a frame. An id or type with a line end would be read as more lines.
func (s *eventStream) encode(f *namespace.Frame) error {
	if strings.ContainsAny(f.ID+f.Event, "\x00\r\n") {
		return errors.New("encode event: its id or type is not a single line")
	}
	data, err := namespace.Encode(f.Data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if f.ID != "" {
		s.out.WriteString("id: " + f.ID + "\n")
	}
	if f.Event != "" {
		s.out.WriteString("event: " + f.Event + "\n")
	}
	s.out.WriteString("data: ")
	s.out.Write(data)
	s.out.WriteString("\n\n")
	return nil
}
