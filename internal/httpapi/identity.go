package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// operatorKey is the hash of the node's key, so that comparing takes the same
// time whatever is compared. The zero value is no key: nothing hashes to it.
type operatorKey [sha256.Size]byte

func newOperatorKey(key string) operatorKey {
	if key == "" {
		return operatorKey{}
	}
	return sha256.Sum256([]byte(key))
}

func (k operatorKey) is(secret string) bool {
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], k[:]) == 1
}

// authorize finds out who asks and whether they may.
func (t *route) authorize(x *exchange, r *http.Request) error {
	if t.access == open {
		return nil
	}
	secret, err := credential(r.Header)
	if err != nil {
		return err
	}
	if t.access == member {
		return t.authorizeMember(x, r, secret)
	}
	if secret == "" {
		return api.Errorf(api.Unauthorized, "this needs a key")
	}
	if x.h.operator.is(secret) {
		x.caller = namespace.Caller{Principal: namespace.Operator}
		return nil
	}
	if x.namespace == "" {
		return api.Errorf(api.Unauthorized, "this needs the operator's key")
	}
	// A key of the namespace is known here, so it is refused as such rather than
	// as an unknown one.
	if x.caller, err = x.space().Authenticate(r.Context(), secret); err != nil {
		return err
	}
	if t.access == operatorOrAdmin && x.caller.Has(api.RoleAdmin) {
		return nil
	}
	return api.Errorf(api.Forbidden, "the key may not do this")
}

func (t *route) authorizeMember(x *exchange, r *http.Request, secret string) error {
	caller, err := x.space().Authenticate(r.Context(), secret)
	if err != nil {
		return err
	}
	x.caller = caller
	switch {
	case caller.IsAnonymous():
		if !t.anonymous {
			return api.Errorf(api.Unauthorized, "this needs a key")
		}
	case !caller.Has(t.roles...) && !caller.Has(api.RoleAdmin):
		return api.Errorf(api.Forbidden, "the key's roles do not allow this")
	}
	return nil
}

// credential is the secret that a request bears, "" if it bears none.
func credential(h http.Header) (string, error) {
	bearer, err := bearerKey(h["Authorization"])
	if err != nil {
		return "", err
	}
	plain := ""
	for i, value := range h[api.HeaderAPIKey] {
		if i > 0 && value != plain {
			return "", api.Errorf(api.BadRequest, "the request bears two different keys")
		}
		plain = value
	}
	switch {
	case bearer == "":
		return plain, nil
	case plain != "" && plain != bearer:
		return "", api.Errorf(api.BadRequest, "the request bears two different keys")
	}
	return bearer, nil
}

// bearerKey reads the Authorization header, RFC 6750, section 2.1.
func bearerKey(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	key = strings.Trim(key, " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || key == "" || strings.ContainsAny(key, " \t,") {
		return "", api.Errorf(api.Unauthorized, "the Authorization header is not of the form Bearer KEY")
	}
	return key, nil
}
