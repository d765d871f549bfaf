package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
)

// CreateVerb makes one verb; spec.Attempts must be nil. It needs the role
// producer or admin.
func (c *Client) CreateVerb(ctx context.Context, spec api.VerbSpec) (*api.Verb, error) {
	if spec.Attempts != nil {
		return nil, errors.New("create verb: attempts make a group, use CreateGroup")
	}
	return fetch[api.Verb](ctx, c.sender, c.create("create verb", "/verbs", spec))
}

// CreateGroup makes an attempt group of *spec.Attempts verbs, which solve the
// same brief side by side. It needs the role producer or admin.
func (c *Client) CreateGroup(ctx context.Context, spec api.VerbSpec) (*api.VerbGroup, error) {
	if spec.Attempts == nil {
		return nil, errors.New("create group: attempts are not set")
	}
	return fetch[api.VerbGroup](ctx, c.sender, c.create("create group", "/verbs", spec))
}

// Created is what became of one entry of a batch: a verb, or a group if the
// entry had attempts.
type Created struct {
	Verb  *api.Verb
	Group *api.VerbGroup
}

// MarshalJSON writes the document that is there.
func (e Created) MarshalJSON() ([]byte, error) {
	if e.Group != nil {
		return json.Marshal(e.Group)
	}
	return json.Marshal(e.Verb)
}

// UnmarshalJSON tells the two by the member "verbs", which only a group has.
func (e *Created) UnmarshalJSON(data []byte) error {
	var probe struct {
		Verbs json.RawMessage `json:"verbs"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return err
	}
	*e = Created{}
	if probe.Verbs != nil {
		return json.Unmarshal(data, &e.Group)
	}
	return json.Unmarshal(data, &e.Verb)
}

// CreateVerbs makes all the verbs of a batch or none, at most 1,000 after
// attempts are counted. The result has one entry per entry of specs, in order.
// A refusal names each bad entry in the details of its *api.Error.
func (c *Client) CreateVerbs(ctx context.Context, specs []api.VerbSpec) ([]Created, error) {
	var answer struct {
		Verbs []Created `json:"verbs"`
	}
	q := c.create("create verbs", "/verbs:batch", api.VerbBatchSpec{Verbs: specs})
	if _, err := c.sender.fetch(ctx, q, &answer); err != nil {
		return nil, err
	}
	return answer.Verbs, nil
}

// Verb reads one verb.
func (c *Client) Verb(ctx context.Context, id string) (*api.Verb, error) {
	return c.WaitVerb(ctx, id, 0)
}

// WaitVerb reads one verb; with a wait of up to 30 s the server answers when the
// verb changes, or with the verb as it stands when the wait is over.
func (c *Client) WaitVerb(ctx context.Context, id string, wait time.Duration) (*api.Verb, error) {
	return fetch[api.Verb](ctx, c.sender, read("read verb", "/verbs/"+url.PathEscape(id)).waiting(wait))
}

// waiting returns q asking the server to take up to wait until it answers.
func (q call) waiting(wait time.Duration) call {
	if wait <= 0 {
		return q
	}
	if q.query == nil {
		q.query = url.Values{}
	}
	q.query.Set("wait_ms", strconv.FormatInt(wait.Milliseconds(), 10))
	q.wait = wait
	return q
}

// VerbFilter chooses verbs. An empty field chooses all.
type VerbFilter struct {
	State api.VerbState
	Kind  string
	Group string
}

// Verbs lists verbs.
func (c *Client) Verbs(ctx context.Context, f VerbFilter, o *ListOptions) iter.Seq2[api.Verb, error] {
	q := o.query()
	setIf(q, "state", string(f.State))
	setIf(q, "kind", f.Kind)
	setIf(q, "group", f.Group)
	return list[api.Verb](ctx, c.sender, read("list verbs", "/verbs").with(q))
}

// Cancel ends a verb that has not ended. Cancelling a cancelled verb changes
// nothing; any other ended verb is api.VerbTerminal.
func (c *Client) Cancel(ctx context.Context, id string) (*api.Verb, error) {
	q := call{what: "cancel verb", method: http.MethodPost, path: base + "/verbs/" + url.PathEscape(id) + ":cancel", key: c.key, safe: true}
	return fetch[api.Verb](ctx, c.sender, q)
}

// Requeue gives a failed verb a fresh count of attempts; a verb in any other
// state is api.VerbNotFailed.
func (c *Client) Requeue(ctx context.Context, id string) (*api.Verb, error) {
	return fetch[api.Verb](ctx, c.sender, c.create("requeue verb", "/verbs/"+url.PathEscape(id)+":requeue", nil))
}
