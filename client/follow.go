package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/skerryhq/skerry/api"
)

var (
	errStreamEnded = errors.New("the events ended before the run")
	// errBadEvents says that what was read cannot be a run's events. Where it
	// comes again and again there is no use in going on.
	errBadEvents = errors.New("not the events of a run")
)

// FollowRun gives the events of a run after the given sequence number, 0 for all,
// as they happen, and ends after the run's last event. No event is left out and
// none comes twice.
//
// Events come over one streaming connection, which is made anew from the last
// event on when it breaks or falls silent. The first connection is tried within
// the bounds of [Options]; once there was one, lost connections, overload and
// restarts of the server are waited out until ctx ends. A refusal, as of a run
// that has expired, ends it with an error, after which there is nothing more. A
// server that answers with pages instead is asked again and again.
func (c *Client) FollowRun(ctx context.Context, id string, after int64) iter.Seq2[api.RunEvent, error] {
	return func(yield func(api.RunEvent, error) bool) {
		f := follower{client: c, run: id, last: after, yield: yield}
		if err := f.follow(ctx); err != nil {
			yield(api.RunEvent{}, err)
		}
	}
}

// WaitRun follows a run until it has ended, and returns it as it is then.
func (c *Client) WaitRun(ctx context.Context, id string) (*api.Run, error) {
	run, err := c.Run(ctx, id)
	if err != nil || run.Status.Ended() {
		return run, err
	}
	for _, err := range c.FollowRun(ctx, id, run.LastEventSequence) {
		if err != nil {
			return nil, err
		}
	}
	return c.Run(ctx, id)
}

// follower reads the events of one run over as many connections as it takes.
type follower struct {
	client *Client
	run    string
	// last is the sequence number of the last event that the caller has.
	last  int64
	yield func(api.RunEvent, error) bool
	// over says that the caller has the last event or wants no more.
	over bool
	// established says that there was a connection, and paged that the server
	// answered it with a page.
	established, paged bool
}

// follow connects until it is over. Its error is the one that ends it.
func (f *follower) follow(ctx context.Context) error {
	began := now()
	for failed := 1; ; failed++ {
		q, before := f.call(), f.last
		err := f.client.sender.stream(ctx, &q, f.read)
		if errors.Is(err, errStreamEnded) && f.last == before {
			err = f.checkRun(ctx)
		}
		if f.over {
			return nil
		}
		if f.last > before {
			failed, began = 1, now()
		}
		q.untilDone = f.established && !errors.Is(err, errBadEvents)
		if err := f.client.sender.pause(ctx, &q, failed, began, err); err != nil {
			return err
		}
	}
}

// checkRun asks whether a stream was empty because the caller has the last event.
func (f *follower) checkRun(ctx context.Context) error {
	run, err := f.client.Run(ctx, f.run)
	if err != nil {
		return err
	}
	f.over = run.Status.Ended() && run.LastEventSequence <= f.last
	return errStreamEnded
}

// call asks for the events after the last one, in a header for streams and in the
// query for pages.
func (f *follower) call() call {
	q := read("follow run", runPath(f.run, "/events")).with(url.Values{})
	q.header = http.Header{"Accept": {"text/event-stream"}}
	if f.last > 0 {
		last := strconv.FormatInt(f.last, 10)
		q.header.Set("Last-Event-ID", last)
		q.query.Set("after", last)
	}
	if f.paged {
		return q.waiting(maxWait)
	}
	return q
}

// read takes events from a connection. It returns an error unless it is over.
func (f *follower) read(header http.Header, body io.Reader) error {
	f.established = true
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch media {
	case "text/event-stream":
		return f.readStream(newEventStream(body))
	case "application/json":
		return f.readPage(body)
	}
	return fmt.Errorf("%w: media type %q", errBadEvents, media)
}

func (f *follower) readStream(events *eventStream) error {
	for !f.over {
		data, err := events.next()
		switch {
		case errors.Is(err, errLongMessage):
			return fmt.Errorf("%w: %w", errBadEvents, err)
		case errors.Is(err, io.EOF):
			return errStreamEnded
		case err != nil:
			return err
		}
		var e api.RunEvent
		if json.Unmarshal(data, &e) != nil {
			return fmt.Errorf("%w: %w", errBadEvents, errNotJSON)
		}
		if err := f.take(e); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) readPage(body io.Reader) error {
	f.paged = true
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return err
	}
	var page api.Page[api.RunEvent]
	if json.Unmarshal(data, &page) != nil {
		return fmt.Errorf("%w: %w", errBadEvents, errNotJSON)
	}
	for _, e := range page.Data {
		if err := f.take(e); err != nil || f.over {
			return err
		}
	}
	return errStreamEnded
}

// take gives the caller the event that follows the last one. It skips one that
// the caller has, and refuses one that leaves a gap.
func (f *follower) take(e api.RunEvent) error {
	if e.Sequence <= f.last {
		return nil
	}
	if e.Sequence > f.last+1 {
		return fmt.Errorf("%w: event %d follows event %d", errBadEvents, e.Sequence, f.last)
	}
	f.last = e.Sequence
	status, ofRun := strings.CutPrefix(e.Type, "run.")
	ended := ofRun && api.RunStatus(status).Ended()
	f.over = !f.yield(e, nil) || ended
	return nil
}
