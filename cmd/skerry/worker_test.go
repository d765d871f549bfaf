package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// A hundred workers under as many keys, a real binary, a real file, and a kill in
// between: what was acknowledged stays, what was leased stays leased, and every
// alternative of the group reaches the one who compares them.
func TestWorkersSurviveTheNodesDeath(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	n := startNode(t)
	op := n.operator(t)
	if _, err := op.CreateNamespace(ctx, "field"); err != nil {
		t.Fatal(err)
	}
	producer := n.client(t, "field", n.key(t, "field", "producer", api.RoleProducer))
	consumer, crowd := plant(t, producer), workers(t, n, "field", 100)

	granted := claimAtOnce(t, ctx, crowd)
	for _, w := range crowd {
		beat, err := w.client.Heartbeat(ctx, w.claim.ID, api.HeartbeatSpec{Fence: w.claim.Fence})
		if err != nil {
			t.Fatalf("heartbeat of %s: %v", w.name, err)
		}
		if beat.CancelRequested || beat.TTLMs <= 0 {
			t.Errorf("heartbeat of %s = %+v, want a live lease", w.name, beat)
		}
	}
	ledger := map[string][]byte{} // verb → the acknowledged answer
	for _, w := range crowd[:50] {
		ledger[w.claim.Verb.ID] = w.submit(t, ctx, n, http.StatusCreated, "")
	}

	n.kill(t)
	n.start(t)

	for _, w := range crowd[:50] {
		again := w.submit(t, ctx, n, http.StatusCreated, "true")
		if diff := cmp.Diff(string(again), string(ledger[w.claim.Verb.ID])); diff != "" {
			t.Errorf("replay for %s after the crash differs (-got +want):\n%s", w.name, diff)
		}
	}
	for _, w := range crowd[50:] {
		if _, err := w.client.Heartbeat(ctx, w.claim.ID, api.HeartbeatSpec{Fence: w.claim.Fence}); err != nil {
			t.Errorf("lease of %s did not survive: %v", w.name, err)
		}
		w.submit(t, ctx, n, http.StatusCreated, "")
	}
	checkReceipts(t, ctx, producer, granted)
	checkAlternatives(t, ctx, n, consumer, granted)
	n.stop(t)
}

