package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/api"
)

// bench is a small server of claims in memory. It grants the verbs v1 … vN in
// order with a lease of a minute and writes down what was reported.
type bench struct {
	mu    sync.Mutex
	next  int
	last  int
	live  map[string]api.Claim
	log   []string
	byKey map[string][]byte
	// drop loses the answer of the request if it reports true, after its effect.
	drop func(r *http.Request) bool
	// refuse answers instead of the server if it is not nil.
	refuse func(r *http.Request) *api.Error
	// wake is closed and made anew when there is something to claim.
	wake chan struct{}
}

func newBench(verbs int) *bench {
	return &bench{last: verbs, live: map[string]api.Claim{}, byKey: map[string][]byte{}, wake: make(chan struct{})}
}

func (b *bench) client(t *testing.T) *Client {
	t.Helper()
	return dial(t, b.ServeHTTP, Options{})
}

func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name := strings.TrimPrefix(r.URL.Path, "/ns/test/api/v2/claims")
	if b.refuse != nil {
		if e := b.refuse(r); e != nil {
			refuse(w, e)
			return
		}
	}
	scope := r.URL.Path + " " + r.Header.Get(api.HeaderIdempotencyKey)
	b.mu.Lock()
	stored := b.byKey[scope]
	b.mu.Unlock()
	if stored != nil && !strings.HasSuffix(name, ":heartbeat") {
		w.Header().Set(api.HeaderIdempotentReplayed, "true")
		_, _ = w.Write(stored)
		return
	}
	answer, e := b.do(r, name, body)
	if e != nil {
		refuse(w, e)
		return
	}
	data, _ := json.Marshal(answer)
	if claims, ok := answer.(api.Claims); r.Method == http.MethodPost && (!ok || len(claims.Claims) > 0) {
		kept, _ := json.Marshal(withoutNext(answer))
		b.mu.Lock()
		b.byKey[scope] = kept
		b.mu.Unlock()
	}
	if b.drop != nil && b.drop(r) {
		<-r.Context().Done()
		return
	}
	_, _ = w.Write(data)
}

func withoutNext(answer any) any {
	if s, ok := answer.(api.Submitted); ok {
		s.Next = nil
		return s
	}
	return answer
}

func (b *bench) do(r *http.Request, name string, body []byte) (any, *api.Error) {
	switch {
	case name == "" && r.Method == http.MethodGet:
		b.mu.Lock()
		defer b.mu.Unlock()
		var page api.Page[api.Claim]
		for _, claim := range b.live {
			page.Data = append(page.Data, claim)
		}
		return page, nil
	case name == "":
		var spec api.ClaimSpec
		_ = json.Unmarshal(body, &spec)
		return b.claim(r.Context(), spec), nil
	}
	id, verb, _ := strings.Cut(name[1:], ":")
	return b.command(id, verb, body)
}

func (b *bench) claim(ctx context.Context, spec api.ClaimSpec) api.Claims {
	wait := waitOf(&spec)
	b.mu.Lock()
	claims, wake := b.grant(*spec.Max), b.wake
	b.mu.Unlock()
	if len(claims) == 0 && wait > 0 {
		limit, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		select {
		case <-wake:
			return b.claim(ctx, spec)
		case <-limit.Done():
		}
	}
	if len(claims) > 0 {
		return api.Claims{Claims: claims}
	}
	return api.Claims{Claims: claims, Idle: &api.Idle{PollAfterMs: 250}}
}

func (b *bench) grant(most int) (claims []api.Claim) {
	for ; most > 0 && b.next < b.last; most-- {
		b.next++
		id := fmt.Sprintf("c%d", b.next)
		claim := api.Claim{
			ID: id, Verb: api.Verb{ID: fmt.Sprintf("v%d", b.next), Kind: "k"},
			Inputs: []api.ClaimInput{}, Fence: int64(b.next), TTLMs: 60_000,
		}
		b.live[id] = claim
		claims = append(claims, claim)
	}
	return claims
}

func (b *bench) command(id, verb string, body []byte) (any, *api.Error) {
	var spec struct {
		Fence     int64
		Output    api.Content
		Error     api.Failure
		Final     bool
		ClaimNext *api.ClaimSpec `json:"claim_next"`
	}
	_ = json.Unmarshal(body, &spec)
	b.mu.Lock()
	defer b.mu.Unlock()
	claim, ok := b.live[id]
	if !ok {
		return nil, api.Errorf(api.ClaimOver, "over")
	}
	if claim.Fence != spec.Fence {
		return nil, api.Errorf(api.StaleFence, "stale")
	}
	if verb == "heartbeat" {
		return api.Heartbeat{TTLMs: 60_000}, nil
	}
	delete(b.live, id)
	switch verb {
	case "submit":
		b.log = append(b.log, "submit "+id+" "+*spec.Output.Body)
		answer := api.Submitted{Receipt: api.Receipt{Claim: id}}
		if spec.ClaimNext != nil {
			answer.Next = &api.Next{Claims: b.grant(1)}
		}
		return answer, nil
	case "fail":
		b.log = append(b.log, fmt.Sprintf("fail %s %s %q final=%v", id, spec.Error.Code, spec.Error.Message, spec.Final))
		return api.Failed{}, nil
	default:
		b.log = append(b.log, verb+" "+id)
		return api.Released{}, nil
	}
}

func (b *bench) logged() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.log))
}
