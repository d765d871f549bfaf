package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
)

// runBench is a small server of quanta in memory. It grants what was put into its
// queue with a lease of a minute, and writes down what was reported.
type runBench struct {
	mu    sync.Mutex
	queue []api.Quanta
	// open are the items that each live quantum may still commit, and fence is
	// that of each quantum.
	open  map[string]map[string]bool
	fence map[string]int64
	log   []string
	byKey map[string][]byte
	beats []time.Time
	// batch is the catalog's batch_items, of which no word is said while it is 0.
	batch, catalogs int
	// cancelled says so in the next heartbeats.
	cancelled bool
	specs     []api.QuantumSpec
	// refuse answers instead of the server if it is not nil; it sees the body.
	refuse func(r *http.Request, body string) *api.Error
	// drop loses the answer of the request if it reports true, after its effect.
	drop func(r *http.Request) bool
}

// newRunBench serves the quanta, each in a grant of its own.
func newRunBench(quanta ...api.Quantum) *runBench {
	b := &runBench{open: map[string]map[string]bool{}, fence: map[string]int64{}, byKey: map[string][]byte{}}
	for i := range quanta {
		b.queue = append(b.queue, api.Quanta{Quantum: &quanta[i]})
	}
	return b
}

// quantum is one of run r-<id> whose items are called by the letters.
func quantum(id, letters string) api.Quantum {
	run := "r-" + id
	q := api.Quantum{ID: id, Run: &run, Kind: "k", Shared: json.RawMessage(`{"s":1}`), TimeoutMs: 60_000, TTLMs: 60_000}
	for i, letter := range letters {
		q.Items = append(q.Items, api.QuantumItem{ID: string(letter), InputIndex: i, AttemptCount: 1, Payload: json.RawMessage(`{}`)})
	}
	return q
}

func (b *runBench) client(t *testing.T) *Client {
	t.Helper()
	return dial(t, b.ServeHTTP, Options{})
}

func (b *runBench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	name := strings.TrimPrefix(r.URL.Path, "/ns/test/api/v2/")
	answer, e := b.do(r, name, data)
	if b.drop != nil && b.drop(r) {
		<-r.Context().Done()
		return
	}
	switch answer := answer.(type) {
	case nil:
		refuse(w, e)
	case []byte:
		w.Header().Set(api.HeaderIdempotentReplayed, "true")
		_, _ = w.Write(answer)
	default:
		reply(w, answer)
	}
}

func (b *runBench) do(r *http.Request, name string, data []byte) (any, *api.Error) {
	if b.refuse != nil {
		if e := b.refuse(r, string(data)); e != nil {
			b.note("refused " + noted(name, data))
			return nil, e
		}
	}
	switch name {
	case "catalog":
		b.mu.Lock()
		defer b.mu.Unlock()
		b.catalogs++
		return api.Catalog{BatchItems: b.batch}, nil
	case "quanta:claim":
		return b.claim(r.Context(), r.Header.Get(api.HeaderIdempotencyKey), data), nil
	}
	id, verb, _ := strings.Cut(strings.TrimPrefix(name, "quanta/"), ":")
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.command(id, verb, name, data)
}

// claim waits as long as it was asked to if there is nothing. What it granted
// comes again under the same key.
func (b *runBench) claim(ctx context.Context, key string, data []byte) any {
	var spec api.QuantumSpec
	_ = json.Unmarshal(data, &spec)
	b.mu.Lock()
	stored := b.byKey[key]
	b.specs = append(b.specs, spec)
	var granted api.Quanta
	if stored == nil && len(b.queue) > 0 {
		granted, b.queue = b.grant(b.queue[0]), b.queue[1:]
		b.byKey[key], _ = json.Marshal(granted)
	}
	b.mu.Unlock()
	if stored != nil {
		return stored
	}
	if granted.Quantum == nil {
		_ = sleep(ctx, millis(spec.WaitMs))
		granted.Idle = &api.Idle{PollAfterMs: 250}
	}
	return granted
}

// grant gives each quantum a fence of its own.
func (b *runBench) grant(g api.Quanta) api.Quanta {
	for _, q := range append([]*api.Quantum{g.Quantum}, pointers(g.Also)...) {
		q.Fence = int64(len(b.fence) + 1)
		b.fence[q.ID], b.open[q.ID] = q.Fence, map[string]bool{}
		for _, item := range q.Items {
			b.open[q.ID][item.ID] = true
		}
	}
	return g
}

func pointers[T any](s []T) (all []*T) {
	for i := range s {
		all = append(all, &s[i])
	}
	return all
}

func (b *runBench) command(id, verb, name string, data []byte) (any, *api.Error) {
	var spec api.CommitSpec
	_ = json.Unmarshal(data, &spec)
	open, live := b.open[id]
	if !live || spec.Fence != b.fence[id] {
		return nil, api.Errorf(api.StaleFence, "lost")
	}
	if verb == "heartbeat" {
		b.beats = append(b.beats, time.Now())
		return api.Heartbeat{TTLMs: 60_000, CancelRequested: b.cancelled}, nil
	}
	b.log = append(b.log, noted(name, data))
	if verb == "release" {
		delete(b.open, id)
		return api.QuantumReleased{}, nil
	}
	answer := api.Committed{}
	for _, result := range spec.Results {
		if open[result.ID] {
			delete(open, result.ID)
			answer.Committed = append(answer.Committed, result.ID)
			continue
		}
		answer.Ignored = append(answer.Ignored, api.IgnoredItem{ID: result.ID, Reason: "cancelled"})
	}
	if spec.Done || len(open) == 0 {
		delete(b.open, id)
	}
	return answer, nil
}

// noted is a report in short: its quantum, and for a commit what it says of which
// items, "+" for a success and "-" with the code for a failure, and "done".
func noted(name string, data []byte) string {
	id, verb, _ := strings.Cut(strings.TrimPrefix(name, "quanta/"), ":")
	if verb != "commit" {
		return verb + " " + id
	}
	var spec api.CommitSpec
	_ = json.Unmarshal(data, &spec)
	line := "commit " + id
	for _, result := range spec.Results {
		if result.Error != nil {
			line += fmt.Sprintf(" -%s:%s", result.ID, result.Error.Code)
			continue
		}
		line += " +" + result.ID
	}
	if spec.Done {
		line += " done"
	}
	return line
}

func (b *runBench) note(line string) {
	b.mu.Lock()
	b.log = append(b.log, line)
	b.mu.Unlock()
}

// logged is what was reported, in order.
func (b *runBench) logged() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.log...)
}
