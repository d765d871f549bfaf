package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// tap is [wire] for answers that stream: it returns once the handler begins to
// write, and what is written arrives at once.
type tap struct{ http.Handler }

func (p tap) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, hangUp := context.WithCancel(r.Context())
	body, w := io.Pipe()
	t := &tapped{header: http.Header{}, begun: make(chan int, 1), body: w}
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
	go func() {
		p.ServeHTTP(t, r.WithContext(ctx))
		t.WriteHeader(http.StatusOK)
		_ = w.Close()
	}()
	select {
	case status := <-t.begun:
		return &http.Response{StatusCode: status, Header: t.header, Body: &hose{body, hangUp}}, nil
	case <-ctx.Done():
		hangUp()
		return nil, ctx.Err()
	}
}

// hose is the body at the reader's end, which ends the request's context at the
// handler when it is closed.
type hose struct {
	io.ReadCloser
	hangUp context.CancelFunc
}

func (h *hose) Close() error {
	h.hangUp()
	return h.ReadCloser.Close()
}

type tapped struct {
	header http.Header
	once   sync.Once
	begun  chan int
	body   *io.PipeWriter
}

func (t *tapped) Header() http.Header    { return t.header }
func (t *tapped) WriteHeader(status int) { t.once.Do(func() { t.begun <- status }) }
func (t *tapped) Write(p []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	return t.body.Write(p)
}

// send writes the events of run r1 with these numbers as a stream. Number 9 is
// its last.
func send(w http.ResponseWriter, sequences ...int64) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, n := range sequences {
		_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: {\"sequence\":%d,\"type\":%q,\"run_id\":\"r1\"}\n\n", n, eventType(n), n, eventType(n))
	}
}

func eventType(n int64) string {
	if n == 9 {
		return "run.completed"
	}
	return "item.succeeded"
}

func page(sequences ...int64) (p api.Page[api.RunEvent]) {
	for _, n := range sequences {
		p.Data = append(p.Data, api.RunEvent{Sequence: n, Type: eventType(n), RunID: "r1"})
	}
	return p
}

// follow runs a test of run r1, whose connections are answered by a function of
// their number, from 1.
func follow(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request), test func(t *testing.T, c *Client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		h := func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/ns/test/api/v2/runs/r1/events" {
				reply(w, api.Run{ID: "r1", Status: api.RunCompleted, LastEventSequence: 9})
				return
			}
			n++
			answer(n, w, r)
		}
		test(t, dial(t, nil, Options{HTTPClient: &http.Client{Transport: tap{http.HandlerFunc(h)}}}))
	})
}

// all gathers what is followed and the error at the end.
func all(events iter.Seq2[api.RunEvent, error]) (got []int64, err error) {
	for e, err := range events {
		if err != nil {
			return got, err
		}
		got = append(got, e.Sequence)
	}
	return got, nil
}

func wantEvents(t *testing.T, events iter.Seq2[api.RunEvent, error], want ...int64) {
	t.Helper()
	got, err := all(events)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error("-got +want", diff)
	}
}

func TestFollowedRunResumesWithoutGapOrRepetition(t *testing.T) {
	var asked []string
	answer := func(n int, w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Accept")+" "+r.Header.Get("Last-Event-ID")+" "+r.URL.RawQuery)
		switch n {
		case 1:
			send(w, 4, 5)
			_, _ = io.WriteString(w, "data: {\"sequence\":6,") // and then the connection breaks
		case 2:
			refuse(w, api.Errorf(api.ShuttingDown, "m").After(time.Second))
		case 3:
			send(w, 5, 6, 7)
		default:
			send(w, 8, 9, 10)
		}
	}
	follow(t, answer, func(t *testing.T, c *Client) {
		wantEvents(t, c.FollowRun(t.Context(), "r1", 3), 4, 5, 6, 7, 8, 9)
		want := []string{
			"text/event-stream 3 after=3", "text/event-stream 5 after=5", "text/event-stream 5 after=5", "text/event-stream 7 after=7",
		}
		if diff := cmp.Diff(asked, want); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestSilentStreamIsMadeAnewAndALivelyOneIsNot(t *testing.T) {
	began := time.Now()
	answer := func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			_ = sleep(r.Context(), 40*time.Second)
			send(w, 7)
			for range 40 {
				_ = sleep(r.Context(), 15*time.Second)
				_, _ = io.WriteString(w, ":\n")
			}
			<-r.Context().Done()
			return
		}
		send(w, 8, 9)
	}
	follow(t, answer, func(t *testing.T, c *Client) {
		began = time.Now()
		wantEvents(t, c.FollowRun(t.Context(), "r1", 6), 7, 8, 9)
		if got, want := time.Since(began), 40*time.Second+10*time.Minute+maxSilence+firstBackoff; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
	})
}

func TestSlowReaderIsNotTakenForASilentServer(t *testing.T) {
	answer := func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			refuse(w, api.Errorf(api.Forbidden, "connected again"))
			return
		}
		send(w, 7, 8, 9)
	}
	follow(t, answer, func(t *testing.T, c *Client) {
		wantEvents(t, func(yield func(api.RunEvent, error) bool) {
			for e, err := range c.FollowRun(t.Context(), "r1", 6) {
				_ = sleep(t.Context(), time.Hour)
				if !yield(e, err) {
					return
				}
			}
		}, 7, 8, 9)
	})
}

