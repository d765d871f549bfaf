package claims_test

import (
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

func TestRestartKeepsLeasesAndRaisesFences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.verb(api.VerbSpec{})
	}
	c := w.claim("worker")
	w.reopen(10 * time.Second)
	if got := w.command("heartbeat", "worker", c.ID, c.Fence); got != "renewed" {
		t.Errorf("heartbeat after a restart: got %s, want renewed", got)
	}
	if next := w.claim("worker"); next.Fence <= c.Fence {
		t.Errorf("fence after a restart: got %d, want more than %d", next.Fence, c.Fence)
	}
	first := w.submit("worker", c, "x")
	w.reopen(0)
	again := w.submit("worker", c, "x")
	if again.ID != first.ID {
		t.Errorf("replay after a restart: got %s, want %s", again.ID, first.ID)
	}
	if second := w.submit("worker", w.claim("worker"), "y"); second.Sequence != 2 {
		t.Errorf("sequence after a restart: got %d, want 2", second.Sequence)
	}
}

func TestClockThatMovedWhileClosedProlongsNoLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		w.verb(api.VerbSpec{MaxAttempts: ptr(5)})
	}
	short := w.claims("worker", api.ClaimSpec{LeaseMs: ptr(int64(10_000))}).Claims[0]
	long := w.claims("worker", api.ClaimSpec{LeaseMs: ptr(int64(10_000))}).Claims[0]
	if _, err := w.as("worker").Heartbeat(w.ctx(), long.ID, api.HeartbeatSpec{Fence: long.Fence, LeaseMs: ptr(int64(40_000))}); err != nil {
		t.Fatal(err)
	}
	w.reopen(-24 * time.Hour)
	page, err := w.as("worker").Claims(w.ctx(), claims.Page{})
	if err != nil || len(page.Data) != 2 || page.Data[0].TTLMs != 10_000 || page.Data[1].TTLMs != 40_000 {
		t.Fatalf("leases after the clock was set back: got %+v, %v, want 10 s and 40 s", page.Data, err)
	}
	w.clock.Advance(10 * time.Second)
	w.await(short.Verb.ID, api.VerbReady)
	w.wantState(long.Verb.ID, api.VerbLeased)
	w.clock.Advance(30 * time.Second)
	w.await(long.Verb.ID, api.VerbReady)

	w.claims("worker", api.ClaimSpec{Max: ptr(2)})
	w.reopen(24 * time.Hour)
	w.await(short.Verb.ID, api.VerbReady)
	w.await(long.Verb.ID, api.VerbReady)
}

func TestExpiredLeasesAreTakenUpAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{})
	w.claim("dead")
	w.reopen(time.Hour)
	got := w.claim("worker")
	if got.Verb.ID != v.ID || got.Verb.AttemptCount != 1 {
		t.Errorf("got %+v, want %s after one attempt", got.Verb, v.ID)
	}
}

func TestManyExpiredLeasesAreSweptInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 600
	specs := make([]api.VerbSpec, n)
	for i := range specs {
		specs[i] = api.VerbSpec{Kind: "k", Artifact: "a", MaxAttempts: ptr(1)}
	}
	if _, err := w.as("p").CreateVerbs(w.ctx(), specs); err != nil {
		t.Fatal(err)
	}
	for got := 0; got < n; {
		got += len(w.claims("dead", api.ClaimSpec{Max: ptr(64)}).Claims)
	}
	w.clock.Advance(time.Minute)
	for w.number(`SELECT count(*) FROM claims_state WHERE state = 'failed'`) < n {
		w.clock.Advance(0) // an alarm that is due at once goes off at the clock's next step
	}
}

func TestRolledBackCommandsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{})
	c := w.claim("worker")
	// A submission that fails after it has written all but the end of its verb.
	w.exec(`CREATE TRIGGER no_end BEFORE UPDATE ON claims_state WHEN NEW.state = 'succeeded' BEGIN SELECT raise(ABORT, 'no'); END`)
	if _, err := w.as("worker").Submit(w.ctx(), c.ID, api.SubmitSpec{Fence: c.Fence, Output: text("x")}, ""); err == nil {
		t.Fatal("submit: got no error")
	}
	w.exec(`DROP TRIGGER no_end`)
	w.wantState(v.ID, api.VerbLeased)
	if n := w.number(`SELECT count(*) FROM claims_noun`); n != 0 {
		t.Errorf("nouns: got %d, want 0", n)
	}
	if got := w.submit("worker", c, "x"); got.Sequence != 1 || got.Output.Ref != "out/a@1" {
		t.Errorf("submission afterwards: got receipt %d for %s, want 1 for out/a@1", got.Sequence, got.Output.Ref)
	}
}

