package runs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const (
	eventList = "events"
	// maxFrames bounds the events that a stream reads at once.
	maxFrames = 100
)

// listEvents reads the log of a run from a number on, as a page or as a stream.
type listEvents struct {
	run   string
	page  namespace.PageRequest
	after int64
	wait  time.Duration
	// told is the last event that a stream has told of.
	told int64
}

func newListEvents(r *namespace.Request) (*listEvents, error) {
	page, err := r.Page(eventList)
	if err != nil {
		return nil, err
	}
	if page.Desc {
		return nil, api.Invalid("order", "events come in their order")
	}
	l := &listEvents{run: r.Path["id"], page: page}
	if l.after, err = r.After(); err != nil {
		return nil, err
	}
	if l.wait, err = r.WaitMs(); err != nil {
		return nil, err
	}
	if !page.First {
		l.after = max(l.after, page.From.Number)
	}
	if r.LastEventID != "" {
		last, err := strconv.ParseInt(r.LastEventID, 10, 64)
		if err != nil || last < 0 {
			e := api.Errorf(api.BadRequest, "Last-Event-ID must be the number of an event")
			e.Field = "Last-Event-ID"
			return nil, e
		}
		l.after = max(l.after, last)
	}
	l.told = l.after
	return l, nil
}

// Wait is how long an empty page waits for an event.
func (l *listEvents) Wait() time.Duration { return l.wait }

// Topics are signalled when the run's log grows. The number is not proven to be the
// caller's until the log is read.
func (l *listEvents) Topics() []string {
	number, _ := namespace.ParseID(runPrefix, l.run[:min(len(l.run), len(runPrefix)+numberWidth)])
	return []string{namespace.EventTopic(streamOf(number))}
}

// Read makes a page.
func (l *listEvents) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	r, _, err := openRun(v, l.run)
	if err != nil {
		return namespace.Answer{}, err
	}
	events, err := v.Events(streamOf(r.id), l.after, l.page.Limit)
	if err != nil {
		return namespace.Answer{}, err
	}
	doc := &api.Page[*api.RunEvent]{Data: []*api.RunEvent{}}
	for i := range events {
		e, err := runEvent(v, r, &events[i])
		if err != nil {
			return namespace.Answer{}, err
		}
		doc.Data = append(doc.Data, e)
	}
	if n := len(doc.Data); n > 0 && doc.Data[n-1].Sequence < r.events {
		doc.NextCursor = l.page.Next("", doc.Data[n-1].Sequence)
	}
	return namespace.Answer{Body: doc, Await: len(doc.Data) == 0 && !r.status.Ended()}, nil
}

// Next reads what a stream has not told yet. It ends with the end of the run.
func (l *listEvents) Next(_ context.Context, v *namespace.View) ([]namespace.Frame, bool, error) {
	r, _, err := openRun(v, l.run)
	if err != nil {
		return nil, false, err
	}
	events, err := v.Events(streamOf(r.id), l.told, maxFrames)
	if err != nil {
		return nil, false, err
	}
	frames := make([]namespace.Frame, 0, len(events))
	for i := range events {
		e, err := runEvent(v, r, &events[i])
		if err != nil {
			return nil, false, err
		}
		frames = append(frames, namespace.Frame{ID: strconv.FormatInt(e.Sequence, 10), Event: e.Type, Data: e})
		l.told = e.Sequence
	}
	return frames, r.status.Ended() && l.told >= r.events, nil
}

// runEvent is an entry of the log as the tenant sees it.
func runEvent(v *namespace.View, r *run, e *namespace.Event) (*api.RunEvent, error) {
	var body event
	if err := namespace.Decode(e.Body, &body); err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	at := e.At
	return &api.RunEvent{
		Sequence: e.Sequence, Type: e.Type, RunID: runID(v, r.id, r.tenant), ItemID: body.ItemID,
		Status: body.Status, Progress: body.Progress, At: &at,
	}, nil
}
