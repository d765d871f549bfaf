package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
)

// books are a namespace as the audit reads it: one file with three attempts and a
// comparison, all in order.
type books struct {
	file      *source
	verbs     map[string]api.Verb
	receipts  []api.Receipt
	artifacts map[string][]byte
}

func newBooks(t *testing.T) *books {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte(originalText), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &books{
		file: &source{
			path: path, name: "a", size: int64(len(originalText)), digest: digest([]byte(originalText)),
			methods: installed(t), attempts: []string{"v1", "v2", "v3"}, comparison: "v4",
		},
		verbs: make(map[string]api.Verb), artifacts: make(map[string][]byte),
	}
	inputs := []api.NounRef{{Ref: "in/a@1", Digest: b.file.digest}}
	v := verdict{Original: inputs[0]}
	for i, m := range b.file.methods {
		r := b.enter(fmt.Sprintf("packed/a/%d@1", i+1), inputs[:1:1], pack(t, m, originalText))
		inputs = append(inputs, r.Output)
		v.Alternatives = append(v.Alternatives, alternative{
			Attempt: i + 1, Method: m, Ref: r.Output.Ref, Digest: r.Output.Digest,
			Size: int64(len(b.artifacts[r.Output.Ref])), Restores: true,
		})
	}
	v.Winner, _ = smallest(v.Alternatives)
	b.enter("verdict/a@1", inputs, marshal(t, v))
	return b
}

// enter adds the next verb with its receipt and its artifact.
func (b *books) enter(ref string, inputs []api.NounRef, artifact []byte) api.Receipt {
	n := len(b.receipts) + 1
	r := api.Receipt{
		ID: fmt.Sprintf("r%d", n), Sequence: int64(n), Verb: fmt.Sprintf("v%d", n), Claim: fmt.Sprintf("c%d", n),
		Principal: "packer <1>", Fence: int64(1)<<40 + int64(n), Inputs: inputs,
		Output: api.NounRef{Ref: ref, Digest: digest(artifact)}, SubmittedAt: time.UnixMilli(1_700_000_000_000).UTC(),
	}
	b.receipts = append(b.receipts, r)
	b.verbs[r.Verb] = api.Verb{ID: r.Verb, State: api.VerbSucceeded, Receipt: r.ID, AttemptCount: 1}
	b.artifacts[ref] = artifact
	return r
}