func TestRefusalEndsTheFollowing(t *testing.T) {
	answer := func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			send(w, 1)
			return
		}
		refuse(w, api.Errorf(api.RunExpired, "m"))
	}
	follow(t, answer, func(t *testing.T, c *Client) {
		got, err := all(c.FollowRun(t.Context(), "r1", 0))
		if !slices.Equal(got, []int64{1}) || !api.IsCode(err, api.RunExpired) {
			t.Errorf("got %v and %v, want one event and run_expired", got, err)
		}
	})
}

func TestServerThatNeverAnsweredIsGivenUpOneThatDidIsWaitedFor(t *testing.T) {
	for name, first := range map[string]bool{"never answered": false, "answered once": true} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			answer := func(n int, w http.ResponseWriter, _ *http.Request) {
				switch tries++; {
				case n == 1 && first:
					send(w, 1)
				case n < 50:
					w.WriteHeader(http.StatusBadGateway)
				default:
					send(w, 2, 3, 4, 5, 6, 7, 8, 9)
				}
			}
			follow(t, answer, func(t *testing.T, c *Client) {
				got, err := all(c.FollowRun(t.Context(), "r1", 0))
				if first && (err != nil || len(got) != 9) {
					t.Errorf("got %v and %v, want all events", got, err)
				}
				if !first && (err == nil || tries != 5) {
					t.Errorf("got %v after %d tries, want an error after 5", err, tries)
				}
			})
		})
	}
}

func TestStreamThatBreaksAfterEachEventIsResumedAtOnce(t *testing.T) {
	follow(t, func(n int, w http.ResponseWriter, _ *http.Request) { send(w, int64(n)) }, func(t *testing.T, c *Client) {
		began := time.Now()
		wantEvents(t, c.FollowRun(t.Context(), "r1", 0), 1, 2, 3, 4, 5, 6, 7, 8, 9)
		if got, want := time.Since(began), 8*firstBackoff; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
	})
}

func TestWhatCannotBeTheRunsEventsIsNotPassedOn(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"gap":        func(w http.ResponseWriter) { send(w, 2) },
		"not json":   func(w http.ResponseWriter) { send(w); _, _ = io.WriteString(w, "data: {\n\n") },
		"too long":   func(w http.ResponseWriter) { send(w); _, _ = w.Write(make([]byte, maxStreamMessage+1)) },
		"media type": func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html") },
		"bad page": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "[]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			follow(t, func(_ int, w http.ResponseWriter, _ *http.Request) { tries++; answer(w) }, func(t *testing.T, c *Client) {
				got, err := all(c.FollowRun(t.Context(), "r1", 0))
				if len(got) > 0 || !errors.Is(err, errBadEvents) || tries != 5 {
					t.Errorf("got %v and %v after %d tries, want no event and an error after 5", got, err, tries)
				}
			})
		})
	}
}

func TestPagesAreReadWhereThereIsNoStream(t *testing.T) {
	var asked []string
	answer := func(n int, w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		switch n {
		case 1:
			reply(w, page(1, 2, 3))
		case 2:
			reply(w, page())
		default:
			reply(w, page(3, 4, 5, 6, 7, 8, 9))
		}
	}
	follow(t, answer, func(t *testing.T, c *Client) {
		// The run has ended in the meantime, but has events that are still to come.
		wantEvents(t, c.FollowRun(t.Context(), "r1", 0), 1, 2, 3, 4, 5, 6, 7, 8, 9)
		if diff := cmp.Diff(asked, []string{"", "after=3&wait_ms=30000", "after=3&wait_ms=30000"}); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}

func TestFollowingARunBeyondItsLastEventEnds(t *testing.T) {
	follow(t, func(_ int, w http.ResponseWriter, _ *http.Request) { send(w) }, func(t *testing.T, c *Client) {
		wantEvents(t, c.FollowRun(t.Context(), "r1", 9))
	})
}

func TestReaderThatStopsHangsUp(t *testing.T) {
	var gone atomic.Int64
	answer := func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, 1, 2)
		<-r.Context().Done()
		gone.Add(1)
	}
	follow(t, answer, func(t *testing.T, c *Client) {
		for range c.FollowRun(t.Context(), "r1", 0) {
			break
		}
		synctest.Wait()
		if gone.Load() != 1 {
			t.Error("the connection is still there")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err := all(c.FollowRun(ctx, "r1", 0))
		if len(got) != 2 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v and %v, want two events and the end of the context", got, err)
		}
	})
}

func TestWaitRunReturnsTheEndedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run := api.Run{ID: "r1", Status: api.RunRunning, LastEventSequence: 6}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/ns/test/api/v2/runs/r1" {
				reply(w, run)
				return
			}
			if got := r.Header.Get("Last-Event-ID"); got != "6" {
				t.Errorf("asked for events after %q, want 6", got)
			}
			send(w, 7, 8)
			_ = sleep(r.Context(), 20*time.Second)
			run.Status, run.LastEventSequence = api.RunCompleted, 9
			send(w, 9)
		})
		c := dial(t, nil, Options{HTTPClient: &http.Client{Transport: tap{h}}})
		for range 2 { // The second time it has ended before.
			got, err := c.WaitRun(t.Context(), "r1")
			if err != nil || got.Status != api.RunCompleted {
				t.Errorf("got %+v and %v, want the run completed", got, err)
			}
		}
	})
}
