package runs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Service is the service of durable runs of one namespace in process, for one caller.
// It is a small value, safe for concurrent use. Its errors are those of the HTTP
// routes, as *[api.Error].
//
// Roles are not examined: who holds a Service may use all of it. Runs are those of the
// caller's tenant.
type Service struct {
	ns     namespace.Namespace
	caller namespace.Caller
}

// Of is the runs service of ns for the caller, whose Principal must be set. The
// namespace's runtime must have been opened with [Class].
func Of(ns namespace.Namespace, caller namespace.Caller) Service {
	if caller.Tenant == "" {
		caller.Tenant = caller.Principal
	}
	return Service{ns, caller}
}

// base is the path below which the links of documents lie.
func (s Service) base() string { return "/ns/" + s.ns.Name() + "/api/v2" }

// Page is the part of a list to read. The zero value is the first hundred entries.
type Page struct {
	// Cursor is the NextCursor of the page before, in the same order.
	Cursor string
	// Limit is 1 to 1,000 entries; 0 means 100.
	Limit int
	// Desc reverses the order of creation. Results and events have one order.
	Desc bool
}

// request is the page as the queries take it.
func (p Page) request(list string) (namespace.PageRequest, error) {
	limit := p.Limit
	if limit == 0 {
		limit = 100
	}
	r := namespace.PageRequest{Limit: limit, Desc: p.Desc, First: true, From: namespace.Cursor{List: list, Desc: p.Desc}}
	if err := within("limit", limit, 1, 1000); err != nil || p.Cursor == "" {
		return r, err
	}
	from, err := namespace.DecodeCursor(list, p.Cursor)
	if err == nil && from.Desc != p.Desc {
		err = api.Errorf(api.BadRequest, "the cursor belongs to a page in the other order")
	}
	r.From, r.First = from, false
	return r, err
}

// Submit admits a run, whole or not at all. The same run under the same idempotency
// key is the same run; without a key every call makes one.
func (s Service) Submit(ctx context.Context, spec api.RunSpec, key string) (api.Run, error) {
	body, err := encodeSpec(spec)
	if err != nil {
		return api.Run{}, err
	}
	idem := namespace.Idempotency{}
	if key != "" {
		idem = namespace.Idempotency{Key: key, Scope: "POST /runs", BodySHA256: sha256.Sum256(body)}
	}
	return perform[api.Run](ctx, s, newCreateRun(s.base(), body), idem)
}

func encodeSpec(spec api.RunSpec) ([]byte, error) {
	body, err := spec.MarshalJSON()
	if err != nil {
		return nil, api.Errorf(api.BadRequest, "the run cannot be written as JSON").Wrapping(err)
	}
	if len(body) > maxBodyBytes {
		return nil, api.Errorf(api.BodyTooLarge, "the run is over the limit of %d bytes", maxBodyBytes).
			With("limit", maxBodyBytes).With("actual", len(body))
	}
	return body, nil
}

// Estimate says what a run would cost and whether it would be admitted now.
func (s Service) Estimate(ctx context.Context, spec api.RunSpec) (api.RunEstimate, error) {
	body, err := encodeSpec(spec)
	if err != nil {
		return api.RunEstimate{}, err
	}
	return read[api.RunEstimate](ctx, s, &estimate{body}, nil)
}

// Run reads a run.
func (s Service) Run(ctx context.Context, id string) (api.Run, error) {
	return read[api.Run](ctx, s, &getRun{s.base(), id}, nil)
}

// Runs lists runs; an empty status chooses all.
func (s Service) Runs(ctx context.Context, status api.RunStatus, page Page) (api.Page[*api.Run], error) {
	p, err := page.request(runList)
	if err != nil {
		return api.Page[*api.Run]{}, err
	}
	q, err := newListRuns(s.base(), p, string(status))
	return read[api.Page[*api.Run]](ctx, s, q, err)
}

// Cancel ends a run; twice is fine.
func (s Service) Cancel(ctx context.Context, id string) (api.Run, error) {
	return do[api.Run](ctx, s, &cancel{s.base(), id})
}

// Items lists the items of a run; an empty status chooses all.
func (s Service) Items(ctx context.Context, id string, status api.ItemStatus, page Page) (api.Page[*api.RunItem], error) {
	p, err := page.request(itemList)
	if err != nil {
		return api.Page[*api.RunItem]{}, err
	}
	q, err := newListItems(id, p, string(status))
	return read[api.Page[*api.RunItem]](ctx, s, q, err)
}

// Results lists the items of a run that have ended: as they ended, or with input in the
// order of its document.
func (s Service) Results(ctx context.Context, id string, input bool, page Page) (api.Page[*api.RunItem], error) {
	q := &listResults{run: id, input: input}
	page.Desc = false
	var err error
	q.page, err = page.request(q.list())
	return read[api.Page[*api.RunItem]](ctx, s, q, err)
}

// Events lists the events of a run behind the number after. With a wait, up to 30 s, it
// waits for one if there is none and the run has not ended.
func (s Service) Events(ctx context.Context, id string, after int64, wait time.Duration, limit int) (api.Page[*api.RunEvent], error) {
	page, err := Page{Limit: limit}.request(eventList)
	if err == nil {
		err = within("wait_ms", wait.Milliseconds(), 0, maxWaitMs)
	}
	return read[api.Page[*api.RunEvent]](ctx, s, &listEvents{run: id, page: page, after: after, wait: wait}, err)
}

// do carries out a command and gives its document.
func do[D any](ctx context.Context, s Service, c namespace.Command) (D, error) {
	return perform[D](ctx, s, c, namespace.Idempotency{})
}

func perform[D any](ctx context.Context, s Service, c namespace.Command, idem namespace.Idempotency) (doc D, err error) {
	outcome, err := s.ns.Do(ctx, namespace.Call{Class: className, Caller: s.caller, Command: c, Idempotency: idem})
	if err != nil {
		return doc, err
	}
	return documentIn[D](outcome.Answer)
}

// documentIn is the document of an answer, also of a replayed one.
func documentIn[D any](a namespace.Answer) (doc D, err error) {
	if own, ok := a.Body.(*D); ok {
		return *own, nil
	}
	doc, err = namespace.Document[D](a)
	if err != nil {
		return doc, fmt.Errorf("read answer: %w", err)
	}
	return doc, nil
}

// read answers a query, unless it could not be made.
func read[D any](ctx context.Context, s Service, q namespace.Query, err error) (doc D, _ error) {
	if err != nil {
		return doc, err
	}
	answer, err := s.ns.Read(ctx, className, s.caller, q)
	if err != nil {
		return doc, err
	}
	return documentIn[D](answer)
}
