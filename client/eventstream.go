package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxStreamMessage bounds a line of an event stream, and the data of a message too. A
// run's event is a few hundred bytes.
const maxStreamMessage = 1 << 20

var errLongMessage = errors.New("a message of the event stream is longer than 1 MiB")

// eventStream reads server-sent events by the rules of the WHATWG HTML standard,
// section 9.2.6: lines end with CRLF, LF or CR, a BOM may lead, a line that begins
// with a colon is a comment, and an empty line ends a message. Only the data of a
// message is kept: a run's event says its own type and sequence, and how long to
// stay away is the client's own affair.
type eventStream struct {
	r *bufio.Reader
	// line is the buffer of the current line.
	line []byte
	// begun says that the first line was read, and cr that the last line ended
	// with CR, so that an LF that follows belongs to it. Waiting for that LF at
	// once would hold a message up until the next one.
	begun, cr bool
}

func newEventStream(r io.Reader) *eventStream {
	return &eventStream{r: bufio.NewReader(r)}
}

// next returns the data of the next message that has any, an LF between its
// lines. The error is io.EOF at the end of the stream; a message that the end cuts
// off is none.
func (s *eventStream) next() ([]byte, error) {
	var data []byte
	for {
		line, err := s.readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if data != nil {
				return data[:len(data)-1], nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if len(data)+len(value) >= maxStreamMessage {
			return nil, errLongMessage
		}
		data = append(append(data, value...), '\n')
	}
}

// readLine returns the next whole line without its end, valid until the next
// call.
func (s *eventStream) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return nil, err
		}
		afterCR := s.cr
		s.cr = b == '\r'
		if b == '\n' && afterCR {
			continue
		}
		if b == '\r' || b == '\n' {
			return s.withoutBOM(), nil
		}
		if len(s.line) >= maxStreamMessage {
			return nil, errLongMessage
		}
		s.line = append(s.line, b)
	}
}

// withoutBOM is the current line, which if it is the first may have a mark before
// it.
func (s *eventStream) withoutBOM() []byte {
	if s.begun {
		return s.line
	}
	s.begun = true
	return bytes.TrimPrefix(s.line, []byte("\ufeff"))
}
