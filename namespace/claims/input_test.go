package claims_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

func TestVerbWaitsForItsInputsAndKeepsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.noun("there", "1")
	v := w.verb(api.VerbSpec{Inputs: keys("there", "later", "there@2", "later")})
	want := []api.WaitingInput{{Key: "later"}, {Key: "there@2"}, {Key: "later"}}
	if v.State != api.VerbBlocked || v.WaitingFor.Reason != "inputs" {
		t.Fatalf("got %s, want blocked for inputs", v.State)
	}
	if diff := cmp.Diff(v.WaitingFor.Inputs, want); diff != "" {
		t.Errorf("waiting for (-got +want):\n%s", diff)
	}
	w.noun("later", "1")
	w.wantState(v.ID, api.VerbBlocked)
	w.noun("later", "2")
	w.noun("there", "2")
	got := w.wantState(v.ID, api.VerbReady)
	fixed := []api.VerbInput{
		{Key: "there", Ref: "there@1"}, {Key: "later", Ref: "later@1"}, {Key: "there@2", Ref: "there@2"}, {Key: "later", Ref: "later@1"},
	}
	if diff := cmp.Diff(got.Inputs, fixed); diff != "" {
		t.Errorf("inputs (-got +want):\n%s", diff)
	}
}

func TestSubmissionUnblocksDependantsInItsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{Artifact: "middle"})
	dependant := w.verb(api.VerbSpec{Artifact: "end", Inputs: keys("middle")})
	later := w.verb(api.VerbSpec{Inputs: keys("middle"), NotBefore: ptr(w.clock.Now().Add(time.Hour))})
	c := w.claim("worker")
	got, err := w.as("worker").Submit(w.ctx(), c.ID, api.SubmitSpec{Fence: c.Fence, Output: text("m"), ClaimNext: &api.ClaimSpec{}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Next.Claims) != 1 || got.Next.Claims[0].Verb.ID != dependant.ID || *got.Next.Claims[0].Inputs[0].Body != "m" {
		t.Errorf("next claim: got %+v, want %s with its input", got.Next, dependant.ID)
	}
	if v := w.wantState(later.ID, api.VerbBlocked); v.WaitingFor.Reason != "time" {
		t.Errorf("with a time besides: got %+v, want waiting for time", v.WaitingFor)
	}
}

func TestBlockedVerbSaysWhatBecameOfItsMaker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	maker := w.verb(api.VerbSpec{Artifact: "middle"})
	v := w.verb(api.VerbSpec{Artifact: "end", Inputs: keys("middle")})
	problem := func() string { return w.wantState(v.ID, api.VerbBlocked).WaitingFor.Inputs[0].Problem }
	if got := problem(); got != "" {
		t.Errorf("while it can be made: got %q", got)
	}
	w.fail("worker", w.claim("worker"), true, 0)
	if got, want := problem(), maker.ID+" failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	second := w.verb(api.VerbSpec{Artifact: "middle"})
	if got := problem(); got != "" {
		t.Errorf("with another maker: got %q", got)
	}
	w.cancel(second.ID)
	if got, want := problem(), second.ID+" was cancelled"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := w.as("p").Requeue(w.ctx(), maker.ID); err != nil {
		t.Fatal(err)
	}
	w.submit("worker", w.claim("worker"), "m")
	w.wantState(v.ID, api.VerbReady)
}

func TestCancelledVerbWaitsForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{Inputs: keys("later")})
	w.cancel(v.ID)
	w.noun("later", "x")
	if got := w.wantState(v.ID, api.VerbCancelled); got.Inputs[0].Ref != "" {
		t.Errorf("input: got %+v, want it not fixed", got.Inputs[0])
	}
	if n := w.number(`SELECT count(*) FROM claims_input WHERE waiting = 1`); n != 0 {
		t.Errorf("waiting inputs: got %d, want 0", n)
	}
}

