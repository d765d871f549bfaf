package claims_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestClaimGrantsTheOldestReadyVerb(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.verb(api.VerbSpec{Kind: "a"})
	second := w.verb(api.VerbSpec{Kind: "b"})
	third := w.verb(api.VerbSpec{Kind: "a"})

	got := w.claims("worker", api.ClaimSpec{Kinds: []string{"a"}, Max: ptr(5)})
	if want := []string{first.ID, third.ID}; !slices.Equal(verbsOf(got), want) {
		t.Errorf("claim of kind a: got %v, want %v", verbsOf(got), want)
	}
	if got := w.claim("worker"); got.Verb.ID != second.ID {
		t.Errorf("claim of any kind: got %s, want %s", got.Verb.ID, second.ID)
	}
}

func TestClaimOfAnyKindMergesKindsByAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 30 {
		want = append(want, w.verb(api.VerbSpec{Kind: numbered("kind%d", i*7%5)}).ID)
	}
	var got []string
	for _, max := range []int{1, 4, 64} {
		got = append(got, verbsOf(w.claims("worker", api.ClaimSpec{Max: &max}))...)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("order of grants (-got +want):\n%s", diff)
	}
}

func TestClaimShowsVerbLeaseAndFence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	brief := `{"b":"<a> & é","n":12345678901234567890123}`
	v := w.verb(api.VerbSpec{Brief: []byte(brief), BriefVersion: "v7", LeaseMs: ptr(int64(5000)), Metadata: map[string]string{"x": "y"}})
	c := w.claim("worker")
	now := w.clock.Now()
	want := v
	want.State, want.WaitingFor = api.VerbLeased, nil
	if diff := cmp.Diff(c.Verb, want); diff != "" {
		t.Errorf("verb of claim (-got +want):\n%s", diff)
	}
	if string(c.Verb.Brief) != brief {
		t.Errorf("brief: got %s, want %s", c.Verb.Brief, brief)
	}
	if !c.GrantedAt.Equal(now) || !c.ExpiresAt.Equal(now.Add(5*time.Second)) || c.TTLMs != 5000 {
		t.Errorf("lease: got %v to %v (%d ms), want 5 s from %v", c.GrantedAt, c.ExpiresAt, c.TTLMs, now)
	}
	if c.Fence <= 0 || c.Fence >= 1<<53 {
		t.Errorf("fence: got %d, want one from 1 and below 2^53", c.Fence)
	}
}

func TestLeaseLengthIsTheClaimsThenTheVerbsThenTheSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.LeaseMs = 7000 })
	for _, tt := range []struct {
		verb, claim *int64
		want        int64
	}{
		{nil, nil, 7000},
		{ptr(int64(2000)), nil, 2000},
		{ptr(int64(2000)), ptr(int64(3000)), 3000},
		{nil, ptr(int64(100)), 100},
		{nil, ptr(int64(3_600_000)), 3_600_000},
	} {
		w.verb(api.VerbSpec{LeaseMs: tt.verb})
		got := w.claims("worker", api.ClaimSpec{LeaseMs: tt.claim})
		if got.Claims[0].TTLMs != tt.want {
			t.Errorf("lease for verb %v, claim %v: got %d ms, want %d", tt.verb, tt.claim, got.Claims[0].TTLMs, tt.want)
		}
	}
}

