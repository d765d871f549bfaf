package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"testing/fstest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// The probe is a small class with a route of every sort.

type noteSpec struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

type note struct {
	Key       string `json:"key"`
	Value     string `json:"value"`
	Principal string `json:"principal"`
	Tries     int64  `json:"tries"`
}

type faultSpec struct {
	Code    api.Code `json:"code,omitempty"`
	AfterMs int64    `json:"after_ms,omitempty"`
	Panic   string   `json:"panic,omitempty"`
}

func probeClass() namespace.Class {
	return namespace.Class{
		Name: "probe",
		Migrations: fstest.MapFS{"001_probe.sql": {Data: []byte(
			`CREATE TABLE probe_note (key TEXT PRIMARY KEY, value TEXT NOT NULL, tries INTEGER NOT NULL) STRICT;`)}},
		Routes: slices.Concat(probeRoutes(), probeLogRoutes()),
		Limits: map[string]int64{"note_bytes": 100},
	}
}

func probeRoutes() []namespace.Route {
	worker, producer := []api.Role{api.RoleWorker}, []api.Role{api.RoleProducer}
	put := func(r *namespace.Request) (namespace.Command, error) {
		var spec noteSpec
		if err := r.Decode(&spec); err != nil {
			return nil, err
		}
		if spec.Key == "" {
			return nil, api.Invalid("key", "a note needs a key")
		}
		return putNote{spec}, nil
	}
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/notes", Summary: "Write a note", Roles: producer,
			In: noteSpec{}, Out: note{}, Status: 201, Command: put,
		},
		{
			Method: http.MethodPost, Path: "/notes:import", Summary: "Write a note", Roles: producer, MaxBody: 5 << 20,
			RequireIdempotencyKey: true, In: noteSpec{}, Out: note{}, Status: 201, Command: put,
		},
		{
			Method: http.MethodGet, Path: "/notes", Summary: "List notes", Roles: []api.Role{api.RoleWorker, api.RoleProducer},
			Params: pageParams[:], Out: api.Page[note]{},
			Query: func(r *namespace.Request) (namespace.Query, error) {
				_, err := r.Page("notes")
				return readNote{}, err
			},
		},
		{
			Method: http.MethodGet, Path: "/notes/{key...}", Summary: "Read a note", Roles: worker, Out: note{},
			Params: []namespace.Param{{Name: "body", Summary: "1 for the bytes"}},
			Query: func(r *namespace.Request) (namespace.Query, error) {
				return readNote{key: r.Path["key"], raw: r.Query.Get("body") == "1"}, nil
			},
		},
		{
			Method: http.MethodPost, Path: "/tickets/{id}:beat", Summary: "Beat", Roles: worker, Anonymous: true,
			IgnoreIdempotencyKey: true, Out: noteSpec{}, Command: func(r *namespace.Request) (namespace.Command, error) {
				return echo{namespace.Answer{Body: noteSpec{Key: r.Path["id"], Value: r.Base}}}, nil
			},
		},
		{
			Method: http.MethodPost, Path: "/tickets", Summary: "Wait for admission", Roles: worker, Anonymous: true, Out: noteSpec{},
			Command: func(*namespace.Request) (namespace.Command, error) {
				return ticket{echo{namespace.Answer{Body: noteSpec{Key: "ticket"}}}}, nil
			},
		},
		{
			Method: http.MethodPost, Path: "/faults", Summary: "Fail as asked", Roles: worker, In: faultSpec{}, Out: noteSpec{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				var spec faultSpec
				if err := r.Decode(&spec); err != nil {
					return nil, err
				}
				if spec.Panic == "abort" {
					panic(http.ErrAbortHandler)
				}
				if spec.Panic != "" {
					panic(spec.Panic)
				}
				e := api.Errorf(cmp.Or(spec.Code, api.NotFound), "as asked").After(time.Duration(spec.AfterMs) * time.Millisecond)
				return nil, e.Wrapping(errSecret)
			},
		},
	}
}

type putNote struct{ spec noteSpec }

func (c putNote) Apply(t *namespace.Turn) (namespace.Answer, error) {
	var tries int64
	_, err := t.QueryRow(`INSERT INTO probe_note VALUES (?1, ?2, 1)
		ON CONFLICT (key) DO UPDATE SET value = ?2, tries = tries + 1 RETURNING tries`, []any{c.spec.Key, c.spec.Value}, &tries)
	if err != nil {
		return namespace.Answer{}, err
	}
	made := note{Key: c.spec.Key, Value: c.spec.Value, Principal: t.Caller().Principal, Tries: tries}
	return namespace.Answer{Status: 201, Body: made}, nil
}

type readNote struct {
	key string
	raw bool
}

func (q readNote) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	if q.key == "" {
		return namespace.Answer{Body: api.Page[note]{}}, nil
	}
	n := note{Key: q.key}
	found, err := v.QueryRow(`SELECT value, tries FROM probe_note WHERE key = ?`, []any{q.key}, &n.Value, &n.Tries)
	switch {
	case err != nil:
		return namespace.Answer{}, err
	case !found:
		return namespace.Answer{}, api.Errorf(api.NotFound, "there is no such note")
	case q.raw:
		return namespace.Answer{Raw: &namespace.Raw{MediaType: "text/html", ETag: "sha256:1", Bytes: []byte(n.Value)}}, nil
	}
	return namespace.Answer{Body: n}, nil
}

type echo struct{ answer namespace.Answer }

func (c echo) Apply(*namespace.Turn) (namespace.Answer, error) { return c.answer, nil }

type ticket struct{ echo }

func (ticket) Wait() time.Duration { return 0 }

func (ticket) PassesAdmission() {}