func TestGroupSolvesOneBriefSideBySide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.group(api.VerbSpec{Inputs: keys("in")}, 3)
	w.noun("in", "first")
	w.noun("in", "second")
	compare := w.verb(api.VerbSpec{Kind: "compare", Artifact: "best", Inputs: groupInput(g.Group, 2)})
	if compare.State != api.VerbBlocked || compare.WaitingFor.Inputs[0].Group != g.Group {
		t.Fatalf("got %s, waiting for %+v", compare.State, compare.WaitingFor)
	}
	got := w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}, Max: ptr(3)})
	for i, c := range got.Claims {
		if c.Verb.Artifact != numbered("out/a/%d", i+1) || c.Verb.Attempt != i+1 || c.Verb.Inputs[0].Ref != "in@1" {
			t.Errorf("attempt %d: got %+v", i+1, c.Verb)
		}
	}
	w.submit("worker", got.Claims[2], "third")
	w.fail("worker", got.Claims[1], true, 0)
	w.wantState(compare.ID, api.VerbBlocked)
	w.submit("worker", got.Claims[0], "first")
	// An attempt that is tried again does not touch who consumed the group before.
	if _, err := w.as("p").Requeue(w.ctx(), g.Verbs[1].ID); err != nil {
		t.Fatal(err)
	}
	again := w.verb(api.VerbSpec{Kind: "again", Artifact: "best", Inputs: groupInput(g.Group, 3)})
	w.wantState(again.ID, api.VerbBlocked)
	w.submit("worker", w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}}).Claims[0], "second")

	c := w.claims("worker", api.ClaimSpec{Kinds: []string{"compare"}}).Claims[0]
	want := []api.ClaimInput{alternative(g.Group, 1, "first"), alternative(g.Group, 3, "third")}
	if diff := cmp.Diff(c.Inputs, want); diff != "" {
		t.Errorf("alternatives (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(c.Verb.Inputs, []api.VerbInput{{Group: g.Group, Min: 2}}); diff != "" {
		t.Errorf("input of verb (-got +want):\n%s", diff)
	}
	receipt := w.submit("worker", c, "best")
	if diff := cmp.Diff(receipt.Inputs, []api.NounRef{
		{Ref: "out/a/1@1", Digest: digestOf("first")}, {Ref: "out/a/3@1", Digest: digestOf("third")},
	}); diff != "" {
		t.Errorf("inputs of receipt (-got +want):\n%s", diff)
	}
	c = w.claims("worker", api.ClaimSpec{Kinds: []string{"again"}}).Claims[0]
	want = []api.ClaimInput{alternative(g.Group, 1, "first"), alternative(g.Group, 2, "second"), alternative(g.Group, 3, "third")}
	if diff := cmp.Diff(c.Inputs, want); diff != "" {
		t.Errorf("alternatives after the requeue (-got +want):\n%s", diff)
	}
}

func alternative(group string, attempt int, body string) api.ClaimInput {
	return api.ClaimInput{
		Ref: numbered("out/a/%d@1", attempt), Digest: digestOf(body), MediaType: "text/plain; charset=utf-8",
		Size: int64(len(body)), Body: &body, Group: group, Attempt: attempt,
	}
}

func TestVerbFailsAsSoonAsAGroupFallsShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.group(api.VerbSpec{}, 3)
	needsTwo := w.verb(api.VerbSpec{Kind: "c", Inputs: append(groupInput(first.Group, 1), groupInput(first.Group, 2)...)})
	// A group of which every attempt needs the first, and a verb that needs one of
	// those: the failure goes all the way.
	second := w.group(api.VerbSpec{Inputs: groupInput(first.Group, 3)}, 2)
	last := w.verb(api.VerbSpec{Kind: "c", Inputs: append(keys("never"), groupInput(second.Group, 1)...)})

	w.cancel(first.Verbs[0].ID)
	for _, id := range []string{second.Verbs[0].ID, second.Verbs[1].ID, last.ID} {
		if v := w.wantState(id, api.VerbFailed); v.Error.Code != "too_few_outputs" || v.WaitingFor != nil {
			t.Errorf("verb %s: got %+v, want too_few_outputs", id, v.Error)
		}
	}
	w.wantState(needsTwo.ID, api.VerbBlocked)
	w.cancel(first.Verbs[1].ID)
	w.wantState(needsTwo.ID, api.VerbFailed)

	stillborn := w.verb(api.VerbSpec{Kind: "c", Inputs: append(keys("never"), groupInput(first.Group, 2)...)})
	if stillborn.State != api.VerbFailed || stillborn.Error.Code != "too_few_outputs" || stillborn.EndedAt == nil {
		t.Errorf("verb of a group that has fallen short: got %s, %+v", stillborn.State, stillborn.Error)
	}
	again, err := w.as("p").Requeue(w.ctx(), stillborn.ID)
	if err != nil || again.State != api.VerbFailed {
		t.Errorf("requeued while it is impossible: got %s, %v, want failed", again.State, err)
	}
	if n := w.number(`SELECT count(*) FROM claims_input WHERE waiting = 1`); n != 0 {
		t.Errorf("waiting inputs of ended verbs: got %d, want 0", n)
	}
}

