package claims

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// maxBatchBody bounds the body of a batch of verbs.
const maxBatchBody = 5 << 20

// routes are the class's HTTP routes.
func routes() []namespace.Route {
	var all []namespace.Route
	all = append(all, nounRoutes()...)
	all = append(all, verbRoutes()...)
	all = append(all, claimRoutes()...)
	return append(all, receiptRoutes()...)
}

func readers() []api.Role   { return []api.Role{api.RoleWorker, api.RoleProducer} }
func producers() []api.Role { return []api.Role{api.RoleProducer} }
func workers() []api.Role   { return []api.Role{api.RoleWorker} }

func pageParams(more ...namespace.Param) []namespace.Param {
	return append(more,
		namespace.Param{Name: "cursor", Summary: "next_cursor of the page before"},
		namespace.Param{Name: "limit", Summary: "entries in a page, 1 to 1,000, by default 100"},
		namespace.Param{Name: "order", Summary: "asc (by default) or desc, in order of creation"})
}

func waitParam(what string) namespace.Param {
	return namespace.Param{Name: "wait_ms", Summary: "how long to wait for " + what + ", up to 30,000"}
}

func nounRoutes() []namespace.Route {
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/nouns", Summary: "Create the next version of a noun",
			Roles: producers(), In: api.NounSpec{}, Out: api.Noun{}, Status: http.StatusCreated,
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return decoded(r, func(s api.NounSpec) (*createNoun, error) { return newCreateNoun(s) })
			},
		},
		{
			Method: http.MethodGet, Path: "/nouns", Summary: "List nouns, every version in order of creation",
			Roles: readers(), Out: api.Page[api.Noun]{},
			Params: pageParams(namespace.Param{Name: "prefix", Summary: "only keys that begin with this"}),
			Query: func(r *namespace.Request) (namespace.Query, error) {
				page, err := r.Page(nounList)
				return &listNouns{page, r.Query.Get("prefix")}, err
			},
		},
		{
			Method: http.MethodGet, Path: "/nouns/{key...}", Summary: "Read a noun: its newest version, or key@version",
			Roles: readers(), Out: api.Noun{},
			Params: pageParams(
				namespace.Param{Name: "body", Summary: "1 gives the bytes themselves"},
				namespace.Param{Name: "versions", Summary: "1 lists the versions of the key"}),
			Query: readNounRoute,
		},
	}
}

func readNounRoute(r *namespace.Request) (namespace.Query, error) {
	body, err := flag(r, "body")
	if err != nil {
		return nil, err
	}
	versions, err := flag(r, "versions")
	if err != nil {
		return nil, err
	}
	if !versions {
		return query(newGetNoun(r.Path["key"], body))
	}
	if body {
		return nil, api.Invalid("versions", "body and versions exclude each other")
	}
	page, err := r.Page(versionList)
	if err != nil {
		return nil, err
	}
	return query(newListVersions(r.Path["key"], page))
}

// flag reads a query parameter that is 1 or absent.
func flag(r *namespace.Request, name string) (bool, error) {
	switch r.Query.Get(name) {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, api.Invalid(name, "%s must be 1 or absent", name)
}

func verbRoutes() []namespace.Route {
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/verbs", Summary: "Create a verb, or with attempts a group of them",
			Roles: producers(), In: api.VerbSpec{}, Out: api.Verb{}, Status: http.StatusCreated,
			Command: func(r *namespace.Request) (namespace.Command, error) { return decoded(r, newCreateVerb) },
		},
		{
			Method: http.MethodPost, Path: "/verbs:batch", Summary: "Create up to 1,000 verbs, all or none",
			Roles: producers(), In: api.VerbBatchSpec{}, Out: api.VerbBatch{}, Status: http.StatusCreated, MaxBody: maxBatchBody,
			Command: func(r *namespace.Request) (namespace.Command, error) { return decoded(r, newCreateVerbs) },
		},
		{
			Method: http.MethodGet, Path: "/verbs", Summary: "List verbs in order of creation",
			Roles: readers(), Out: api.Page[api.Verb]{},
			Params: pageParams(
				namespace.Param{Name: "state", Summary: "only verbs in this state"},
				namespace.Param{Name: "kind", Summary: "only verbs of this kind"},
				namespace.Param{Name: "group", Summary: "only attempts of this group"}),
			Query: func(r *namespace.Request) (namespace.Query, error) {
				page, err := r.Page(verbList)
				if err != nil {
					return nil, err
				}
				return query(newListVerbs(page, r.Query.Get("state"), r.Query.Get("kind"), r.Query.Get("group")))
			},
		},
		{
			Method: http.MethodGet, Path: "/verbs/{id}", Summary: "Read a verb, or wait for it to change",
			Roles: readers(), Out: api.Verb{}, Params: []namespace.Param{waitParam("a change")},
			Query: func(r *namespace.Request) (namespace.Query, error) {
				wait, err := r.WaitMs()
				return newGetVerb(r.Path["id"], wait), err
			},
		},
		{
			Method: http.MethodPost, Path: "/verbs/{id}:cancel", Summary: "End a verb at once",
			Roles: producers(), In: struct{}{}, Out: api.Verb{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return &cancel{r.Path["id"]}, r.Decode(&struct{}{})
			},
		},
		{
			Method: http.MethodPost, Path: "/verbs/{id}:requeue", Summary: "Give a failed verb another chance",
			Roles: producers(), In: struct{}{}, Out: api.Verb{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return &requeue{r.Path["id"]}, r.Decode(&struct{}{})
			},
		},
	}
}

