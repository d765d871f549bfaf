package claims_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
	"github.com/skerryhq/skerry/namespace/namespacetest"
)

// posting is an example with a fixed body.
func posting(name, route, body string) namespacetest.Example {
	return namespacetest.Example{Name: name, Route: route, Request: func(namespacetest.Answers) (namespace.Request, error) {
		return namespace.Request{Body: []byte(body)}, nil
	}}
}

// onClaim is a command on the n-th claim of the example "claim"; more is what its
// body has besides the fence.
func onClaim(name, verb string, n int, more string) namespacetest.Example {
	return namespacetest.Example{
		Name: name, Route: "POST /claims/{id}:" + verb,
		Request: func(done namespacetest.Answers) (namespace.Request, error) {
			granted, err := claimOf(done, n)
			return namespace.Request{
				Path: map[string]string{"id": granted.ID},
				Body: fmt.Appendf(nil, `{"fence": %d%s}`, granted.Fence, more),
			}, err
		},
	}
}

// onVerb is a request about the verb of the n-th claim of the example "claim".
func onVerb(name, route string, n int) namespacetest.Example {
	return namespacetest.Example{Name: name, Route: route, Request: func(done namespacetest.Answers) (namespace.Request, error) {
		granted, err := claimOf(done, n)
		return namespace.Request{Path: map[string]string{"id": granted.Verb.ID}}, err
	}}
}

func claimOf(done namespacetest.Answers, n int) (api.Claim, error) {
	granted, err := namespace.Document[api.Claims](done["claim"])
	if err != nil || len(granted.Claims) <= n {
		return api.Claim{}, fmt.Errorf("claim %d of %d: %w", n, len(granted.Claims), err)
	}
	return granted.Claims[n], nil
}

func getting(name, route string, path map[string]string, query url.Values) namespacetest.Example {
	return namespacetest.Example{Name: name, Route: route, Request: func(namespacetest.Answers) (namespace.Request, error) {
		return namespace.Request{Path: path, Query: query}, nil
	}}
}

// racing is a claim of one of several principals for verbs of one kind.
func racing(n int) namespacetest.Example {
	e := posting(fmt.Sprint("race ", n), "POST /claims", `{"kinds": ["race"]}`)
	e.Caller = namespace.Caller{Principal: fmt.Sprint("worker-", n), Roles: []api.Role{api.RoleWorker}}
	return e
}

func TestClaimsConform(t *testing.T) {
	t.Parallel()
	raced := make([]map[string]any, 8)
	for n := range raced {
		raced[n] = map[string]any{"kind": "race", "artifact": fmt.Sprint("out/race/", n)}
	}
	race, err := json.Marshal(map[string]any{"verbs": raced})
	if err != nil {
		t.Fatal(err)
	}
	namespacetest.Run(t, namespacetest.Suite{
		Class: claims.Class,
		Commands: []namespacetest.Example{
			posting("noun", "POST /nouns", `{"key": "in/text", "body": "text"}`),
			posting("verb", "POST /verbs", `{"kind": "draw", "artifact": "out/a", "inputs": ["in/text"], "brief_version": "1"}`),
			posting("verbs", "POST /verbs:batch", `{"verbs": [
				{"kind": "draw", "artifact": "out/b", "attempts": 3},
				{"kind": "draw", "artifact": "out/c", "inputs": ["out/a"]},
				{"kind": "draw", "artifact": "out/d", "not_before": "2030-01-02T03:04:06Z", "metadata": {"a": "b"}}]}`),
			posting("race", "POST /verbs:batch", string(race)),
			posting("claim", "POST /claims", `{"kinds": ["draw"], "max": 4}`),
			onClaim("heartbeat", "heartbeat", 0, `, "lease_ms": 90000`),
			onClaim("submit", "submit", 0, `, "output": {"body": "drawn"}, "metadata": {"k": "v"}`),
			onClaim("fail", "fail", 1, `, "error": {"message": "no ink"}, "final": true`),
			onClaim("release", "release", 2, ``),
			onVerb("requeue", "POST /verbs/{id}:requeue", 1),
			onVerb("cancel", "POST /verbs/{id}:cancel", 2),
		},
		Concurrent: []namespacetest.Example{racing(1), racing(2), racing(3), racing(4), racing(5), racing(6), racing(7), racing(8)},
		Queries: []namespacetest.Example{
			getting("nouns", "GET /nouns", nil, nil),
			getting("a noun", "GET /nouns/{key...}", map[string]string{"key": "out/a"}, nil),
			getting("its bytes", "GET /nouns/{key...}", map[string]string{"key": "out/a@1"}, url.Values{"body": {"1"}}),
			getting("list of verbs", "GET /verbs", nil, url.Values{"order": {"desc"}}),
			onVerb("a verb", "GET /verbs/{id}", 0),
			getting("claims", "GET /claims", nil, nil),
			getting("receipts", "GET /receipts", nil, nil),
			{Name: "a receipt", Route: "GET /receipts/{id}", Request: func(done namespacetest.Answers) (namespace.Request, error) {
				made, err := namespace.Document[api.Submitted](done["submit"])
				return namespace.Request{Path: map[string]string{"id": made.ID}}, err
			}},
		},
		Volatile: []string{
			// Signed ids and fencing tokens, and who got which of several verbs.
			"claims_receipt.doc", "claims_receipt.fence", "claims_state.fence", "claims_over.fence",
			"claims_state.id", "claims_state.principal", "claims_receipt.idem_key", "claims_receipt.idem_sha",
		},
	})
}