// plant makes 100 attempts in two groups (one may have 64) and a verb that takes
// the first group as a whole. It returns that verb's id.
func plant(t *testing.T, producer *client.Client) string {
	t.Helper()
	text := "the same brief for all"
	if _, err := producer.CreateNoun(t.Context(), api.NounSpec{Key: "in/brief", Content: api.Content{Body: &text}}); err != nil {
		t.Fatal(err)
	}
	var first *api.VerbGroup
	for _, attempts := range []int{64, 36} {
		g, err := producer.CreateGroup(t.Context(), api.VerbSpec{
			Kind: "solve", Artifact: fmt.Sprintf("out/%d", attempts), BriefVersion: "7",
			Inputs: []api.Input{{Key: "in/brief"}}, Attempts: &attempts,
		})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = g
		}
	}
	v, err := producer.CreateVerb(t.Context(), api.VerbSpec{
		Kind: "compare", Artifact: "out/best", Inputs: []api.Input{{Group: &api.GroupInput{Group: first.Group, Min: new(64)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.State != api.VerbBlocked {
		t.Fatalf("the comparison is %s before any attempt, want blocked", v.State)
	}
	return v.ID
}

type worker struct {
	name, key string
	client    *client.Client
	claim     api.Claim
}

func workers(t *testing.T, n *process, ns string, count int) []*worker {
	t.Helper()
	all := make([]*worker, count)
	for i := range all {
		name := fmt.Sprintf("worker-%03d", i)
		key := n.key(t, ns, name, api.RoleWorker)
		all[i] = &worker{name: name, key: key, client: n.client(t, ns, key)}
	}
	return all
}

// claimAtOnce lets everybody claim at the same moment. Each gets one verb, no
// verb and no fence twice.
func claimAtOnce(t *testing.T, ctx context.Context, crowd []*worker) map[string]int64 {
	t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, len(crowd))
	for i, w := range crowd {
		wg.Go(func() {
			<-start
			got, err := w.client.Claim(ctx, api.ClaimSpec{Kinds: []string{"solve"}})
			if err == nil && len(got.Claims.Claims) != 1 {
				err = fmt.Errorf("%d claims, want 1", len(got.Claims.Claims))
			}
			if err == nil {
				w.claim = got.Claims.Claims[0]
			}
			errs[i] = err
		})
	}
	close(start)
	wg.Wait()
	granted, fences := map[string]int64{}, map[int64]bool{}
	for i, w := range crowd {
		if errs[i] != nil {
			t.Fatalf("claim of %s: %v", w.name, errs[i])
		}
		if _, twice := granted[w.claim.Verb.ID]; twice || fences[w.claim.Fence] {
			t.Fatalf("%s was granted %s under fence %d, which somebody else has", w.name, w.claim.Verb.ID, w.claim.Fence)
		}
		granted[w.claim.Verb.ID], fences[w.claim.Fence] = w.claim.Fence, true
		if len(w.claim.Inputs) != 1 || w.claim.Inputs[0].Body == nil {
			t.Errorf("claim of %s has inputs %+v, want the brief inline", w.name, w.claim.Inputs)
		}
	}
	return granted
}

// submit sends the worker's own solution by plain HTTP and returns the answer's
// bytes.
func (w *worker) submit(t *testing.T, ctx context.Context, n *process, status int, replayed string) []byte {
	t.Helper()
	body := fmt.Sprintf(`{"fence":%d,"output":{"body":"solution of %s"}}`, w.claim.Fence, w.name)
	url := n.url() + "/ns/field/api/v2/claims/" + w.claim.ID + ":submit"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Idempotency-Key", "once")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get(api.HeaderIdempotentReplayed); res.StatusCode != status || got != replayed {
		t.Fatalf("submission of %s: status %d, replayed %q, want %d, %q: %s", w.name, res.StatusCode, got, status, replayed, answer)
	}
	return answer
}

// checkReceipts wants exactly one receipt per granted verb, under its own fence,
// numbered without gaps.
func checkReceipts(t *testing.T, ctx context.Context, c *client.Client, granted map[string]int64) {
	t.Helper()
	var last int64
	seen := map[string]int64{}
	for r, err := range c.Receipts(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Sequence != last+1 {
			t.Errorf("receipt %d follows %d", r.Sequence, last)
		}
		last = r.Sequence
		if _, twice := seen[r.Verb]; twice {
			t.Errorf("verb %s has two receipts", r.Verb)
		}
		seen[r.Verb] = r.Fence
		if r.BriefVersion != "7" || r.Late {
			t.Errorf("receipt %+v, want brief version 7 and not late", r)
		}
	}
	if diff := cmp.Diff(seen, granted); diff != "" {
		t.Errorf("receipts by verb and fence (-got +want):\n%s", diff)
	}
}

// checkAlternatives lets a judge claim the comparison: all 64 alternatives in
// order, each another.
func checkAlternatives(t *testing.T, ctx context.Context, n *process, verb string, granted map[string]int64) {
	t.Helper()
	judge := n.client(t, "field", n.key(t, "field", "judge", api.RoleWorker))
	got, err := judge.Claim(ctx, api.ClaimSpec{Kinds: []string{"compare"}})
	if err != nil || len(got.Claims.Claims) != 1 {
		t.Fatalf("claim of the comparison: %+v, %v", got, err)
	}
	c := got.Claims.Claims[0]
	if c.Verb.ID != verb || len(c.Inputs) != 64 {
		t.Fatalf("the judge got %s with %d inputs, want %s with 64", c.Verb.ID, len(c.Inputs), verb)
	}
	digests := map[string]bool{}
	for i, in := range c.Inputs {
		if in.Attempt != i+1 || in.Ref != fmt.Sprintf("out/64/%d@1", i+1) {
			t.Errorf("input %d is attempt %d, %s", i, in.Attempt, in.Ref)
		}
		digests[in.Digest] = true
	}
	if len(digests) != 64 {
		t.Errorf("%d distinct alternatives, want 64", len(digests))
	}
	for _, fence := range granted {
		if c.Fence <= fence {
			t.Errorf("fence %d after the crash is not above %d before it", c.Fence, fence)
		}
	}
}

// A node that is told to stop answers who waits and leaves with 0.
func TestWorkerNodeDrainsOnSIGTERM(t *testing.T) {
	n := startNode(t)
	if _, err := n.operator(t).CreateNamespace(t.Context(), "idle"); err != nil {
		t.Fatal(err)
	}
	c := n.client(t, "idle", n.key(t, "idle", "w", api.RoleWorker))
	answered := make(chan error, 1)
	wait := int64(30_000)
	go func() {
		got, err := c.Claim(t.Context(), api.ClaimSpec{WaitMs: &wait})
		if err == nil && (len(got.Claims.Claims) != 0 || got.Claims.Idle == nil) {
			err = fmt.Errorf("parked claim answered %+v, want empty", got.Claims)
		}
		answered <- err
	}()
	n.await(t, "idle", func(s *api.AdmissionStatus) bool { return s.Parked == 1 })
	n.signal(t, syscall.SIGTERM)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	n.wait(t)
}
