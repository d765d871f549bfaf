package runs

import (
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// maxCommitBody bounds the body of a commit.
const maxCommitBody = 5 << 20

// workerRoutes are the routes of those who work, and of singular calls.
func workerRoutes() []namespace.Route {
	workers := []api.Role{api.RoleWorker}
	return []namespace.Route{
		{
			Method: http.MethodPost, Path: "/invoke", Summary: "Make one singular call through its pool and wait for what comes of it",
			Roles: []api.Role{api.RoleProducer}, In: api.InvokeSpec{}, Out: api.Invoked{},
			Command: decoding(func(_ *namespace.Request, s api.InvokeSpec) (*invoke, error) { return newInvoke(s) }),
		},
		{
			Method: http.MethodPost, Path: "/quanta:claim", Summary: "Ask for work for a free slot of a pool",
			Roles: workers, In: api.QuantumSpec{}, Out: api.Quanta{},
			Command: decoding(func(r *namespace.Request, s api.QuantumSpec) (*claimQuanta, error) {
				return newClaimQuanta(r.Base, s)
			}),
		},
		{
			Method: http.MethodPost, Path: "/quanta/{id}:heartbeat", Summary: "Renew the lease of a quantum",
			Roles: workers, In: api.HeartbeatSpec{}, Out: api.Heartbeat{}, IgnoreIdempotencyKey: true,
			Command: decoding(func(r *namespace.Request, s api.HeartbeatSpec) (*heartbeat, error) {
				return newHeartbeat(r.Path["id"], s)
			}),
		},
		{
			Method: http.MethodPost, Path: "/quanta/{id}:commit", Summary: "Report results of items of a quantum",
			Roles: workers, In: api.CommitSpec{}, Out: api.Committed{}, MaxBody: maxCommitBody,
			Command: decoding(func(r *namespace.Request, s api.CommitSpec) (*commit, error) {
				return newCommit(r.Base, r.Path["id"], s)
			}),
		},
		{
			Method: http.MethodPost, Path: "/quanta/{id}:release", Summary: "Hand back what is open of a quantum",
			Roles: workers, In: api.QuantumReleaseSpec{}, Out: api.QuantumReleased{},
			Command: decoding(func(r *namespace.Request, s api.QuantumReleaseSpec) (*release, error) {
				return &release{r.Base, r.Path["id"], s.Fence}, nil
			}),
		},
	}
}

// decoding makes a command of a request's body.
func decoding[Spec any, C namespace.Command](
	newCommand func(*namespace.Request, Spec) (C, error),
) func(*namespace.Request) (namespace.Command, error) {
	return func(r *namespace.Request) (namespace.Command, error) {
		var spec Spec
		if err := r.Decode(&spec); err != nil {
			return nil, err
		}
		return newCommand(r, spec)
	}
}
