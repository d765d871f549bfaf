package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const logPath = "/ns/demo/api/v2/logs/"

// streams is a world under a virtual clock whose server is reached through pipes.
type streams struct {
	*world
	listener *pipeListener
	server   *http.Server
}

func inStreams(t *testing.T, bounds namespace.Options, test func(*streams)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldWith(t, bounds)
		s := &streams{
			world: w, server: NewServer(w.h, ServerOptions{Logger: w.h.log}),
			listener: &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})},
		}
		done := make(chan error)
		go func() { done <- s.server.Serve(s.listener) }()
		t.Cleanup(func() {
			if err := s.server.Close(); err != nil {
				t.Error(err)
			}
			<-done
		})
		test(s)
	})
}

// write appends an entry to a log.
func (s *streams) write(log, kind, text string) {
	s.t.Helper()
	s.want(s.do("POST", logPath+log, "producer", fmt.Sprintf(`{"type":%q,"text":%q}`, kind, text)), 200, "")
}

// stream is an answer that is read as it comes.
type stream struct {
	t    *testing.T
	conn net.Conn
	*http.Response
	from *bufio.Reader
}

// follow asks for a stream and waits for the header of its answer.
func (s *streams) follow(log, key string, headers ...string) *stream {
	s.t.Helper()
	mine, theirs := net.Pipe()
	s.t.Cleanup(func() { mine.Close() })
	s.listener.conns <- theirs
	head := "GET " + logPath + log + " HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nX-Api-Key: " + s.keys[key] + "\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	if _, err := io.WriteString(mine, head+"\r\n"); err != nil {
		s.t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(mine), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &stream{t: s.t, conn: mine, Response: r, from: bufio.NewReader(r.Body)}
}

// next reads one message, without the empty line behind it.
func (m *stream) next() string {
	m.t.Helper()
	var message strings.Builder
	for {
		line, err := m.from.ReadString('\n')
		if err != nil {
			m.t.Fatalf("the stream ended after %q: %v", message.String()+line, err)
		}
		if line == "\n" {
			return message.String()
		}
		message.WriteString(line)
	}
}

// is reads one message and compares it.
func (m *stream) is(want string) {
	m.t.Helper()
	if got := m.next(); got != want {
		m.t.Errorf("got the message %q, want %q", got, want)
	}
}

// ends wants the answer to be at its proper end.
func (m *stream) ends() {
	m.t.Helper()
	if rest, err := io.ReadAll(m.from); err != nil || len(rest) > 0 {
		m.t.Errorf("got %q, %v; want the end", rest, err)
	}
	d := took(func() {
		if n, err := m.conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			m.t.Errorf("read %d bytes, %v behind the end; want the connection closed", n, err)
		}
	})
	if d > 0 {
		m.t.Errorf("the connection was closed %v after the end, want at once", d)
	}
}

// quiet is what a stream without an entry begins with, and sends from time to time.
const quiet = ": keepalive\n"

// silent follows a log without an entry.
func (s *streams) silent(key string) *stream {
	s.t.Helper()
	m := s.follow("silence", key)
	if m.StatusCode != 200 {
		s.t.Fatalf("status %d, want 200", m.StatusCode)
	}
	m.is(quiet)
	return m
}

// accesses counts the requests for a log that have ended with a status.
func (s *streams) accesses(status int) int {
	synctest.Wait()
	n := 0
	for line := range strings.Lines(s.logs.String()) {
		if strings.Contains(line, `msg=request `) && strings.Contains(line, "method=GET") &&
			strings.Contains(line, "logs/{id}") && strings.Contains(line, fmt.Sprintf(" status=%d ", status)) {
			n++
		}
	}
	return n
}

// took measures f by the virtual clock.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// refused wants the answer to be an error of its usual form.
func (m *stream) refused(code api.Code) {
	m.t.Helper()
	body, err := io.ReadAll(m.from)
	if err != nil {
		m.t.Fatal(err)
	}
	if e := wantErrorForm(m.t, m.Response, body); e.Code != code {
		m.t.Errorf("code %q, want %q", e.Code, code)
	}
}