func claimRoutes() []namespace.Route {
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/claims", Summary: "Claim ready verbs, and wait for some if asked to",
			Roles: workers(), Anonymous: true, In: api.ClaimSpec{}, Out: api.Claims{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return decoded(r, func(s api.ClaimSpec) (*claim, error) { return newClaim("", r.Base, s) })
			},
		},
		{
			Method: http.MethodGet, Path: "/claims", Summary: "List the caller's live claims in order of their grant",
			Roles: workers(), Out: api.Page[api.Claim]{}, Params: pageParams(),
			Query: func(r *namespace.Request) (namespace.Query, error) {
				page, err := r.Page(claimList)
				return &listClaims{page, r.Base}, err
			},
		},
		{
			Method: http.MethodPost, Path: "/claims/{id}:heartbeat", Summary: "Renew a lease",
			Roles: workers(), Anonymous: true, IgnoreIdempotencyKey: true, In: api.HeartbeatSpec{}, Out: api.Heartbeat{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return decoded(r, func(s api.HeartbeatSpec) (*heartbeat, error) {
					if err := checkFence(r, s.Fence); err != nil {
						return nil, err
					}
					return newHeartbeat(r.Path["id"], s)
				})
			},
		},
		{
			Method: http.MethodPost, Path: "/claims/{id}:submit", Summary: "Submit the artifact, for a receipt",
			Roles: workers(), Anonymous: true, RequireIdempotencyKey: true,
			In: api.SubmitSpec{}, Out: api.Submitted{}, Status: http.StatusCreated,
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return decoded(r, func(s api.SubmitSpec) (*submit, error) {
					if err := checkFence(r, s.Fence); err != nil {
						return nil, err
					}
					return newSubmit(r.Path["id"], r.Base, s)
				})
			},
		},
		{
			Method: http.MethodPost, Path: "/claims/{id}:fail", Summary: "Report that the work failed, to be tried again or for good",
			Roles: workers(), Anonymous: true, In: api.FailSpec{}, Out: api.Failed{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return decoded(r, func(s api.FailSpec) (*fail, error) {
					if err := checkFence(r, s.Fence); err != nil {
						return nil, err
					}
					return newFail(r.Path["id"], r.Base, s)
				})
			},
		},
		{
			Method: http.MethodPost, Path: "/claims/{id}:release", Summary: "Hand a claim back unharmed",
			Roles: workers(), Anonymous: true, In: api.ReleaseSpec{}, Out: api.Released{},
			Command: func(r *namespace.Request) (namespace.Command, error) {
				return decoded(r, func(s api.ReleaseSpec) (*release, error) {
					if err := checkFence(r, s.Fence); err != nil {
						return nil, err
					}
					return newRelease(r.Path["id"], s)
				})
			},
		},
	}
}

func receiptRoutes() []namespace.Route {
	return []namespace.Route{
		{
			Method: http.MethodGet, Path: "/receipts", Summary: "Read the log of receipts in sequence, or wait for the next",
			Roles: readers(), Out: api.Page[api.Receipt]{},
			Params: pageParams(
				namespace.Param{Name: "after", Summary: "only receipts with a greater sequence"},
				waitParam("a receipt, if there is none")),
			Query: func(r *namespace.Request) (namespace.Query, error) {
				page, err := r.Page(receiptList)
				if err != nil {
					return nil, err
				}
				after, err := r.After()
				if err != nil {
					return nil, err
				}
				wait, err := r.WaitMs()
				return &listReceipts{page, after, wait}, err
			},
		},
		{
			Method: http.MethodGet, Path: "/receipts/{id}", Summary: "Read a receipt",
			Roles: readers(), Out: api.Receipt{},
			Query: func(r *namespace.Request) (namespace.Query, error) { return &getReceipt{r.Path["id"]}, nil },
		},
	}
}

// decoded reads the body of a request and makes the command out of it.
func decoded[S any, C namespace.Command](r *namespace.Request, make func(S) (C, error)) (namespace.Command, error) {
	var spec S
	if err := r.Decode(&spec); err != nil {
		return nil, err
	}
	return command(make(spec))
}

// checkFence refuses a request without a fence: answered as a stale one, it would
// look like the loss of the lease. No claim has fence 0, so only then is the body
// looked at again.
func checkFence(r *namespace.Request, fence int64) error {
	if fence != 0 {
		return nil
	}
	var members map[string]jsontext.Value
	if err := r.Decode(&members); err != nil {
		return err
	}
	if given := members["fence"]; given == nil || given.Kind() == 'n' {
		return api.Invalid("fence", "the claim's fence must be given")
	}
	return nil
}

// command and query turn what a constructor gives into the interface, without a
// value beside an error.
func command[C namespace.Command](c C, err error) (namespace.Command, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

func query[Q namespace.Query](q Q, err error) (namespace.Query, error) {
	if err != nil {
		return nil, err
	}
	return q, nil
}
