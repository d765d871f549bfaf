package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestStreamTellsEventsAsTheyAreAppended(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		s.write("a", "noted", "one")
		m := s.follow("a", "worker")
		if m.StatusCode != 200 {
			t.Fatalf("status %d, want 200", m.StatusCode)
		}
		got := map[string]string{}
		for _, name := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options", "Content-Length"} {
			got[name] = m.Header.Get(name)
		}
		want := map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Length": "",
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("headers (-got +want):\n%s", diff)
		}
		m.is("id: 1\nevent: noted\ndata: {\"type\":\"noted\",\"text\":\"one\"}\n")
		s.write("b", "noted", "of another log")
		s.write("a", "noted", "line\nend")
		m.is("id: 2\nevent: noted\ndata: {\"type\":\"noted\",\"text\":\"line\\nend\"}\n")
		if n := s.accesses(200); n != 0 {
			t.Errorf("%d streams have ended, want none", n)
		}
		s.write("a", "end", "")
		m.is("id: 3\nevent: end\ndata: {\"type\":\"end\"}\n")
		m.ends()
		if n := s.accesses(200); n != 1 {
			t.Errorf("the access log has %d streams with status 200, want 1", n)
		}
	})
}

func TestStreamGoesOnBehindTheLastEventID(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		for _, text := range []string{"one", "two", "three"} {
			s.write("a", "noted", text)
		}
		s.write("a", "end", "")
		m := s.follow("a", "worker", "Last-Event-ID: 2")
		m.is("id: 3\nevent: noted\ndata: {\"type\":\"noted\",\"text\":\"three\"}\n")
		m.is("id: 4\nevent: end\ndata: {\"type\":\"end\"}\n")
		m.ends()
		m = s.follow("a", "worker", "Last-Event-ID: 4")
		if m.StatusCode != 200 || m.Header.Get("Content-Type") != mediaEvents {
			t.Errorf("status %d, %v behind the last event; want a stream", m.StatusCode, m.Header)
		}
		m.is(quiet)
		m.ends()
	})
}

func TestQuietStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		var m *stream
		if d := took(func() { m = s.silent("worker") }); d != 0 {
			t.Errorf("a stream without an event began after %v, want at once", d)
		}
		for range 10 { // well beyond every bound of a request
			if d := took(func() { m.is(quiet) }); d != 15*time.Second {
				t.Errorf("a comment after %v, want 15s", d)
			}
		}
		time.Sleep(10 * time.Second)
		s.write("silence", "noted", "x")
		m.next()
		if d := took(func() { m.is(quiet) }); d != 15*time.Second {
			t.Errorf("a comment %v after the event, want 15s", d)
		}
	})
}

func TestErrorBeforeAStreamIsAnAnswerLikeAnyOther(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		s.write("bad", "broken", "")
		s.follow("absent", "worker").refused(api.NotFound)
		s.follow("absent", "none").refused(api.Unauthorized)
		s.follow("bad", "worker").refused(api.Internal)
		s.write("odd", "two\nlines", "")
		s.follow("odd", "worker").refused(api.Internal)
		s.follow("a", "worker", "Last-Event-ID: 1", "Last-Event-ID: 2").refused(api.BadRequest)
		if n := s.accesses(404); n != 1 {
			t.Errorf("the access log has %d requests with status 404, want 1", n)
		}
	})
}

func TestErrorInAStreamEndsItAndIsLogged(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		m := s.silent("worker")
		s.write("silence", "broken", "payload")
		m.ends()
		synctest.Wait()
		logs := s.logs.String()
		if !strings.Contains(logs, "request failed") || !strings.Contains(logs, errSecret.Error()) {
			t.Errorf("the failure is not in the log:\n%s", logs)
		}
		if strings.Contains(logs, "payload") {
			t.Errorf("an event's content is in the log:\n%s", logs)
		}
	})
}

func TestWriterThatCannotFlushIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := httptest.NewRequest("GET", logPath+"silence", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("X-Api-Key", w.keys["worker"])
	w.h.ServeHTTP(struct{ http.ResponseWriter }{httptest.NewRecorder()}, r)
	if logs := w.logs.String(); !strings.Contains(logs, "request failed") {
		t.Errorf("the failure is not in the log:\n%s", logs)
	}
}

func TestStreamEndsWhenItsKeyIsRevoked(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		key := s.key("demo", "p", api.RoleWorker)
		s.keys["p"] = key.Secret
		m := s.silent("p")
		if err := s.rt.Namespace("demo").RevokeKey(s.t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		if d := took(m.ends); d > keepalive {
			t.Errorf("the stream ended %v after its key, want within %v", d, keepalive)
		}
	})
}

// Whatever ends a namespace ends its streams, at once and in the proper form, and
// is not held up by them.
func TestStreamEndsWithTheActivation(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*streams) error{
		"shutdown": func(s *streams) error {
			return errors.Join(s.rt.Shutdown(s.t.Context()), s.server.Shutdown(s.t.Context()))
		},
		"close":    func(s *streams) error { return s.rt.Close() },
		"deletion": func(s *streams) error { return s.rt.Delete(s.t.Context(), "demo") },
		"eviction": func(s *streams) error {
			_, err := s.rt.Namespace("other").Describe(s.t.Context())
			return err
		},
	}
	for way, end := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			inStreams(t, namespace.Options{MaxActive: 1}, func(s *streams) {
				m := s.silent("worker")
				time.Sleep(time.Second)
				over := make(chan error, 1)
				d := took(func() {
					go func() { over <- end(s) }()
					m.ends()
					if err := <-over; err != nil {
						t.Errorf("%s: %v", way, err)
					}
				})
				if s.t.Failed() {
					t.Logf("the log:\n%s", s.logs)
				}
				if d >= hurriedTimeout {
					t.Errorf("the end took %v", d)
				}
				if n := s.accesses(200); n != 1 {
					t.Errorf("%d streams have ended with status 200, want 1", n)
				}
			})
		})
	}
}

// stall has a client that stopped to read, with an event under way to it.
func (s *streams) stall() *stream {
	m := s.silent("worker")
	s.write("silence", "noted", "x")
	synctest.Wait()
	return m
}

func TestClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		m := s.stall()
		time.Sleep(eventTimeout - time.Millisecond)
		if n := s.accesses(200); n != 0 {
			t.Fatalf("the stream ended before %v", eventTimeout)
		}
		time.Sleep(time.Millisecond)
		if n := s.accesses(200); n != 1 {
			t.Fatalf("%d streams have ended after %v, want 1", n, eventTimeout)
		}
		if _, err := io.ReadAll(m.from); err == nil {
			t.Error("the answer that was cut off has a proper end")
		}
		if logs := s.logs.String(); strings.Contains(logs, "request failed") {
			t.Errorf("a slow client was the server's fault:\n%s", logs)
		}
	})
}

func TestClientThatDoesNotReadHoldsUpNoEnd(t *testing.T) {
	t.Parallel()
	inStreams(t, namespace.Options{}, func(s *streams) {
		s.stall()
		var err error
		if d := took(func() { err = s.rt.Shutdown(s.t.Context()) }); err != nil || d > hurriedTimeout {
			t.Errorf("the drain took %v: %v; want at most %v", d, err, hurriedTimeout)
		}
	})
}

func TestClientThatGoesAwayEndsItsStream(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{"": nil, "after a body": {"Content-Length: 2\r\n\r\n{}"}} {
		inStreams(t, namespace.Options{}, func(s *streams) {
			m := s.follow("silence", "worker", headers...)
			m.is(quiet)
			if err := m.conn.Close(); err != nil {
				t.Fatal(err)
			}
			if n := s.accesses(200); n != 1 {
				t.Errorf("%s: %d streams have ended, want 1", name, n)
			}
			if logs := s.logs.String(); strings.Contains(logs, "request failed") {
				t.Errorf("a client that went away was the server's fault:\n%s", logs)
			}
		})
	}
}

func TestStreamOverTCPLeavesWithItsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.h)
	defer server.Close() // which waits for the request
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+logPath+"silence", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("X-Api-Key", w.keys["worker"])
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len(quiet))
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != quiet {
		t.Errorf("got %q, %v at once; want %q", first, err, quiet)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhoAsksForNoStreamGetsADocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", logPath+"a", "producer", `{"type":"end"}`), 200, "")
	const document = `{"data":[{"type":"end"}],"next_cursor":null}`
	for accept, want := range map[string]string{"*/*": document, "": document, "text/event-stream": "id: 1\nevent: end\ndata: {\"type\":\"end\"}\n\n"} {
		r := w.do("GET", logPath+"a", "worker", "", "Accept: "+accept)
		if r.Code != 200 || r.Body.String() != want {
			t.Errorf("Accept %q: %d %q, want %q", accept, r.Code, r.Body, want)
		}
	}
	head := w.do("HEAD", logPath+"a", "worker", "", "Accept: text/event-stream")
	if head.Code != 200 || head.Header().Get("Content-Type") != mediaJSON {
		t.Errorf("HEAD: %d %v, want the header of the document", head.Code, head.Header())
	}
	w.want(w.do("POST", notesPath, "producer", `{"key":"k"}`), 201, "")
	if r := w.do("GET", notesPath, "worker", "", "Accept: text/event-stream"); r.Header().Get("Content-Type") != mediaJSON {
		t.Errorf("a route that does not stream gave %v", r.Header())
	}
}

func TestLastEventIDIsHeldToItsRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", logPath+"a", "producer", `{"type":"end"}`), 200, "")
	long := strings.Repeat("0", 255)
	tests := []struct {
		values []string
		status int
	}{
		{nil, 200},
		{[]string{""}, 200},
		{[]string{"0"}, 200},
		{[]string{long}, 200},
		{[]string{long + "0"}, 400},
		{[]string{"ü"}, 400},
		{[]string{"1\x7f"}, 400},
		{[]string{"1", "1"}, 400},
		{[]string{"", ""}, 400},
	}
	for _, test := range tests {
		for _, accept := range []string{"*/*", "text/event-stream"} {
			headers := []string{"Accept: " + accept}
			for _, v := range test.values {
				headers = append(headers, "last-event-id: "+v)
			}
			r := w.do("GET", logPath+"a", "worker", "", headers...)
			if r.Code != test.status {
				t.Errorf("%q: %d, want %d", test.values, r.Code, test.status)
			}
			if r.Code == 400 && !strings.Contains(r.Body.String(), `"field":"Last-Event-ID"`) {
				t.Errorf("%q: the error names no field: %s", test.values, r.Body)
			}
		}
	}
	w.want(w.do("GET", notesPath, "worker", "", "Last-Event-ID: ü"), 200, "")
}

func TestEventIsOneLineForEachOfItsParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		frame namespace.Frame
		want  string
	}{
		{namespace.Frame{ID: "7", Event: "e", Data: json.RawMessage("{\n\"a\" :\r\n1}")}, "id: 7\nevent: e\ndata: {\"a\":1}\n\n"},
		{namespace.Frame{Data: "a\r\nb\u2028<&>"}, "data: \"a\\r\\nb\u2028<&>\"\n\n"},
		{namespace.Frame{ID: "7\ndata: x", Data: 1}, ""},
		{namespace.Frame{ID: "7\x00", Data: 1}, ""},
		{namespace.Frame{Event: "e\rid: 8", Data: 1}, ""},
		{namespace.Frame{Data: func() {}}, ""},
	}
	for _, test := range tests {
		s := &eventStream{}
		err := s.encode(&test.frame)
		if got := s.out.String(); got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%+v: got %q, %v; want %q", test.frame, got, err, test.want)
		}
	}
}
