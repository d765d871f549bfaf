package client

import (
	"context"
	"io"
	"net/http"
	"time"
)

const (
	// maxSilence is how long an answer that streams may say nothing before it
	// counts as lost. A server sends a comment every 15 s.
	maxSilence = 45 * time.Second
	// maxRefusal bounds what is read of an error.
	maxRefusal = 1 << 20
)

// stream sends a call once and has its answer read while it comes. The context
// bounds the whole, and maxSilence the time until the answer begins, which may be
// with the first comment, and between its parts.
func (s *sender) stream(ctx context.Context, q *call, read func(http.Header, io.Reader) error) error {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(maxSilence, cancel)
	defer watch.Stop()
	r, err := s.request(limited, q, nil)
	if err != nil {
		return err
	}
	resp, err := s.o.HTTPClient.Do(r)
	if err != nil {
		return s.lost(ctx, limited, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		if err != nil {
			return s.lost(ctx, limited, err)
		}
		return answerError(resp.StatusCode, resp.Header, data)
	}
	if err := read(resp.Header, &watched{resp.Body, watch}); err != nil {
		return s.lost(ctx, limited, err)
	}
	return nil
}

// watched is a body of which the timer bounds each read. The time between reads,
// in which the reader is busy, does not count.
type watched struct {
	body  io.Reader
	watch *time.Timer
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	w.watch.Reset(maxSilence)
	defer w.watch.Stop()
	return w.body.Read(p)
}
