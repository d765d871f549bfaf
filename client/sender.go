package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/skerryhq/skerry/api"
)

// maxAnswer bounds the bytes read of one answer. The largest a server sends is a
// claim of 64 verbs with their inputs inline.
const maxAnswer = 512 << 20

// sender sends requests to one base URL under one key.
type sender struct {
	base string
	key  string
	o    Options
}

// call is one logical request, sent once or more.
type call struct {
	// what is the verb and noun that errors begin with.
	what   string
	method string
	// path lies below the base and is escaped.
	path   string
	query  url.Values
	header http.Header
	// body is encoded once, so that every try has the same bytes. Nil is none.
	body any
	key  string
	// safe says that a second sending does no harm, though the outcome of the
	// first is not known.
	safe bool
	// wait is how long the server was asked to take.
	wait time.Duration
	// claims marks a claim command. untilDone marks a safe call that is sent until
	// there is an answer that counts, bounded by its context alone; contestable one
	// for which a fault of the server is such an answer, as its content may have
	// caused it.
	claims, untilDone, contestable bool
}

// answer is a success.
type answer struct {
	header http.Header
	body   []byte
	// sent is the latest local time at which the server cannot yet have decided:
	// when the answered try left, or the first one if an earlier try's answer was
	// replayed.
	sent     time.Time
	replayed bool
}

func newSender(baseURL, key string, o *Options) (*sender, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return &sender{base: base, key: key, o: o.withDefaults()}, nil
}

func (s *sender) close() { s.o.HTTPClient.CloseIdleConnections() }

// fetch sends a call and returns the document of its answer.
func fetch[T any](ctx context.Context, s *sender, q call) (*T, error) {
	v := new(T)
	if _, err := s.fetch(ctx, q, v); err != nil {
		return nil, err
	}
	return v, nil
}

// fetch sends a call and reads the JSON of its answer into v.
func (s *sender) fetch(ctx context.Context, q call, v any) (answer, error) {
	a, err := s.send(ctx, q)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		return a, fmt.Errorf("%s: read answer: %w", q.what, errNotJSON)
	}
	return a, nil
}

// send sends a call until it succeeds, may not be sent again, or the bounds or
// ctx end it.
func (s *sender) send(ctx context.Context, q call) (answer, error) {
	body, err := encode(q.body)
	if err != nil {
		return answer{}, fmt.Errorf("%s: encode request: %w", q.what, err)
	}
	began := now()
	for failed := 1; ; failed++ {
		a, err := s.try(ctx, &q, body)
		if err == nil {
			if a.replayed {
				a.sent = began
			}
			return a, nil
		}
		if err := s.pause(ctx, &q, failed, began, err); err != nil {
			return answer{}, err
		}
	}
}

// pause waits until a call may be sent again of which the given number of tries
// since began have failed, the last with err. Its own error is the call's, which
// is over then.
func (s *sender) pause(ctx context.Context, q *call, failed int, began time.Time, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", q.what, err)
	}
	pause := s.backoff(failed, err)
	if !mayRetry(q, err) || !s.mayGoOn(q, failed, now().Sub(began)+pause, err) {
		return fmt.Errorf("%s: %w", q.what, err)
	}
	if stop := sleep(ctx, pause); stop != nil {
		return fmt.Errorf("%s: %w, after %w", q.what, stop, err)
	}
	return nil
}

// encode is the JSON of v, nil for nil. It leaves <, > and & alone, of which an
// artifact may be full and whose escapes are six times as long.
func encode(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// try sends a call once.
func (s *sender) try(ctx context.Context, q *call, body []byte) (answer, error) {
	limited, cancel := context.WithTimeout(ctx, s.o.RequestTimeout+q.wait)
	defer cancel()
	r, err := s.request(limited, q, body)
	if err != nil {
		return answer{}, err
	}
	sent := now()
	resp, err := s.o.HTTPClient.Do(r)
	if err != nil {
		return answer{}, s.lost(ctx, limited, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, s.lost(ctx, limited, err)
	}
	if len(data) > maxAnswer {
		return answer{}, fmt.Errorf("read answer: more than %d bytes", maxAnswer)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answer{}, answerError(resp.StatusCode, resp.Header, data)
	}
	return answer{
		header: resp.Header, body: data, sent: sent,
		replayed: resp.Header.Get(api.HeaderIdempotentReplayed) == "true",
	}, nil
}

// lost tells a try that ran out of its own time from a caller who stopped
// waiting.
func (s *sender) lost(ctx, limited context.Context, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("%w: %s", ErrNoAnswer, s.base)
	}
	return err
}

func (s *sender) request(ctx context.Context, q *call, body []byte) (*http.Request, error) {
	target := s.base + q.path
	if len(q.query) > 0 {
		target += "?" + q.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(r.Header, q.header)
	r.Header.Set("User-Agent", s.o.UserAgent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	if q.key != "" {
		r.Header.Set(api.HeaderIdempotencyKey, q.key)
	}
	return r, nil
}
