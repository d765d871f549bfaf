package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
)

// exchangeRaw writes a request as it stands, all of it before it reads, and
// reads one answer.
func exchangeRaw(t *testing.T, address, head string, body io.Reader) (*http.Response, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(conn, body); err != nil {
		t.Fatalf("the connection broke while the body was sent: %v", err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, answer
}

func TestBodyOverItsLimitIsAnsweredToAClientThatWritesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.serve()
	tests := []struct {
		name, path string
		size       int
		chunked    bool
		status     int
		actual     string
	}{
		{"at the limit", "notes", 2 << 20, false, 400, ""},
		{"at the limit, chunked", "notes", 2 << 20, true, 400, ""},
		{"one over", "notes", 2<<20 + 1, false, 413, "2097153"},
		{"one over, chunked", "notes", 2<<20 + 1, true, 413, `"more than 2097152"`},
		{"three times", "notes", 6 << 20, false, 413, "6291456"},
		{"three times, chunked", "notes", 6 << 20, true, 413, `"more than 2097152"`},
		{"the larger limit", "notes:import", 5 << 20, false, 400, ""},
		{"over the larger limit", "notes:import", 5<<20 + 1, false, 413, "5242881"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			head := fmt.Sprintf("POST /ns/demo/api/v2/%s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nIdempotency-Key: k\r\n",
				test.path, w.keys["producer"])
			body := bytes.Repeat([]byte("x"), test.size)
			if test.chunked {
				head += "Transfer-Encoding: chunked\r\n\r\n"
				body = []byte(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body))
			} else {
				head += fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
			}
			r, answer := exchangeRaw(t, address, head, bytes.NewReader(body))
			if r.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", r.StatusCode, test.status, answer)
			}
			wantErrorForm(t, r, answer)
			if test.status == 413 && !strings.Contains(string(answer), `"details":{"actual":`+test.actual+`,"limit":`) {
				t.Errorf("limit and actual %s are not in %s", test.actual, answer)
			}
		})
	}
}

// A client that is refused before its body was read sees the answer, whether or
// not it writes all before it reads, and can go on.
func TestRefusedRequestLeavesItsConnectionFitForTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.serve()
	for path, status := range map[string]int{notesPath: 401, "/ns/demo/nothing": 404, "/healthz": 405, "/ns/A/x": 400} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, 1<<20)
		if _, err := conn.Write(make([]byte, 1<<20)); err != nil {
			t.Fatalf("%s: write body: %v", path, err)
		}
		io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		from := bufio.NewReader(conn)
		for _, want := range []int{status, 200} {
			r, err := http.ReadResponse(from, nil)
			if err != nil {
				t.Fatalf("%s: no answer where %d is due: %v", path, want, err)
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != want {
				t.Errorf("%s: got %d (%v), want %d", path, r.StatusCode, err, want)
			}
		}
	}
}

func TestClientThatExpectsToBeToldIsNotToldToSendTooMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head := "POST /ns/demo/api/v2/notes HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + w.keys["producer"] +
		"\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"
	r, answer := exchangeRaw(t, w.serve(), head, strings.NewReader(""))
	if r.StatusCode != 413 {
		t.Errorf("status %d, want 413: %s", r.StatusCode, answer)
	}
}

func TestBodyIsNotReadForWhoIsNotAuthorized(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, bearer := range []string{"none", "worker"} {
		r := httptest.NewRequest("POST", notesPath, iotest.ErrReader(errors.New("read")))
		r.Header.Set("X-Api-Key", w.keys[bearer])
		recorder := httptest.NewRecorder()
		w.h.ServeHTTP(recorder, r)
		if recorder.Code != 401 && recorder.Code != 403 {
			t.Errorf("as %s: %d", bearer, recorder.Code)
		}
	}
	r := httptest.NewRequest("POST", notesPath, iotest.ErrReader(errors.New("read")))
	r.Header.Set("X-Api-Key", w.keys["producer"])
	recorder := httptest.NewRecorder()
	w.h.ServeHTTP(recorder, r)
	w.want(recorder, 400, api.BadRequest)
}

