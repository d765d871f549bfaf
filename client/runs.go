package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
)

// longestItem is the most that a kind can allow an item to take.
const longestItem = time.Minute

// SubmitRun asks for a run, which is admitted whole or not at all and goes on
// without the client. It needs the role producer or admin.
//
// Its Idempotency-Key is a random one unless [Client.WithIdempotencyKey] set
// another, and the same in every try, so that however often an answer is lost
// there is one run. A caller who must not start a second run after a crash of its
// own sets a key that it can find again. A full budget of the tenant
// (api.TenantRunQuotaExceeded) is tried again within the bounds of [Options]; a
// run that can never be admitted is refused at once.
func (c *Client) SubmitRun(ctx context.Context, spec api.RunSpec) (*api.Run, error) {
	return fetch[api.Run](ctx, c.sender, c.create("submit run", "/runs", spec))
}

// EstimateRun says what a run would cost and whether it would be admitted now. It
// reserves nothing. It needs the role producer or admin.
func (c *Client) EstimateRun(ctx context.Context, spec api.RunSpec) (*api.RunEstimate, error) {
	q := call{what: "estimate run", method: http.MethodPost, path: base + "/runs:estimate", body: spec, safe: true}
	return fetch[api.RunEstimate](ctx, c.sender, q)
}

// Run reads one run of the key's tenant. One whose retention is over is
// api.RunExpired.
func (c *Client) Run(ctx context.Context, id string) (*api.Run, error) {
	return fetch[api.Run](ctx, c.sender, read("read run", runPath(id, "")))
}

// Runs lists the runs of the key's tenant; an empty status chooses all.
func (c *Client) Runs(ctx context.Context, status api.RunStatus, o *ListOptions) iter.Seq2[api.Run, error] {
	q := o.query()
	setIf(q, "status", string(status))
	return list[api.Run](ctx, c.sender, read("list runs", "/runs").with(q))
}

// CancelRun ends a run's pending items at once and its running ones as soon as
// their workers notice; [api.Run.CancelRequested] says that there are such.
// Cancelling a cancelled run changes nothing; any other ended run is
// api.RunTerminal.
func (c *Client) CancelRun(ctx context.Context, id string) (*api.Run, error) {
	q := call{what: "cancel run", method: http.MethodPost, path: base + runPath(id, ":cancel"), key: c.key, safe: true}
	return fetch[api.Run](ctx, c.sender, q)
}

// RunItems lists a run's items in the order of its document; an empty status
// chooses all.
func (c *Client) RunItems(ctx context.Context, id string, status api.ItemStatus, o *ListOptions) iter.Seq2[api.RunItem, error] {
	q := o.query()
	setIf(q, "status_filter", string(status))
	return list[api.RunItem](ctx, c.sender, read("list items", runPath(id, "/items")).with(q))
}

// ResultOptions says how a run's results are read. The zero value, and nil, read
// all of them in the order in which they came.
type ResultOptions struct {
	// InputOrder reads them in the order of the run's document.
	InputOrder bool
	// PageSize and Cursor are those of [ListOptions].
	PageSize int
	Cursor   string
}

// RunResults lists the items of a run that have ended, failed and cancelled ones
// too.
func (c *Client) RunResults(ctx context.Context, id string, o *ResultOptions) iter.Seq2[api.RunItem, error] {
	q := url.Values{}
	if o != nil {
		q = (&ListOptions{PageSize: o.PageSize, Cursor: o.Cursor}).query()
		if o.InputOrder {
			q.Set("order", "input")
		}
	}
	return list[api.RunItem](ctx, c.sender, read("list results", runPath(id, "/results")).with(q))
}

// EventOptions says which part of a run's events is read. The zero value, and
// nil, read all that there are.
type EventOptions struct {
	// After is the sequence number after which it begins; events count from 1.
	After int64
	// Wait, up to 30 s, lets the first page wait for an event if there is none.
	Wait time.Duration
	// PageSize and Cursor are those of [ListOptions].
	PageSize int
	Cursor   string
}

// RunEvents lists the events of a run in sequence, up to the last that there is
// now. [Client.FollowRun] goes on to the end of the run.
func (c *Client) RunEvents(ctx context.Context, id string, o *EventOptions) iter.Seq2[api.RunEvent, error] {
	q := read("list events", runPath(id, "/events"))
	if o == nil {
		return list[api.RunEvent](ctx, c.sender, q.with(url.Values{}))
	}
	q.query = (&ListOptions{PageSize: o.PageSize, Cursor: o.Cursor}).query()
	if o.After > 0 {
		q.query.Set("after", strconv.FormatInt(o.After, 10))
	}
	return list[api.RunEvent](ctx, c.sender, q.waiting(o.Wait))
}

// Invoke makes one singular call and waits for what comes of it. It needs the
// role producer or admin.
//
// Nothing of a call is stored, so a call that may have begun is not made again:
// neither when its answer is lost nor when it ran out of time, which is
// api.ItemTimeout. A call for which no worker is free, api.RateLimited, is tried
// again within the bounds of [Options].
func (c *Client) Invoke(ctx context.Context, spec api.InvokeSpec) (*api.Invoked, error) {
	q := call{what: "invoke", method: http.MethodPost, path: base + "/invoke", body: spec, key: c.key, wait: longestItem}
	return fetch[api.Invoked](ctx, c.sender, q)
}

// runPath is the path of a run, or of what lies below it.
func runPath(id, below string) string { return "/runs/" + url.PathEscape(id) + below }