func TestConcurrentClaimsGetDistinctVerbs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const verbs, claimants = 100, 200
	specs := make([]api.VerbSpec, verbs)
	for i := range specs {
		specs[i] = api.VerbSpec{Kind: "k", Artifact: numbered("out/%d", i)}
	}
	if _, err := w.as("producer").CreateVerbs(w.ctx(), specs); err != nil {
		t.Fatal(err)
	}
	before := w.commits()
	var mu sync.Mutex
	var wg sync.WaitGroup
	holders, fences := map[string]string{}, map[int64]bool{}
	for i := range claimants {
		wg.Go(func() {
			who := numbered("worker%d", i)
			got, err := w.as(who).Claim(w.ctx(), api.ClaimSpec{})
			if err != nil {
				t.Errorf("claim: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, c := range got.Claims {
				if other, twice := holders[c.Verb.ID]; twice {
					t.Errorf("verb %s granted to %s and %s", c.Verb.ID, other, who)
				}
				holders[c.Verb.ID], fences[c.Fence] = who, true
			}
		})
	}
	wg.Wait()
	if len(holders) != verbs || len(fences) != verbs {
		t.Errorf("got %d verbs under %d fences, want %d", len(holders), len(fences), verbs)
	}
	if n := w.commits() - before; n >= claimants/2 {
		t.Errorf("%d claims took %d commits: they do not share them", claimants, n)
	}
	if n := w.number(`SELECT count(DISTINCT fence) FROM claims_state WHERE state = 'leased'`); n != verbs {
		t.Errorf("fences in the file: got %d, want %d", n, verbs)
	}
}

func TestClaimOfManyFillsUpToMax(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 6, 7, 8, 9, 17, 33, 63, 64} {
		w := newWorld(t)
		for i := range n + 1 {
			w.verb(api.VerbSpec{Artifact: numbered("out/%d", i)})
		}
		got := w.claims("worker", api.ClaimSpec{Max: &n})
		if len(got.Claims) != n {
			t.Errorf("claim of %d: got %d", n, len(got.Claims))
		}
		if leased := w.number(`SELECT count(*) FROM claims_state WHERE state = 'leased' AND lease_until = check_at AND fence > 0`); leased != int64(n) {
			t.Errorf("claim of %d: %d leases in the file", n, leased)
		}
		if last := w.claim("worker"); last.Fence <= got.Claims[n-1].Fence {
			t.Errorf("fence after %d: got %d, want more", got.Claims[n-1].Fence, last.Fence)
		}
	}
}

func TestClaimChecksItsFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for field, spec := range map[string]api.ClaimSpec{
		"max":      {Max: ptr(0)},
		"lease_ms": {LeaseMs: ptr(int64(99))},
		"wait_ms":  {WaitMs: ptr(int64(30_001))},
		"kinds":    {Kinds: slices.Repeat([]string{"k"}, 65)},
		"kinds[1]": {Kinds: []string{"ok", "-no"}},
	} {
		_, err := w.as("worker").Claim(w.ctx(), spec)
		if e := wantCode(t, err, api.InvalidField); e.Field != field {
			t.Errorf("field: got %q, want %q", e.Field, field)
		}
	}
}

func TestParkedClaimIsWokenByAVerbOfItsKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type result struct {
		got api.Claims
		err error
	}
	wait := api.ClaimSpec{Kinds: []string{"wanted"}, WaitMs: ptr(int64(30_000))}
	parked := make(chan result, 1)
	go func() {
		got, err := w.as("worker").Claim(w.ctx(), wait)
		parked <- result{got, err}
	}()
	w.awaitParked(1)
	w.verb(api.VerbSpec{Kind: "other"})
	w.awaitParked(1)
	v := w.verb(api.VerbSpec{Kind: "wanted"})
	r := <-parked
	if r.err != nil || len(r.got.Claims) != 1 || r.got.Claims[0].Verb.ID != v.ID {
		t.Fatalf("parked claim: got %v, %v, want %s", r.got, r.err, v.ID)
	}
}

func TestParkedClaimIsWokenByAnExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{LeaseMs: ptr(int64(1000))})
	w.claim("dead")
	parked := make(chan api.Claims, 1)
	go func() { parked <- w.claims("worker", api.ClaimSpec{WaitMs: ptr(int64(30_000))}) }()
	w.awaitParked(1)
	w.clock.Advance(time.Second)
	got := <-parked
	if len(got.Claims) != 1 || got.Claims[0].Verb.ID != v.ID || got.Claims[0].Verb.AttemptCount != 1 {
		t.Fatalf("parked claim: got %+v, want %s with one attempt", got, v.ID)
	}
}

func TestWaitThatEndsIsOneEmptyClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parked := make(chan api.Claims, 1)
	go func() { parked <- w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}, WaitMs: ptr(int64(5000))}) }()
	w.awaitParked(1)
	w.wake("ready/k") // for a verb that somebody else gets
	w.awaitParked(1)
	w.clock.Advance(5 * time.Second)
	got := <-parked
	if len(got.Claims) != 0 || got.Idle == nil || got.Idle.PollAfterMs != 255 {
		t.Fatalf("claim without work: got %+v, want idle for 255 ms", got)
	}
	if got := w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}}); got.Idle.PollAfterMs != 505 {
		t.Errorf("second empty claim: got %d ms, want 505", got.Idle.PollAfterMs)
	}
	w.verb(api.VerbSpec{})
	w.claim("other")
	if got := w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}}); got.Idle.PollAfterMs != 255 {
		t.Errorf("empty claim after a verb became ready: got %d ms, want 255", got.Idle.PollAfterMs)
	}
}

func TestAnonymousCallersHoldNoMoreLeasesThanSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.Anonymous = &api.AnonymousQuota{ClaimsPerHour: 1000, Leases: 3} })
	for range 6 {
		w.verb(api.VerbSpec{LeaseMs: ptr(int64(10_000))})
	}
	got := w.claims(namespace.Anonymous, api.ClaimSpec{Max: ptr(2)})
	if len(got.Claims) != 2 {
		t.Fatalf("first claim: got %d, want 2", len(got.Claims))
	}
	if got := w.claims(namespace.Anonymous, api.ClaimSpec{Max: ptr(5)}); len(got.Claims) != 1 {
		t.Fatalf("second claim: got %d, want the 1 that is left", len(got.Claims))
	}
	w.clock.Advance(4 * time.Second)
	_, err := w.as(namespace.Anonymous).Claim(w.ctx(), api.ClaimSpec{})
	if e := wantCode(t, err, api.RateLimited); e.Reason != "anonymous quota" || e.RetryAfter != 6*time.Second {
		t.Errorf("over the quota: got %q after %v, want anonymous quota after 6s", e.Reason, e.RetryAfter)
	}
	if got := w.claims("keyed", api.ClaimSpec{}); len(got.Claims) != 1 {
		t.Errorf("a caller with a key: got %d, want 1", len(got.Claims))
	}
	w.submit(namespace.Anonymous, got.Claims[0], "done")
	w.claim(namespace.Anonymous)
	w.clock.Advance(6 * time.Second) // the first three have expired
	if got := w.claims(namespace.Anonymous, api.ClaimSpec{Max: ptr(5)}); len(got.Claims) != 2 {
		t.Errorf("after expiry: got %d, want 2", len(got.Claims))
	}
}

// wake is a command that signals a topic for one claim.
type wake string

func (s wake) Apply(t *namespace.Turn) (namespace.Answer, error) {
	t.Signal(string(s), 1)
	return namespace.Answer{}, nil
}

func (w *world) wake(topic string) {
	w.t.Helper()
	call := namespace.Call{Class: "claims", Caller: namespace.Caller{Principal: "test"}, Command: wake(topic)}
	if _, err := w.ns.Do(w.ctx(), call); err != nil {
		w.t.Fatalf("wake: %v", err)
	}
}

func verbsOf(c api.Claims) []string {
	ids := make([]string, len(c.Claims))
	for i := range c.Claims {
		ids[i] = c.Claims[i].Verb.ID
	}
	return ids
}

// commits counts the commits of the namespace's file.
func (w *world) commits() uint64 {
	for s := range w.rt.Stats() {
		if s.Namespace == "test" {
			return uint64(s.Storage.Commits)
		}
	}
	w.t.Fatal("the namespace has no figures")
	return 0
}

// awaitParked waits until n claims wait for work.
func (w *world) awaitParked(n int) {
	w.t.Helper()
	for {
		s, err := w.ns.Admission(w.ctx(), namespace.Caller{Principal: "test", Roles: []api.Role{api.RoleAdmin}})
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Parked == n && s.InFlight == 0 {
			return
		}
	}
}