// pipeListener gives a server the other ends of pipes, whose deadlines follow
// the clock of a synctest bubble.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// inBubble serves routes over a pipe under a virtual clock.
func inBubble(t *testing.T, routes []*route, talk func(net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		h := &handler{log: slog.New(slog.DiscardHandler)}
		var err error
		if h.routers, err = mount(routes, h.unknownRoute, h.wrongMethod); err != nil {
			t.Fatal(err)
		}
		l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := NewServer(h, ServerOptions{Logger: h.log})
		done := make(chan error)
		go func() { done <- server.Serve(l) }()
		mine, theirs := net.Pipe()
		l.conns <- theirs
		talk(mine)
		if err := errors.Join(mine.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		<-done
	})
}

func reading(seen *string) []*route {
	return []*route{{method: "POST", path: "/read", maxBody: 1000, serve: func(x *exchange, r *http.Request) error {
		*seen = string(x.body)
		return x.document(http.StatusOK, nil)
	}}}
}

func TestSlowBodyIsGivenUp(t *testing.T) {
	t.Parallel()
	var seen string
	inBubble(t, reading(&seen), func(conn net.Conn) {
		start := time.Now()
		_, _ = io.WriteString(conn, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n")
		over, written := make(chan struct{}), make(chan struct{})
		defer func() { close(over); <-written }()
		go func() {
			defer close(written)
			for {
				select {
				case <-time.After(time.Second):
				case <-over:
					return
				}
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
			}
		}()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); r.StatusCode != 400 || took != bodyTimeout || !r.Close {
			t.Errorf("status %d after %v, close %v; want 400 after %v and the connection closed", r.StatusCode, took, r.Close, bodyTimeout)
		}
	})
}

func TestSlowBodyOfARefusedRequestIsGivenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(conn net.Conn) {
		start := time.Now()
		_, _ = io.WriteString(conn, "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nx")
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); r.StatusCode != 404 || took > discardTimeout {
			t.Errorf("status %d after %v; want 404 within %v", r.StatusCode, took, discardTimeout)
		}
	})
}

func TestLargeSlowBodyIsDiscardedForAWhileOnly(t *testing.T) {
	t.Parallel()
	var seen string
	inBubble(t, reading(&seen), func(conn net.Conn) {
		start := time.Now()
		_, _ = io.WriteString(conn, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\nx")
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); r.StatusCode != 413 || took != discardTimeout {
			t.Errorf("status %d after %v; want 413 after %v", r.StatusCode, took, discardTimeout)
		}
	})
}

func TestLongPollOutlivesTheBodysDeadline(t *testing.T) {
	t.Parallel()
	routes := []*route{{method: "POST", path: "/poll", maxBody: 1000, serve: func(x *exchange, r *http.Request) error {
		select {
		case <-r.Context().Done():
			return r.Context().Err()
		case <-time.After(10 * bodyTimeout):
			return x.document(http.StatusOK, nil)
		}
	}}}
	for _, body := range []string{"", "{}"} {
		inBubble(t, routes, func(conn net.Conn) {
			go func() {
				_, _ = fmt.Fprintf(conn, "POST /poll HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			}()
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.StatusCode != 200 {
				t.Errorf("a poll with the body %q ended with %d", body, r.StatusCode)
			}
		})
	}
}

func TestClientThatGoesAwayCancelsItsRequest(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	routes := []*route{{method: "POST", path: "/poll", maxBody: 1000, serve: func(x *exchange, r *http.Request) error {
		<-r.Context().Done()
		close(gone)
		return r.Context().Err()
	}}}
	h := &handler{log: slog.New(slog.DiscardHandler)}
	var err error
	if h.routers, err = mount(routes, h.unknownRoute, h.wrongMethod); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /poll HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	<-gone
}

func TestReadUpToStopsBehindItsLimit(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 511, 512, 513, 65_535, 65_536, 65_537, 99_999, 100_000, 100_001, 1_000_000} {
		for _, said := range []int64{-1, int64(size)} {
			r := strings.NewReader(strings.Repeat("x", size))
			got, err := readUpTo(r, said, 100_000)
			if err != nil {
				t.Fatal(err)
			}
			if size <= 100_000 && len(got) != size {
				t.Errorf("%d bytes of %d", len(got), size)
			}
			if size > 100_000 && (len(got) <= 100_000 || len(got) > 300_000) {
				t.Errorf("%d bytes of %d with a limit of 100,000", len(got), size)
			}
		}
	}
	if _, err := readUpTo(iotest.ErrReader(os.ErrDeadlineExceeded), 10, 10); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, want the reader's", err)
	}
}
