package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// audit holds the node against the ledger.
func (l *ledger) audit(t *testing.T, url string, crowd []*actor) {
	t.Helper()
	c, err := client.New(url+"/ns/storm", l.auditor, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l.auditReplays(t, url)
	receipts := l.auditReceipts(t, c)
	l.auditVerbs(t, c, receipts)
	l.auditNouns(t, c)
	for _, a := range crowd {
		if a.name[0] == 'w' {
			l.auditLeases(t, url, a)
		}
	}
}

// auditReplays sends again what was acknowledged since the last audit. Releasing
// or cancelling what was cancelled has no effect, so there is no stored answer,
// but the same one comes again.
func (l *ledger) auditReplays(t *testing.T, url string) {
	t.Helper()
	for _, a := range l.takeFresh() {
		status, replayed, answer, err := a.request.send(url)
		if err != nil {
			t.Fatal(err)
		}
		ends := strings.HasSuffix(a.request.path, ":release") || strings.HasSuffix(a.request.path, ":cancel")
		replayed = replayed || ends && bytes.Contains(a.answer, []byte(`"state":"cancelled"`))
		if status != a.status || !replayed || !bytes.Equal(answer, a.answer) {
			t.Errorf("POST %s again: %d, replayed %t, %s, want %d, true, %s", a.request.path, status, replayed, answer, a.status, a.answer)
		}
	}
}

// auditReceipts wants the receipts numbered from 1 without a gap, one for a verb,
// each true to its digest, and among them those of the ledger.
func (l *ledger) auditReceipts(t *testing.T, c *client.Client) map[string]*api.Receipt {
	t.Helper()
	byVerb := map[string]*api.Receipt{}
	var last int64
	for document, err := range c.ReceiptDocuments(t.Context(), &client.ReceiptOptions{ListOptions: client.ListOptions{PageSize: 1000}}) {
		if err != nil {
			t.Fatal(err)
		}
		var r api.Receipt
		if err := json.Unmarshal(document, &r); err != nil {
			t.Fatal(err)
		}
		if r.Sequence != last+1 {
			t.Errorf("receipt %d follows %d", r.Sequence, last)
		}
		last = r.Sequence
		if got := plainDigest(t, document); got != r.Digest {
			t.Errorf("receipt %s has the digest %s, want %s", r.ID, r.Digest, got)
		}
		if other := byVerb[r.Verb]; other != nil {
			t.Errorf("%s has the receipts %s and %s", r.Verb, other.ID, r.ID)
		}
		byVerb[r.Verb] = &r
	}
	for verb, want := range l.receipts {
		if diff := cmp.Diff(byVerb[verb], want); diff != "" {
			t.Errorf("receipt of %s (-got +want):\n%s", verb, diff)
		}
	}
	return byVerb
}

// plainDigest is the digest of a receipt, whose fields are strings and integers:
// for those, Go's encoding with sorted keys is the canonical one.
func plainDigest(t *testing.T, document []byte) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(document, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "digest")
	var sorted any
	all, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(all, &sorted)
	}
	if err == nil {
		all, err = json.Marshal(sorted)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(all))
}

// auditVerbs wants every verb of the ledger as it ended, a receipt for exactly
// those that succeeded, and nobody blocked on what is there.
func (l *ledger) auditVerbs(t *testing.T, c *client.Client, receipts map[string]*api.Receipt) {
	t.Helper()
	states := map[string]api.VerbState{}
	for v, err := range c.Verbs(t.Context(), client.VerbFilter{}, &client.ListOptions{PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		states[v.ID] = v.State
		if (receipts[v.ID] != nil) != (v.State == api.VerbSucceeded) {
			t.Errorf("verb %s is %s, with the receipt %v", v.ID, v.State, receipts[v.ID])
		}
	}
	for id, e := range l.verbs {
		if got := states[id]; got == "" || e.ended != "" && got != e.ended {
			t.Errorf("verb %s is %q, want %q", id, got, e.ended)
		}
	}
	for id, maker := range l.then {
		if states[id] == api.VerbBlocked && states[maker] == api.VerbSucceeded {
			t.Errorf("verb %s is blocked on the artifact of %s, which succeeded", id, maker)
		}
	}
}

func (l *ledger) auditNouns(t *testing.T, c *client.Client) {
	t.Helper()
	digests := map[string]string{}
	for n, err := range c.Nouns(t.Context(), "", &client.ListOptions{PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		digests[n.Ref] = n.Digest
	}
	for ref, want := range l.nouns {
		if got := digests[ref]; got != want {
			t.Errorf("noun %s has the digest %q, want %q", ref, got, want)
		}
	}
	for _, r := range l.receipts {
		if got := digests[r.Output.Ref]; got != r.Output.Digest {
			t.Errorf("artifact %s has the digest %q, want %q", r.Output.Ref, got, r.Output.Digest)
		}
	}
}

// auditLeases wants a worker to hold exactly what the ledger says.
func (l *ledger) auditLeases(t *testing.T, url string, a *actor) {
	t.Helper()
	c, err := client.New(url+"/ns/storm", a.key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listed := map[string]int64{}
	for claim, err := range c.Claims(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		listed[claim.ID] = claim.Fence
	}
	want := map[string]int64{}
	for id, h := range l.held {
		if h.owner != a {
			continue
		}
		cancelled := l.verbs[h.claim.Verb.ID] != nil && l.verbs[h.claim.Verb.ID].ended == api.VerbCancelled
		if !cancelled {
			want[id] = h.claim.Fence
		}
		beat, err := c.Heartbeat(t.Context(), id, api.HeartbeatSpec{Fence: h.claim.Fence})
		if err != nil || beat.CancelRequested != cancelled {
			t.Errorf("lease %s of %s: %+v, %v, want it to live", id, a.name, beat, err)
		}
	}
	if diff := cmp.Diff(listed, want); diff != "" {
		t.Errorf("leases of %s (-got +want):\n%s", a.name, diff)
	}
}