// audit checks the books. Each receipt is given the digest it should bear, except
// those that bear one already.
func (b *books) audit(t *testing.T) (*ledger, outcome, error) {
	t.Helper()
	l := newLedger(b.verbs)
	for _, r := range b.receipts {
		if r.Digest == "" {
			r.Digest = receiptDigest(t, r)
		}
		if err := l.enter(marshal(t, r)); err != nil {
			return nil, outcome{}, err
		}
	}
	if err := l.complete(append(b.file.attempts[:3:3], b.file.comparison)); err != nil {
		return nil, outcome{}, err
	}
	o, err := b.file.audit(t.Context(), l, func(_ context.Context, ref string) ([]byte, error) {
		body, ok := b.artifacts[ref]
		if !ok {
			return nil, api.Errorf(api.NotFound, "no noun %s", ref)
		}
		return body, nil
	})
	return l, o, err
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	document, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// receiptDigest writes the canonical form by hand: for these receipts it is the
// members in the order of their names, without any escape.
func receiptDigest(t *testing.T, r api.Receipt) string {
	t.Helper()
	ref := func(n api.NounRef) string { return fmt.Sprintf(`{"digest":%q,"ref":%q}`, n.Digest, n.Ref) }
	var inputs []string
	for _, n := range r.Inputs {
		inputs = append(inputs, ref(n))
	}
	return digest(fmt.Appendf(nil,
		`{"claim":%q,"fence":%d,"id":%q,"inputs":[%s],"late":%t,"output":%s,"principal":%q,"sequence":%d,"submitted_at":%q,"verb":%q}`,
		r.Claim, r.Fence, r.ID, strings.Join(inputs, ","), r.Late, ref(r.Output), r.Principal, r.Sequence,
		r.SubmittedAt.Format(time.RFC3339Nano), r.Verb))
}

func TestAuditPassesWhatIsInOrder(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	l, o, err := b.audit(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.receipts) != 4 || len(o.sizes) != 3 || o.sizes[o.winner] > min(o.sizes[0], o.sizes[1], o.sizes[2]) {
		t.Errorf("%d receipts, outcome %+v", len(l.receipts), o)
	}
}

func TestAuditFindsWhatIsNotInOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, b *books)
		want  string
	}{
		{"a changed receipt", func(t *testing.T, b *books) {
			b.receipts[1].Digest = receiptDigest(t, b.receipts[1])
			b.receipts[1].Principal = "packer <2>"
		}, "but bears"},
		{"a receipt without a digest", func(_ *testing.T, b *books) { b.receipts[1].Digest = "none" }, `but bears "none"`},
		{"a gap in the log", func(_ *testing.T, b *books) { b.receipts[3].Sequence = 5 }, "sequence 5, want 4"},
		{"a receipt twice", func(_ *testing.T, b *books) {
			again := b.receipts[0]
			again.Sequence = 5
			b.receipts = append(b.receipts, again)
		}, "two receipts"},
		{"a verb with another receipt", func(_ *testing.T, b *books) { b.receipts[2].ID = "r9" }, `receipt "r3", but there is receipt r9`},
		{"a verb that failed", func(_ *testing.T, b *books) {
			b.verbs["v2"] = api.Verb{ID: "v2", State: api.VerbFailed}
		}, "verb v2 is failed"},
		{"a fence twice", func(_ *testing.T, b *books) { b.receipts[3].Fence = b.receipts[0].Fence }, "same fence"},
		{"a receipt of an unknown verb", func(_ *testing.T, b *books) { b.receipts[3].Verb = "v9" }, "unknown verb v9"},
		{"a missing receipt", func(_ *testing.T, b *books) { b.receipts = b.receipts[:3] }, "4 verbs and 3 receipts, want 4"},
		{"a verb that was not planned", func(_ *testing.T, b *books) { b.file.comparison = "v5" }, "v5 has no receipt"},
		{"a lost artifact", func(_ *testing.T, b *books) { delete(b.artifacts, "packed/a/3@1") }, "no noun packed/a/3@1"},
		{"a changed artifact", func(_ *testing.T, b *books) {
			b.artifacts["packed/a/2@1"] = append(b.artifacts["packed/a/2@1"], 0)
		}, "artifact packed/a/2@1 has the digest"},
		{"another input", func(_ *testing.T, b *books) { b.receipts[1].Inputs = []api.NounRef{{Ref: "in/b@1"}} }, "records the inputs"},
		{"a comparison of less", func(_ *testing.T, b *books) { b.receipts[3].Inputs = b.receipts[3].Inputs[:3] }, "records the inputs"},
		{"a file that changed", func(t *testing.T, b *books) {
			if err := os.WriteFile(b.file.path, []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "has changed"},
		{"another winner", func(t *testing.T, b *books) {
			b.rewrite(t, func(v *verdict) { v.Winner = v.Alternatives[v.Winner.Attempt%attemptsPerFile] })
		}, "the verdict chooses"},
		{"an alternative that does not restore", func(t *testing.T, b *books) {
			b.rewrite(t, func(v *verdict) { v.Alternatives[1].Restores = false })
		}, "the verdict compares"},
		{"a verdict on another file", func(t *testing.T, b *books) {
			b.rewrite(t, func(v *verdict) { v.Original.Ref = "in/b@1" })
		}, "the verdict is on"},
		{"no verdict", func(t *testing.T, b *books) { b.replace(t, 3, []byte("alpha")) }, "read verdict"},
		{"attempts that restore something else", func(t *testing.T, b *books) { spoilAttempts(t, b, "something") }, "is not the file on disk"},
		{"attempts that restore nothing", func(t *testing.T, b *books) { spoilAttempts(t, b, "") }, "restore from packed/a/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBooks(t)
			tt.spoil(t, b)
			_, _, err := b.audit(t)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("audit: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// replace puts another artifact, with the digest that goes with it, in the place
// of the n-th.
func (b *books) replace(t *testing.T, n int, artifact []byte) {
	t.Helper()
	out := &b.receipts[n].Output
	b.artifacts[out.Ref], out.Digest = artifact, digest(artifact)
}

// rewrite changes the verdict.
func (b *books) rewrite(t *testing.T, change func(v *verdict)) {
	t.Helper()
	var v verdict
	if err := json.Unmarshal(b.artifacts["verdict/a@1"], &v); err != nil {
		t.Fatal(err)
	}
	change(&v)
	b.replace(t, 3, marshal(t, v))
}

// spoilAttempts lets all attempts have compressed another text, or if that is
// empty have made what cannot be decompressed, so that only restoring the file
// shows it.
func spoilAttempts(t *testing.T, b *books, text string) {
	t.Helper()
	inputs := b.receipts[3].Inputs
	v := verdict{Original: inputs[0]}
	for i, m := range b.file.methods {
		packed := []byte("not compressed")
		if text != "" {
			packed = pack(t, m, text)
		}
		b.replace(t, i, packed)
		out := b.receipts[i].Output
		inputs[i+1] = out
		v.Alternatives = append(v.Alternatives, alternative{
			Attempt: i + 1, Method: m, Ref: out.Ref, Digest: out.Digest, Size: int64(len(packed)), Restores: true,
		})
	}
	v.Winner, _ = smallest(v.Alternatives)
	b.replace(t, 3, marshal(t, v))
}

func TestTakeoversAreCountedByClaimAndFence(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	l, _, err := b.audit(t)
	if err != nil {
		t.Fatal(err)
	}
	orphan := func(verb, claim string, fence int64) api.Claim {
		return api.Claim{ID: claim, Fence: fence, Verb: api.Verb{ID: verb}}
	}
	taken := orphan("v1", "c0", b.receipts[0].Fence-1)
	submitted := orphan("v2", "c2", b.receipts[1].Fence)
	if n, err := l.takeovers([]api.Claim{taken, submitted}); err != nil || n != 1 {
		t.Errorf("takeovers = %d, %v, want 1", n, err)
	}
	if _, err := l.takeovers([]api.Claim{orphan("v1", "c0", b.receipts[0].Fence)}); err == nil {
		t.Error("a takeover under a fence that is not greater was accepted")
	}
}