func TestRolledBackGrantLeavesTheVerbToBeFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{})
	w.exec(`CREATE TRIGGER no_lease BEFORE UPDATE ON claims_state BEGIN SELECT raise(ABORT, 'no'); END`)
	if _, err := w.as("worker").Claim(w.ctx(), api.ClaimSpec{}); err == nil {
		t.Fatal("claim: got no error")
	}
	w.exec(`DROP TRIGGER no_lease`)
	if got := w.claim("worker"); got.Verb.ID != v.ID {
		t.Errorf("got %s, want %s", got.Verb.ID, v.ID)
	}
}

func TestEndedVerbsAreSweptAndReceiptsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.VerbRetentionMs = 600_000 })
	w.noun("in", "x")
	g := w.group(api.VerbSpec{Inputs: keys("in")}, 2)
	consumer := w.verb(api.VerbSpec{Kind: "c", Inputs: groupInput(g.Group, 1)})
	done := w.claims("worker", api.ClaimSpec{}).Claims[0]
	receipt := w.submit("worker", done, "made")
	released := w.claims("worker", api.ClaimSpec{}).Claims[0]
	w.release(released)
	w.fail("worker", w.claims("worker", api.ClaimSpec{}).Claims[0], true, 0)
	cancelled := w.verb(api.VerbSpec{Kind: "x"})
	w.cancel(cancelled.ID)

	w.clock.Advance(599 * time.Second)
	for _, id := range []string{done.Verb.ID, g.Verbs[1].ID, cancelled.ID} {
		if _, err := w.as("x").Verb(w.ctx(), id); err != nil {
			t.Errorf("verb %s before its time: %v", id, err)
		}
	}
	w.clock.Advance(2 * time.Second)
	for w.number(`SELECT count(*) FROM claims_verb`) > 1 {
		w.clock.Advance(100 * time.Millisecond)
	}
	for _, id := range []string{done.Verb.ID, g.Verbs[1].ID, cancelled.ID} {
		_, err := w.as("x").Verb(w.ctx(), id)
		wantCode(t, err, api.NotFound)
	}
	for _, table := range []string{"claims_state", "claims_verb", "claims_input"} {
		if n := w.number(`SELECT count(*) FROM ` + table); n != 1 {
			t.Errorf("rows of %s: got %d, want 1", table, n)
		}
	}
	if n := w.number(`SELECT count(*) FROM claims_over`); n != 0 {
		t.Errorf("rows of claims_over: got %d, want 0", n)
	}
	if again := w.submit("worker", done, "made"); again.ID != receipt.ID {
		t.Errorf("replay after the sweep: got %s, want %s", again.ID, receipt.ID)
	}
	if got := w.command("fail", "worker", released.ID, released.Fence); got != "not_found" {
		t.Errorf("fail after the sweep: got %s, want not_found", got)
	}
	if _, err := w.as("x").Receipt(w.ctx(), receipt.ID); err != nil {
		t.Errorf("receipt after the sweep: %v", err)
	}
	c := w.claims("worker", api.ClaimSpec{Kinds: []string{"c"}}).Claims[0]
	if c.Verb.ID != consumer.ID || len(c.Inputs) != 1 || *c.Inputs[0].Body != "made" {
		t.Errorf("consumer after the sweep: got %+v", c)
	}
	if next := w.verb(api.VerbSpec{Kind: "y"}); next.ID <= cancelled.ID {
		t.Errorf("id after the sweep: got %s, want one after %s", next.ID, cancelled.ID)
	}
}

func TestRetentionSweepsALongBacklogInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 700
	specs := make([]api.VerbSpec, n)
	for i := range specs {
		specs[i] = api.VerbSpec{Kind: "k", Artifact: "a"}
	}
	batch, err := w.as("p").CreateVerbs(w.ctx(), specs)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range batch.Verbs {
		w.cancel(e.Verb.ID)
	}
	w.settings.VerbRetentionMs = 1000
	w.reopen(time.Hour)
	for w.number(`SELECT count(*) FROM claims_verb`) > 0 {
		w.clock.Advance(0)
	}
}
