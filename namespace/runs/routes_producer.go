package runs

import (
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func producers() []api.Role { return []api.Role{api.RoleProducer} }

func pageParams(more ...namespace.Param) []namespace.Param {
	return append(more,
		namespace.Param{Name: "cursor", Summary: "next_cursor of the page before"},
		namespace.Param{Name: "limit", Summary: "entries in a page, 1 to 1,000, by default 100"})
}

// producerRoutes are the routes of those whose work it is.
func producerRoutes() []namespace.Route {
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/runs", Summary: "Admit a run, whole or not at all",
			Roles: producers(), In: api.RunSpec{}, Out: api.Run{}, Status: http.StatusAccepted,
			MaxBody: maxBodyBytes, RequireIdempotencyKey: true,
			Command: func(r *namespace.Request) (namespace.Command, error) { return newCreateRun(r.Base, r.Body), nil },
		},
		{
			Method: http.MethodPost, Path: "/runs:estimate", Summary: "Say what a run would cost, and whether it would be admitted now",
			Roles: producers(), In: api.RunSpec{}, Out: api.RunEstimate{}, MaxBody: maxBodyBytes,
			Query: func(r *namespace.Request) (namespace.Query, error) { return &estimate{r.Body}, nil },
		},
		{
			Method: http.MethodGet, Path: "/runs", Summary: "List the tenant's runs in order of creation",
			Roles: producers(), Out: api.Page[api.Run]{},
			Params: pageParams(
				namespace.Param{Name: "status", Summary: "only runs of this status"},
				namespace.Param{Name: "order", Summary: "asc (by default) or desc, in order of creation"}),
			Query: func(r *namespace.Request) (namespace.Query, error) {
				page, err := r.Page(runList)
				if err != nil {
					return nil, err
				}
				return newListRuns(r.Base, page, r.Query.Get("status"))
			},
		},
		{
			Method: http.MethodGet, Path: "/runs/{id}", Summary: "Read a run",
			Roles: producers(), Out: api.Run{},
			Query: func(r *namespace.Request) (namespace.Query, error) { return &getRun{r.Base, r.Path["id"]}, nil },
		},
		{
			Method: http.MethodPost, Path: "/runs/{id}:cancel", Summary: "End a run; twice is fine",
			Roles: producers(), Out: api.Run{},
			Command: decoding(func(r *namespace.Request, _ struct{}) (*cancel, error) {
				return &cancel{r.Base, r.Path["id"]}, nil
			}),
		},
		{
			Method: http.MethodGet, Path: "/runs/{id}/items", Summary: "List a run's items in the order of its document",
			Roles: producers(), Out: api.Page[api.RunItem]{},
			Params: pageParams(
				namespace.Param{Name: "status_filter", Summary: "only items of this status"},
				namespace.Param{Name: "order", Summary: "asc (by default) or desc, in the order of the document"}),
			Query: func(r *namespace.Request) (namespace.Query, error) {
				page, err := r.Page(itemList)
				if err != nil {
					return nil, err
				}
				return newListItems(r.Path["id"], page, r.Query.Get("status_filter"))
			},
		},
		{
			Method: http.MethodGet, Path: "/runs/{id}/results", Summary: "List a run's items that have ended",
			Roles: producers(), Out: api.Page[api.RunItem]{},
			Params: pageParams(namespace.Param{Name: "order", Summary: "completion (by default), as they ended, or input, as they were given"}),
			Query:  func(r *namespace.Request) (namespace.Query, error) { return newListResults(r) },
		},
		{
			Method: http.MethodGet, Path: "/runs/{id}/events", Summary: "List a run's events behind a number, or follow them",
			Roles: producers(), Out: api.Page[api.RunEvent]{}, Streams: true,
			Params: pageParams(
				namespace.Param{Name: "after", Summary: "the number behind which to begin, by default 0"},
				namespace.Param{Name: "wait_ms", Summary: "how long to wait for an event if there is none, up to 30,000"}),
			Query: func(r *namespace.Request) (namespace.Query, error) { return newListEvents(r) },
		},
	}
}

// newListResults reads the order, which is no order of creation, and where the page
// begins. A cursor keeps the order of the page that gave it.
func newListResults(r *namespace.Request) (*listResults, error) {
	l := &listResults{run: r.Path["id"]}
	order := r.Query.Get("order")
	switch order {
	case "", "completion":
	case "input":
		l.input = true
	default:
		return nil, api.Invalid("order", "order must be completion or input")
	}
	if order == "" {
		_, err := namespace.DecodeCursor(resultsByIndex, r.Query.Get("cursor"))
		l.input = err == nil
	}
	page := *r
	page.Query = map[string][]string{"cursor": {r.Query.Get("cursor")}, "limit": {r.Query.Get("limit")}}
	var err error
	l.page, err = page.Page(l.list())
	return l, err
}

func (l *listResults) list() string {
	if l.input {
		return resultsByIndex
	}
	return resultsByEnd
}
