package claims_test

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestSubmissionMakesArtifactAndReceipt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.noun("in/text", "hello")
	v := w.verb(api.VerbSpec{Artifact: "out/x", Inputs: keys("in/text"), BriefVersion: "b2"})
	c := w.claim("worker")
	got, err := w.as("worker").Submit(w.ctx(), c.ID, api.SubmitSpec{
		Fence: c.Fence, Output: text("result"), Metadata: map[string]string{"model": "<m>"},
	}, "key")
	if err != nil {
		t.Fatal(err)
	}
	want := api.Receipt{
		ID: got.ID, Sequence: 1, Verb: v.ID, Claim: c.ID, Principal: "worker", Fence: c.Fence, BriefVersion: "b2",
		Inputs: []api.NounRef{{Ref: "in/text@1", Digest: in.Digest}},
		Output: api.NounRef{Ref: "out/x@1", Digest: digestOf("result")}, Metadata: map[string]string{"model": "<m>"},
		SubmittedAt: w.clock.Now(), Digest: got.Digest,
	}
	if diff := cmp.Diff(got.Receipt, want); diff != "" {
		t.Errorf("receipt (-got +want):\n%s", diff)
	}
	unsigned := got.Receipt
	unsigned.Digest = ""
	doc, err := namespace.Encode(unsigned)
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = namespace.Canonical(doc); err != nil {
		t.Fatal(err)
	}
	if want := digestOf(string(doc)); got.Digest != want {
		t.Errorf("digest: got %s, want %s", got.Digest, want)
	}
	ended := w.wantState(v.ID, api.VerbSucceeded)
	if ended.Receipt != got.ID || ended.AttemptCount != 1 || ended.EndedAt == nil {
		t.Errorf("verb: got %+v, want ended with receipt %s", ended, got.ID)
	}
	body, err := w.as("x").NounBody(w.ctx(), "out/x")
	if err != nil || string(body.Bytes) != "result" || body.MediaType != "text/plain; charset=utf-8" || body.ETag != digestOf("result") {
		t.Errorf("artifact: got %+v, %v", body, err)
	}
}

func TestSubmissionIsReplayedUnderItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{})
	c := w.claim("worker")
	spec := api.SubmitSpec{Fence: c.Fence, Output: text("once"), ClaimNext: &api.ClaimSpec{}}
	first, err := w.as("worker").Submit(w.ctx(), c.ID, spec, "key")
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.as("worker").Submit(w.ctx(), c.ID, spec, "key")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again.Receipt, first.Receipt); diff != "" {
		t.Errorf("replayed receipt (-got +want):\n%s", diff)
	}
	if first.Next == nil || again.Next != nil {
		t.Errorf("next: got %v and %v, want it with the first answer only", first.Next, again.Next)
	}
	other := api.SubmitSpec{Fence: c.Fence, Output: text("twice")}
	_, err = w.as("worker").Submit(w.ctx(), c.ID, other, "key")
	wantCode(t, err, api.IdempotencyConflict)
	_, err = w.as("worker").Submit(w.ctx(), c.ID, spec, "other key")
	wantCode(t, err, api.VerbTerminal)
	_, err = w.as("stranger").Submit(w.ctx(), c.ID, spec, "key")
	wantCode(t, err, api.NotFound)
	if n := w.number(`SELECT count(*) FROM claims_receipt`); n != 1 {
		t.Errorf("receipts: got %d, want 1", n)
	}

	w.clock.Advance(time.Duration(w.settings.RetentionMs) * time.Millisecond)
	_, err = w.as("worker").Submit(w.ctx(), c.ID, spec, "key")
	wantCode(t, err, api.VerbTerminal) // the record's time is over; the receipt stays
}

func TestReplayIsTheStoredDocumentByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{})
	c := w.claim("worker")
	receipt := w.submit("worker", c, "<body>")
	doc, err := namespace.Encode(receipt)
	if err != nil {
		t.Fatal(err)
	}
	if n := w.number(`SELECT count(*) FROM claims_receipt WHERE doc = ?`, string(doc)); n != 1 {
		t.Errorf("the stored document is not the answer %s", doc)
	}
}

func TestLateSubmissionCountsItsAttemptOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{})
	c := w.claim("worker")
	w.clock.Advance(time.Minute)
	if got := w.submit("worker", c, "late"); !got.Late {
		t.Error("late: got false, want true")
	}
	if got := w.wantState(v.ID, api.VerbSucceeded); got.AttemptCount != 1 {
		t.Errorf("attempts: got %d, want 1", got.AttemptCount)
	}
}

func TestSubmissionCarriesTheNextClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{})
	second := w.verb(api.VerbSpec{})
	c := w.claim("worker")
	got, err := w.as("worker").Submit(w.ctx(), c.ID, api.SubmitSpec{
		Fence: c.Fence, Output: text("x"), ClaimNext: &api.ClaimSpec{},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Next == nil || len(got.Next.Claims) != 1 || got.Next.Claims[0].Verb.ID != second.ID {
		t.Fatalf("next: got %+v, want a claim of %s", got.Next, second.ID)
	}
	next := got.Next.Claims[0]
	failed, err := w.as("worker").Fail(w.ctx(), next.ID, api.FailSpec{
		Fence: next.Fence, Error: api.Failure{Message: "no"}, ClaimNext: &api.ClaimSpec{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed.Next == nil || failed.Next.Claims == nil || len(failed.Next.Claims) != 0 || failed.Next.Idle == nil {
		t.Errorf("next with nothing to do: got %+v, want no claims and idle", failed.Next)
	}
	_, err = w.as("worker").Fail(w.ctx(), next.ID, api.FailSpec{
		Fence: next.Fence, Error: api.Failure{Message: "no"}, ClaimNext: &api.ClaimSpec{Max: ptr(65)},
	})
	if e := wantCode(t, err, api.InvalidField); e.Field != "claim_next.max" {
		t.Errorf("field: got %s, want claim_next.max", e.Field)
	}
}

func TestRefusedNextClaimLeavesTheSubmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{})
	c := w.claim("worker")
	if _, err := w.ns.PatchSettings(w.ctx(), patch("mode", `"paused"`)); err != nil {
		t.Fatal(err)
	}
	got, err := w.as("worker").Submit(w.ctx(), c.ID, api.SubmitSpec{Fence: c.Fence, Output: text("x"), ClaimNext: &api.ClaimSpec{}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Next == nil || got.Next.Error == nil || got.Next.Error.Code != api.RateLimited || got.Next.Error.Reason != "paused" {
		t.Errorf("next: got %+v, want rate_limited, paused", got.Next)
	}
	w.wantState(v.ID, api.VerbSucceeded)
}

func TestReceiptsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 40
	for range n {
		w.verb(api.VerbSpec{})
	}
	var wg sync.WaitGroup
	for i := range n {
		who := numbered("worker%d", i)
		c := w.claim(who)
		wg.Go(func() {
			// A refused submission in the same commit must not burn a number.
			_, err := w.as(who).Submit(w.ctx(), c.ID, api.SubmitSpec{Fence: c.Fence + 1, Output: text("x")}, "wrong")
			if !api.IsCode(err, api.StaleFence) {
				t.Errorf("wrong fence: got %v", err)
			}
		})
		wg.Go(func() {
			if _, err := w.as(who).Submit(w.ctx(), c.ID, api.SubmitSpec{Fence: c.Fence, Output: text("x")}, ""); err != nil {
				t.Errorf("submit: %v", err)
			}
		})
	}
	wg.Wait()
	page, err := w.as("x").Receipts(w.ctx(), 0, 0, claims.Page{Limit: 1000})
	if err != nil || len(page.Data) != n {
		t.Fatalf("receipts: got %d, %v, want %d", len(page.Data), err, n)
	}
	for i, r := range page.Data {
		if r.Sequence != int64(i+1) {
			t.Errorf("receipt %d: got sequence %d", i+1, r.Sequence)
		}
	}
}

func TestReceiptsCanBeReadInPartsAndWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 6 {
		w.verb(api.VerbSpec{})
	}
	var all []api.Receipt
	for range 5 {
		all = append(all, w.submit("worker", w.claim("worker"), "x").Receipt)
	}
	s := w.as("x")
	for name, tt := range map[string]struct {
		after int64
		desc  bool
		want  []int64
	}{
		"all":         {0, false, []int64{1, 2, 3, 4, 5}},
		"after 3":     {3, false, []int64{4, 5}},
		"desc":        {0, true, []int64{5, 4, 3, 2, 1}},
		"desc behind": {2, true, []int64{5, 4, 3}},
		"end":         {5, false, nil},
	} {
		var got []int64
		for page := (claims.Page{Limit: 2, Desc: tt.desc}); ; {
			p, err := s.Receipts(w.ctx(), tt.after, 0, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Data {
				got = append(got, r.Sequence)
			}
			if p.NextCursor == nil {
				break
			}
			page.Cursor = *p.NextCursor
		}
		if diff := cmp.Diff(got, tt.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
	one, err := s.Receipt(w.ctx(), all[2].ID)
	if diff := cmp.Diff(one, all[2]); err != nil || diff != "" {
		t.Errorf("receipt: %v, (-got +want):\n%s", err, diff)
	}
	_, err = s.Receipt(w.ctx(), "rc_00000000009")
	wantCode(t, err, api.NotFound)

	waited := make(chan api.Page[api.Receipt], 1)
	go func() {
		p, err := s.Receipts(w.ctx(), 5, 30*time.Second, claims.Page{})
		if err != nil {
			t.Errorf("wait for receipt: %v", err)
		}
		waited <- p
	}()
	w.submit("worker", w.claim("worker"), "x")
	if p := <-waited; len(p.Data) != 1 || p.Data[0].Sequence != 6 {
		t.Errorf("waited for: got %+v, want receipt 6", p.Data)
	}
}

func TestDamagedReceiptIsNotGivenOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{})
	r := w.submit("worker", w.claim("worker"), "x")
	w.exec(`UPDATE claims_receipt SET doc = replace(doc, '"worker"', '"forger"')`)
	_, err := w.as("x").Receipt(w.ctx(), r.ID)
	wantCode(t, err, api.StorageUnavailable)
	_, err = w.as("x").Receipts(w.ctx(), 0, 0, claims.Page{})
	wantCode(t, err, api.StorageUnavailable)
}
