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
)

func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head := "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("a", 100<<10) + "\r\n\r\n"
	if r, _ := exchangeRaw(t, w.serve(), head, strings.NewReader("")); r.StatusCode != 431 {
		t.Errorf("status %d, want 431", r.StatusCode)
	}
}

func TestSlowHeadersAndIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]time.Duration{
		"GET /healthz HTTP/1.1\r\nHost:":                 defaultHeaderTimeout,
		"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n":       defaultIdleTimeout,
		"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /n": defaultHeaderTimeout,
	} {
		inBubble(t, nil, func(conn net.Conn) {
			start := time.Now()
			go func() { _, _ = io.WriteString(conn, sent) }()
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != want {
				t.Errorf("%q: closed after %v, want %v", sent, took, want)
			}
		})
	}
}

func TestLimitListenerBoundsOpenConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		l := LimitListener(inner, 2)
		accepted := make(chan net.Conn)
		ended := make(chan error, 1)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					ended <- err
					return
				}
				accepted <- c
			}
		}()
		arrive := func() {
			a, _ := net.Pipe()
			go func() {
				select {
				case inner.conns <- a:
				case <-inner.closed:
				}
			}()
		}
		for range 3 {
			arrive()
		}
		first := <-accepted
		<-accepted
		synctest.Wait()
		select {
		case <-accepted:
			t.Error("a third connection was accepted")
		default:
		}
		for range 2 { // the second Close must not free a second slot
			if err := first.Close(); err != nil {
				t.Error(err)
			}
		}
		<-accepted
		arrive()
		synctest.Wait()
		select {
		case <-accepted:
			t.Error("one connection was closed, and two were accepted for it")
		default:
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept ended with %v, want net.ErrClosed", err)
		}
	})
}

func TestLimitListenerKeepsTheSlotOfAFailedAccept(t *testing.T) {
	t.Parallel()
	l := LimitListener(failing{}, 1)
	for range 3 {
		if _, err := l.Accept(); !errors.Is(err, errSecret) {
			t.Errorf("error %v, want the listener's", err)
		}
	}
}

type failing struct{ net.Listener }

func (failing) Accept() (net.Conn, error) { return nil, errSecret }

// TestMalformedRequestsAreTheClientsFault sends requests as no client makes them
// and wants each answered as its sender's fault, or the connection closed.
func TestMalformedRequestsAreTheClientsFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.serve()
	requests := malformed(w.keys["producer"])
	if len(requests) < 100 {
		t.Fatalf("%d requests, want at least 100", len(requests))
	}
	for _, request := range requests {
		status, err := answerTo(address, request)
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Errorf("%.80q: %v", request, err)
		case err == nil && status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported:
			t.Errorf("%.300q: %d", request, status)
		case err == nil && status < 400:
			t.Errorf("%.80q: %d, want a refusal", request, status)
		}
	}
	if logs := w.logs.String(); strings.Contains(logs, "panic") || strings.Contains(logs, "request failed") {
		t.Errorf("a malformed request was the server's fault:\n%s", logs)
	}
}

// answerTo sends a request and reads the status. If the request stops in the
// middle, it says that nothing follows; behind a whole one that would mean that
// the client is gone.
func answerTo(address, request string) (int, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, err
	}
	if !whole(request) {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			return 0, err
		}
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return r.StatusCode, r.Body.Close()
}

