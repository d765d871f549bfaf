package httpapi

import (
	"crypto/sha256"
	"net/http"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// readIdempotencyKey checks the header as the route wants it.
func (x *exchange) readIdempotencyKey(h http.Header) error {
	if x.route.key == keyIgnored {
		return nil
	}
	values := h[api.HeaderIdempotencyKey]
	if len(values) == 0 {
		if x.route.key == keyRequired {
			e := api.Errorf(api.IdempotencyKeyRequired, "this needs an %s header", api.HeaderIdempotencyKey)
			e.Field = api.HeaderIdempotencyKey
			return e
		}
		return nil
	}
	if len(values) > 1 || !shortASCII(values[0]) {
		e := api.Errorf(api.BadRequest, "%s is one value of 1 to 255 printable ASCII characters", api.HeaderIdempotencyKey)
		e.Field = api.HeaderIdempotencyKey
		return e
	}
	x.idemKey = values[0]
	return nil
}

// shortASCII reports whether s is 1 to 255 printable ASCII characters.
func shortASCII(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// command carries out a class's command.
func (x *exchange) command(r *http.Request, class string, route *namespace.Route) error {
	c, err := route.Command(x.request())
	if err != nil {
		return err
	}
	call := namespace.Call{Class: class, Caller: x.caller, Command: c}
	if x.idemKey != "" {
		call.Idempotency = namespace.Idempotency{
			Key: x.idemKey, Scope: x.scope(), BodySHA256: sha256.Sum256(x.body),
		}
	}
	outcome, err := x.space().Do(r.Context(), call)
	if a := outcome.Admission; a != nil {
		x.showAdmission(a.Wait, a.Concurrency)
	}
	if err != nil {
		return err
	}
	if outcome.Replayed {
		x.Header().Set(api.HeaderIdempotentReplayed, "true")
	}
	return x.answer(r, outcome.Answer)
}

// query reads what a class's query asks for, or follows it.
func (x *exchange) query(r *http.Request, class string, route *namespace.Route) error {
	q, err := route.Query(x.request())
	if err != nil {
		return err
	}
	if s, ok := q.(namespace.Streaming); ok && x.stream {
		return x.follow(r, class, s)
	}
	a, err := x.space().Read(r.Context(), class, x.caller, q)
	if err != nil {
		return err
	}
	return x.answer(r, a)
}

// admission tells how the namespace admits claims.
func (h *handler) admission(x *exchange, r *http.Request) error {
	status, err := x.space().Admission(r.Context(), x.caller)
	if err != nil {
		return err
	}
	return x.document(http.StatusOK, status)
}

// catalog tells what the namespace offers.
func (h *handler) catalog(x *exchange, r *http.Request) error {
	catalog, err := x.space().Catalog(r.Context(), x.caller)
	if err != nil {
		return err
	}
	return x.document(http.StatusOK, catalog)
}