func TestVerbThatTakesAGroupTwiceFailsByEither(t *testing.T) {
	t.Parallel()
	for _, inputs := range []func(group string) []api.Input{
		func(g string) []api.Input { return append(groupInput(g, 2), groupInput(g, 1)...) },
		func(g string) []api.Input { return append(groupInput(g, 1), groupInput(g, 2)...) },
	} {
		w := newWorld(t)
		g := w.group(api.VerbSpec{}, 2)
		v := w.verb(api.VerbSpec{Kind: "c", Inputs: inputs(g.Group)})
		w.submit("worker", w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}}).Claims[0], "x")
		w.wantState(v.ID, api.VerbBlocked)
		w.cancel(g.Verbs[1].ID)
		w.wantState(v.ID, api.VerbFailed)
	}
}

func TestClaimDeliversSmallInputsInlineAndLinksLargeOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.noun("small", strings.Repeat("s", 64<<10))
	w.noun("dir x/large#"[:11], strings.Repeat("l", 64<<10+1))
	if _, err := w.as("p").CreateNoun(w.ctx(), api.NounSpec{Key: "bytes", Content: bytes64("\xff\xfe")}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as("p").CreateNoun(w.ctx(), api.NounSpec{Key: "far", Content: api.Content{URI: "s3://b/k", Digest: digestOf("f")}}); err != nil {
		t.Fatal(err)
	}
	inputs := keys("bytes", "dir x/large", "far")
	for range 20 {
		inputs = append(inputs, keys("small")...)
	}
	w.verb(api.VerbSpec{Inputs: inputs})
	check := func(c api.Claim) {
		t.Helper()
		if in := c.Inputs[0]; in.BodyBase64 == nil || *in.BodyBase64 != "//4=" || in.Body != nil {
			t.Errorf("bytes: got %+v", in)
		}
		if in := c.Inputs[1]; in.Href != "/ns/test/api/v2/nouns/dir%20x/large@1?body=1" || in.Body != nil {
			t.Errorf("large: got href %q", in.Href)
		}
		if in := c.Inputs[2]; in.URI != "s3://b/k" || in.Href != "" || in.Digest != digestOf("f") {
			t.Errorf("far: got %+v", in)
		}
		inline := 0
		for _, in := range c.Inputs[3:] {
			if in.Body != nil {
				inline++
			} else if in.Href != "/ns/test/api/v2/nouns/small@1?body=1" {
				t.Errorf("beyond the room: got href %q", in.Href)
			}
		}
		if inline != 15 { // the two bytes leave room for one less than sixteen
			t.Errorf("inline: got %d, want 15", inline)
		}
	}
	check(w.claim("worker"))
	page, err := w.as("worker").Claims(w.ctx(), claims.Page{})
	if err != nil || len(page.Data) != 1 {
		t.Fatalf("live claims: got %d, %v", len(page.Data), err)
	}
	check(page.Data[0])
}

func TestEmptyBodyIsInlineLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.noun("empty", "")
	w.verb(api.VerbSpec{Inputs: keys("empty")})
	granted := w.claims("worker", api.ClaimSpec{})
	read, err := w.as("worker").Noun(w.ctx(), n.Ref)
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]any{"claim": granted, "noun": read} {
		if got, err := namespace.Encode(document); err != nil || !strings.Contains(string(got), `"body":""`) {
			t.Errorf("%s: got %s, %v, want an empty body", name, got, err)
		}
	}
}

func TestWorkerFindsItsLiveClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 6 {
		w.verb(api.VerbSpec{})
	}
	var mine []api.Claim
	for i := range 3 {
		mine = append(mine, w.claim("worker"))
		w.claims("other", api.ClaimSpec{LeaseMs: ptr(int64(1000 * (i + 1)))})
	}
	w.clock.Advance(10 * time.Second)
	if _, err := w.as("worker").Heartbeat(w.ctx(), mine[1].ID, api.HeartbeatSpec{Fence: mine[1].Fence}); err != nil {
		t.Fatal(err)
	}
	w.submit("worker", mine[0], "x")
	mine[1].ExpiresAt, mine[1].TTLMs = mine[1].ExpiresAt.Add(10*time.Second), 60_000
	mine[2].TTLMs = 50_000
	for _, desc := range []bool{false, true} {
		want := []api.Claim{mine[1], mine[2]}
		if desc {
			want[0], want[1] = want[1], want[0]
		}
		got := collect(t, func(c api.Claim) api.Claim { return c }, claims.Page{Limit: 1, Desc: desc}, func(p claims.Page) (api.Page[api.Claim], error) {
			return w.as("worker").Claims(w.ctx(), p)
		})
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("desc %v (-got +want):\n%s", desc, diff)
		}
	}
	if got, err := w.as("other").Claims(w.ctx(), claims.Page{}); err != nil || len(got.Data) != 0 {
		t.Errorf("expired claims: got %v, %v, want none", got.Data, err)
	}
}