func whole(request string) bool {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

func malformed(key string) []string {
	var all []string
	lines := []string{
		"", "\r\n", "GET", "GET /", "GET / HTTP/9.9", "GET  /healthz HTTP/1.1", "GET /healthz", "GET /healthz HTTP/1.1 x", "get / HTTP/1.1",
		"\x00 / HTTP/1.1", "GET \x00 HTTP/1.1", "GET /%zz HTTP/1.1", "GET /ns/%zz/api/v2/notes HTTP/1.1", "GET * HTTP/1.1", "OPTIONS * HTTP/1.1",
		"CONNECT x:1 HTTP/1.1", "CONNECT /healthz HTTP/1.1", "TRACE /healthz HTTP/1.1", "PRI * HTTP/2.0", "GET http://[::1 HTTP/1.1",
		"GET /ns/../healthz HTTP/1.1", "GET /ns//api/v2/notes HTTP/1.1", "GET /ns/demo%2Fapi/v2/notes HTTP/1.1", "GET //healthz HTTP/1.1",
		"GET /ns/demo/api/v2/notes/%00 HTTP/1.1", "GET /ns/demo/api/v2/notes/%ff HTTP/1.1", "GET /ns/demo/api/v2/notes/\xff HTTP/1.1",
		"GET /ns/demo/api/v2/notes?limit=% HTTP/1.1", "GET /ns/demo/api/v2/notes?limit=-1 HTTP/1.1", "GET /ns/demo/api/v2/notes?limit=1e3 HTTP/1.1",
		"GET /ns/demo/api/v2/notes?limit=99999999999999999999 HTTP/1.1", "GET /ns/demo/api/v2/notes?cursor=%00 HTTP/1.1",
		"GET /ns/demo/api/v2/notes?cursor=AAAA HTTP/1.1", "GET /ns/demo/api/v2/notes?order=up HTTP/1.1", "GET /" + strings.Repeat("a", 10_000) + " HTTP/1.1",
		"GET /ns/" + strings.Repeat("%61", 100) + "/api/v2/notes HTTP/1.1", "GET /ns/demo/api/v2/notes/" + strings.Repeat("../", 1000) + "x HTTP/1.1",
		"DELETE /ns/demo/api/v2/notes HTTP/1.1", "GET /ns/DEMO/api/v2/notes HTTP/1.1", "GET /ns/demo/api/v2/notes#x HTTP/1.1 ",
	}
	for _, line := range lines {
		all = append(all, line+"\r\nHost: x\r\nX-Api-Key: "+key+"\r\n\r\n")
	}
	headers := []string{
		"Host: x", "Host: a\r\nHost: b", "", "Host: x y", "Host: x\r\nNo-Colon", "Host: x\r\n: empty", "Host: x\r\n Folded: y", "Host: x\r\nBad Name: y",
		"Host: x\r\nX: \x00", "Host: x\r\nContent-Length: -1", "Host: x\r\nContent-Length: x", "Host: x\r\nContent-Length: 1\r\nContent-Length: 2",
		"Host: x\r\nContent-Length: 99999999999999999999", "Host: x\r\nTransfer-Encoding: x", "Host: x\r\nTransfer-Encoding: chunked, chunked",
		"Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1", "Host: x\r\nExpect: x", "Host: x\r\nConnection: upgrade\r\nUpgrade: h2c",
		"Host: x\r\nAuthorization: Bearer", "Host: x\r\nAuthorization: Basic eDp5", "Host: x\r\nX-Api-Key: \xff", "Host: x\r\nX-Api-Key: a\r\nX-Api-Key: b",
	}
	for _, h := range headers {
		all = append(all, "POST /ns/demo/api/v2/notes HTTP/1.1\r\n"+h+"\r\n\r\n")
	}
	keyed := "POST /ns/demo/api/v2/notes HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + key + "\r\n"
	bodies := []string{
		"", "{", "}", "[", "]", "null", "true", "1", `"x"`, "{}", "[{}]", "{}{}", "{},", `{"key"}`, `{"key":}`, `{"key":"a"`, `{"key":"a"}x`, `{"key":"a","key":"b"}`,
		`{"key":null}`, `{"key":1}`, `{"key":[]}`, `{"key":{}}`, `{"key":true}`, `{"key":"a","x":1}`, `{"KEY":"a"}`, `{"":""}`, `{"key":"\ud800"}`, `{"key":"\x"}`,
		"{\"key\":\"\x00\"}", "{\"key\":\"\xff\"}", "\x00", "\xff\xfe{}", "\xef\xbb\xbf{}", "{'key':'a'}", "{key:1}", "{\"key\":\"a\"}\x00", "NaN", `{"key":NaN}`, `{"key":Infinity}`,
		"// x\n{}", "/**/{}", strings.Repeat("[", 9999), strings.Repeat(`{"key":`, 9999), `{"key":` + strings.Repeat("9", 9999) + "}", "key=a&value=b", "<key>a</key>",
	}
	for _, body := range bodies {
		all = append(all,
			keyed+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
			keyed+"Idempotency-Key: k\r\n"+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+5, body),
			keyed+fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body))
	}
	return append(all,
		keyed+"Transfer-Encoding: chunked\r\n\r\nzz\r\n", keyed+"Transfer-Encoding: chunked\r\n\r\n-1\r\n", keyed+"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
		keyed+"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", keyed+"Idempotency-Key: \r\nContent-Length: 0\r\n\r\n",
		keyed+"Idempotency-Key: "+strings.Repeat("k", 256)+"\r\nContent-Length: 0\r\n\r\n", keyed+"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
	)
}
