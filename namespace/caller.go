package namespace

import (
	"slices"

	"github.com/skerryhq/skerry/api"
)

// Names of principals that no key can bear.
const (
	Anonymous = "anonymous"
	Operator  = "operator"
)

// Caller is who makes a request. An embedder that calls in process fills in the
// Principal and what else it needs; over HTTP it comes from the API key.
type Caller struct {
	Principal string
	// Tenant is the owner of the caller's work; empty means the principal's own
	// name.
	Tenant string
	Roles  []api.Role
	// incarnation ties a caller that a key gave to the namespace that knows the
	// key, so that it is worth nothing in a later one of the same name.
	incarnation string
	// key is the id of the API key that gave the caller, so that what waits under
	// it ends when it is revoked. Empty for any other caller.
	key string
}

// Has reports whether the caller bears one of the roles.
func (c Caller) Has(roles ...api.Role) bool {
	for _, r := range roles {
		if slices.Contains(c.Roles, r) {
			return true
		}
	}
	return false
}

// IsAnonymous reports whether the caller sent no key.
func (c Caller) IsAnonymous() bool { return c.Principal == Anonymous }

// Idempotency is the key under which a command may be sent again. The zero value
// is none.
type Idempotency struct {
	Key string
	// Scope is the method and the path: a key of another scope is another key.
	Scope string
	// BodySHA256 tells a repetition from a different request.
	BodySHA256 [32]byte
}
