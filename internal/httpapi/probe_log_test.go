package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// The probe's logs are followed as streams. A log ends with an entry of the type
// "end"; an entry of the type "broken" cannot be read.

type entrySpec struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
}

type measured struct {
	Bytes int   `json:"bytes"`
	Times int64 `json:"times"`
}

func probeLogRoutes() []namespace.Route {
	producer := []api.Role{api.RoleProducer}
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/logs:measure", Summary: "Measure a note", Roles: producer, MaxBody: 1000,
			In: noteSpec{}, Out: measured{},
			Query: func(r *namespace.Request) (namespace.Query, error) {
				var spec noteSpec
				return measure{len(r.Body)}, r.Decode(&spec)
			},
		},
		{
			Method: http.MethodPost, Path: "/logs/{id}", Summary: "Write an entry", Roles: producer, In: entrySpec{}, Out: entrySpec{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				c := writeEntry{log: r.Path["id"]}
				return c, r.Decode(&c.entry)
			},
		},
		{
			Method: http.MethodGet, Path: "/logs/{id}", Summary: "Read or follow a log", Roles: []api.Role{api.RoleWorker, api.RoleProducer},
			Streams: true, Out: api.Page[entrySpec]{},
			Query: func(r *namespace.Request) (namespace.Query, error) {
				q := &readLog{log: r.Path["id"], asked: r.Stream}
				var err error
				if r.LastEventID != "" {
					q.told, err = strconv.ParseInt(r.LastEventID, 10, 64)
				}
				return q, err
			},
		},
	}
}

// measure tells how many bytes a body has, and how many notes there are, from
// which it can be seen that it is answered anew.
type measure struct{ bytes int }

func (q measure) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	m := measured{Bytes: q.bytes}
	_, err := v.QueryRow(`SELECT count(*) FROM probe_note`, nil, &m.Times)
	return namespace.Answer{Body: m}, err
}

type writeEntry struct {
	log   string
	entry entrySpec
}

func (c writeEntry) Apply(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Append(c.log, c.entry.Type, c.entry)
	return namespace.Answer{Body: c.entry}, err
}

// readLog follows a log. That of "silence" exists without an entry.
type readLog struct {
	log   string
	told  int64
	asked bool
}

func (q *readLog) Topics() []string { return []string{namespace.EventTopic(q.log)} }

func (q *readLog) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	doc := api.Page[entrySpec]{Data: []entrySpec{}}
	frames, _, err := q.Next(context.Background(), v)
	for _, f := range frames {
		doc.Data = append(doc.Data, entrySpec{Type: f.Event})
	}
	return namespace.Answer{Body: doc}, err
}

func (q *readLog) Next(_ context.Context, v *namespace.View) ([]namespace.Frame, bool, error) {
	events, err := v.Events(q.log, 0, 1000)
	if err != nil {
		return nil, false, err
	}
	if len(events) == 0 && q.log != "silence" {
		return nil, false, api.Errorf(api.NotFound, "there is no such log")
	}
	var frames []namespace.Frame
	over := false
	for _, e := range events {
		over = e.Type == "end"
		if e.Sequence <= q.told {
			continue
		}
		if e.Type == "broken" {
			return nil, false, errSecret
		}
		q.told = e.Sequence
		frames = append(frames, namespace.Frame{ID: strconv.FormatInt(e.Sequence, 10), Event: e.Type, Data: e.Body})
	}
	return frames, over, nil
}
