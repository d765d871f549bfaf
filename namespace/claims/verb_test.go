package claims_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace/claims"
)

func TestVerbSpecIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.group(api.VerbSpec{}, 3)
	for name, tt := range map[string]struct {
		change func(*api.VerbSpec)
		field  string
		code   api.Code
	}{
		"kind":                {func(s *api.VerbSpec) { s.Kind = "a b" }, "kind", ""},
		"long kind":           {func(s *api.VerbSpec) { s.Kind = strings.Repeat("k", 65) }, "kind", ""},
		"artifact":            {func(s *api.VerbSpec) { s.Artifact = "a//b" }, "artifact", ""},
		"artifact of attempt": {func(s *api.VerbSpec) { s.Artifact, s.Attempts = strings.Repeat("a", 510), ptr(10) }, "artifact", ""},
		"brief":               {func(s *api.VerbSpec) { s.Brief = []byte(`[]`) }, "brief", api.BadRequest},
		"doubled brief":       {func(s *api.VerbSpec) { s.Brief = []byte(`{"a":1,"a":2}`) }, "brief", api.BadRequest},
		"large brief":         {func(s *api.VerbSpec) { s.Brief = []byte(`{"a":"` + strings.Repeat("x", 256<<10) + `"}`) }, "brief", ""},
		"brief version":       {func(s *api.VerbSpec) { s.BriefVersion = strings.Repeat("é", 65) }, "brief_version", ""},
		"inputs":              {func(s *api.VerbSpec) { s.Inputs = slices.Repeat(keys("a"), 65) }, "inputs", ""},
		"input":               {func(s *api.VerbSpec) { s.Inputs = keys("a", "a@0") }, "inputs[1]", ""},
		"group":               {func(s *api.VerbSpec) { s.Inputs = groupInput("vg_00000000099", 1) }, "inputs[0].group", ""},
		"no group":            {func(s *api.VerbSpec) { s.Inputs = groupInput("x", 1) }, "inputs[0].group", ""},
		"min":                 {func(s *api.VerbSpec) { s.Inputs = groupInput(g.Group, 4) }, "inputs[0].min", ""},
		"no min":              {func(s *api.VerbSpec) { s.Inputs = groupInput(g.Group, 0) }, "inputs[0].min", ""},
		"negative min":        {func(s *api.VerbSpec) { s.Inputs = groupInput(g.Group, -1) }, "inputs[0].min", ""},
		"attempts":            {func(s *api.VerbSpec) { s.Attempts = ptr(65) }, "attempts", ""},
		"no attempts":         {func(s *api.VerbSpec) { s.Attempts = ptr(0) }, "attempts", ""},
		"lease":               {func(s *api.VerbSpec) { s.LeaseMs = ptr(int64(3_600_001)) }, "lease_ms", ""},
		"max attempts":        {func(s *api.VerbSpec) { s.MaxAttempts = ptr(10_001) }, "max_attempts", ""},
		"metadata":            {func(s *api.VerbSpec) { s.Metadata = map[string]string{"a": strings.Repeat("x", 16<<10)} }, "metadata", ""},
		"not before":          {func(s *api.VerbSpec) { s.NotBefore = ptr(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) }, "not_before", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := api.VerbSpec{Kind: "k", Artifact: "a"}
			tt.change(&spec)
			code := tt.code
			if code == "" {
				code = api.InvalidField
			}
			_, err := w.as("p").CreateVerbs(w.ctx(), []api.VerbSpec{{Kind: "k", Artifact: "a"}, spec})
			e := wantCode(t, err, api.InvalidField)
			faults := e.Details["errors"].([]map[string]any)
			if len(faults) != 1 || faults[0]["index"] != 1 || faults[0]["field"] != tt.field || faults[0]["code"] != code {
				t.Errorf("faults: got %v, want %s of %s in entry 1", faults, code, tt.field)
			}
			if spec.Attempts == nil {
				_, err = w.as("p").CreateVerb(w.ctx(), spec)
			} else {
				_, err = w.as("p").CreateGroup(w.ctx(), spec)
			}
			if e := wantCode(t, err, code); e.Field != tt.field {
				t.Errorf("field: got %q, want %q", e.Field, tt.field)
			}
		})
	}
	if n := w.number(`SELECT count(*) FROM claims_verb`); n != 3 {
		t.Errorf("verbs after refused batches: got %d, want the 3 of the group", n)
	}
}

func TestRefusedBatchNamesEveryWrongEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.as("p").CreateVerbs(w.ctx(), []api.VerbSpec{
		{Kind: "k", Artifact: "a"},
		{Kind: "k", Artifact: "a", Inputs: groupInput("vg_00000000099", 1)},
		{Kind: "a b", Artifact: "a"},
		{Kind: "k", Artifact: "a", Inputs: groupInput("vg_00000000098", 1)},
	})
	e := wantCode(t, err, api.InvalidField)
	var got []any
	for _, fault := range e.Details["errors"].([]map[string]any) {
		got = append(got, fault["index"], fault["field"])
	}
	if diff := cmp.Diff(got, []any{1, "inputs[0].group", 2, "kind", 3, "inputs[0].group"}); diff != "" || e.Field != "verbs[1]" {
		t.Errorf("faults of %s (-got +want):\n%s", e.Field, diff)
	}
}

func TestBatchMakesAllEntriesInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, err := w.as("p").CreateVerbs(w.ctx(), []api.VerbSpec{
		{Kind: "k", Artifact: "a"}, {Kind: "k", Artifact: "b", Attempts: ptr(2)}, {Kind: "k", Artifact: "c"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Verbs) != 3 || got.Verbs[0].Verb == nil || got.Verbs[1].Group == nil || got.Verbs[2].Verb == nil {
		t.Fatalf("entries: got %+v", got.Verbs)
	}
	for i, v := range []api.Verb{*got.Verbs[0].Verb, got.Verbs[1].Group.Verbs[0], got.Verbs[1].Group.Verbs[1], *got.Verbs[2].Verb} {
		if v.WaitingFor == nil || v.WaitingFor.Position != i+1 {
			t.Errorf("verb %d: waiting for %+v, want turn %d", i, v.WaitingFor, i+1)
		}
		if want := []string{"a", "b/1", "b/2", "c"}[i]; v.Artifact != want {
			t.Errorf("artifact %d: got %s, want %s", i, v.Artifact, want)
		}
	}
	for _, desc := range []bool{false, true} {
		want := []int{1, 2, 3, 4}
		if desc {
			slices.Reverse(want)
		}
		places := collect(t, func(v api.Verb) int { return v.WaitingFor.Position }, claims.Page{Desc: desc}, func(p claims.Page) (api.Page[api.Verb], error) {
			return w.as("x").Verbs(w.ctx(), claims.VerbFilter{}, p)
		})
		if !slices.Equal(places, want) {
			t.Errorf("places, desc %v: got %v, want %v", desc, places, want)
		}
	}
	_, err = w.as("p").CreateVerbs(w.ctx(), nil)
	wantCode(t, err, api.InvalidField)
	big := make([]api.VerbSpec, 1000)
	for i := range big {
		big[i] = api.VerbSpec{Kind: "k", Artifact: "a"}
	}
	if _, err := w.as("p").CreateVerbs(w.ctx(), big); err != nil {
		t.Errorf("batch of 1,000: %v", err)
	}
	big[7].Attempts = ptr(2)
	_, err = w.as("p").CreateVerbs(w.ctx(), big)
	if e := wantCode(t, err, api.TooManyItems); e.Details["limit"] != 1000 || e.Details["actual"] != 1001 {
		t.Errorf("details: got %v", e.Details)
	}
	last, err := w.as("p").Verbs(w.ctx(), claims.VerbFilter{}, claims.Page{Desc: true, Limit: 1})
	if err != nil || last.Data[0].WaitingFor.Position != 1000 || !last.Data[0].WaitingFor.OrMore {
		t.Errorf("place of verb 1,004: got %+v, %v, want 1,000 or more", last.Data[0].WaitingFor, err)
	}
}

func TestVerbWaitsForItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.clock.Now().Add(90 * time.Second)
	v := w.verb(api.VerbSpec{NotBefore: &at})
	if v.State != api.VerbBlocked || v.WaitingFor.Reason != "time" || !v.WaitingFor.Until.Equal(at) {
		t.Fatalf("got %s, waiting for %+v, want blocked until %v", v.State, v.WaitingFor, at)
	}
	w.clock.Advance(90*time.Second - time.Millisecond)
	if got := w.claims("worker", api.ClaimSpec{}); len(got.Claims) != 0 {
		t.Fatal("granted before its time")
	}
	w.clock.Advance(time.Millisecond)
	w.claim("worker")
	past := w.clock.Now().Add(-time.Hour)
	if v := w.verb(api.VerbSpec{NotBefore: &past}); v.State != api.VerbReady {
		t.Errorf("with a time that has passed: got %s, want ready", v.State)
	}
}

func TestAlarmOpensGatesAndEndsLeasesUnasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gated := w.verb(api.VerbSpec{NotBefore: ptr(w.clock.Now().Add(time.Second))})
	leased := w.verb(api.VerbSpec{LeaseMs: ptr(int64(2000)), MaxAttempts: ptr(2)})
	w.claim("dead")
	w.clock.Advance(time.Second)
	w.await(gated.ID, api.VerbReady)
	w.clock.Advance(time.Second)
	if v := w.await(leased.ID, api.VerbReady); v.AttemptCount != 1 {
		t.Errorf("attempts: got %d, want 1", v.AttemptCount)
	}
	w.claims("dead", api.ClaimSpec{Max: ptr(2), LeaseMs: ptr(int64(1000))})
	w.clock.Advance(time.Second)
	if v := w.await(leased.ID, api.VerbFailed); v.Error.Code != "attempts_exhausted" || v.AttemptCount != 2 {
		t.Errorf("got %+v after %d attempts, want attempts_exhausted after 2", v.Error, v.AttemptCount)
	}
}

func TestFailRetriesOnASchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{MaxAttempts: ptr(12)})
	for i, want := range []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		c := w.claim("worker")
		got, err := w.as("worker").Fail(w.ctx(), c.ID, api.FailSpec{Fence: c.Fence, Error: api.Failure{Message: "no"}})
		if err != nil {
			t.Fatal(err)
		}
		until := w.clock.Now().Add(time.Duration(want) * time.Second)
		if got.Verb.State != api.VerbBlocked || !got.Verb.WaitingFor.Until.Equal(until) || got.Verb.AttemptCount != i+1 {
			t.Errorf("fail %d: got %s until %v, want blocked until %v", i+1, got.Verb.State, got.Verb.WaitingFor.Until, until)
		}
		w.clock.Advance(time.Duration(want) * time.Second)
	}
	got := w.fail("worker", w.claim("worker"), false, 0)
	if got.State != api.VerbFailed || got.Error.Code != "attempts_exhausted" || !strings.Contains(got.Error.Message, "it broke") {
		t.Errorf("last attempt: got %s, %+v, want attempts_exhausted with the last message", got.State, got.Error)
	}
	w.wantState(v.ID, api.VerbFailed)
}

func TestFailForGoodKeepsTheWorkersError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verb(api.VerbSpec{})
	got := w.fail("worker", w.claim("worker"), true, 0)
	if diff := cmp.Diff(got.Error, &api.Failure{Code: "broken", Message: "it broke"}); diff != "" || got.AttemptCount != 1 {
		t.Errorf("after %d attempts (-got +want):\n%s", got.AttemptCount, diff)
	}
}

func TestReleaseGivesTheAttemptAndThePlaceBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.verb(api.VerbSpec{MaxAttempts: ptr(1)})
	w.verb(api.VerbSpec{})
	for range 3 {
		c := w.claim("worker")
		if c.Verb.ID != first.ID {
			t.Fatalf("got %s, want %s in its old place", c.Verb.ID, first.ID)
		}
		if v := w.release(c); v.State != api.VerbReady || v.AttemptCount != 0 {
			t.Errorf("released: got %s after %d attempts, want ready after 0", v.State, v.AttemptCount)
		}
	}
	c := w.claim("worker")
	got, err := w.as("worker").Release(w.ctx(), c.ID, api.ReleaseSpec{Fence: c.Fence, RetryAfterMs: ptr(int64(3000))})
	if err != nil || got.Verb.State != api.VerbBlocked {
		t.Fatalf("release for later: got %s, %v", got.Verb.State, err)
	}
	if next := w.claim("worker"); next.Verb.ID == first.ID {
		t.Error("granted before it may be")
	}
}

func TestCancelEndsAVerbOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, state := range []api.VerbState{api.VerbReady, api.VerbBlocked, api.VerbLeased} {
		spec := api.VerbSpec{Kind: string(state)}
		if state == api.VerbBlocked {
			spec.Inputs = keys("nothing")
		}
		v := w.verb(spec)
		if state == api.VerbLeased {
			w.claims("worker", api.ClaimSpec{Kinds: []string{spec.Kind}})
		}
		w.wantState(v.ID, state)
		got := w.cancel(v.ID)
		if got.State != api.VerbCancelled || got.EndedAt == nil {
			t.Errorf("cancel of %s: got %s", state, got.State)
		}
		w.clock.Advance(time.Second)
		if diff := cmp.Diff(w.cancel(v.ID), got); diff != "" {
			t.Errorf("cancelled again (-got +want):\n%s", diff)
		}
	}
	v := w.verb(api.VerbSpec{Kind: "x"})
	c := w.claims("worker", api.ClaimSpec{Kinds: []string{"x"}}).Claims[0]
	w.submit("worker", c, "x")
	_, err := w.as("p").Cancel(w.ctx(), v.ID)
	if e := wantCode(t, err, api.VerbTerminal); e.Details["state"] != "succeeded" {
		t.Errorf("details: got %v", e.Details)
	}
	for _, id := range []string{"", "vb_1", "vb_00000000099", "vg_00000000001"} {
		_, err := w.as("p").Cancel(w.ctx(), id)
		wantCode(t, err, api.NotFound)
	}
}

func TestRequeueStartsAnewAndMakesOldClaimsStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.noun("in/a", "old")
	v := w.verb(api.VerbSpec{MaxAttempts: ptr(1), Inputs: keys("in/a")})
	_, err := w.as("p").Requeue(w.ctx(), v.ID)
	if e := wantCode(t, err, api.VerbNotFailed); e.Details["state"] != "ready" {
		t.Errorf("details: got %v", e.Details)
	}
	old := w.claim("worker")
	w.clock.Advance(time.Minute)
	w.await(v.ID, api.VerbFailed)
	w.noun("in/a", "new")
	got, err := w.as("p").Requeue(w.ctx(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != api.VerbReady || got.AttemptCount != 0 || got.Error != nil || got.EndedAt != nil || got.Inputs[0].Ref != "in/a@2" {
		t.Errorf("requeued: got %+v, want ready, nothing counted, in/a@2", got)
	}
	if got := w.command("submit", "worker", old.ID, old.Fence); got != "stale_fence" {
		t.Errorf("late submission for other inputs: got %s, want stale_fence", got)
	}
	c := w.claim("worker")
	if c.Fence <= old.Fence || *c.Inputs[0].Body != "new" {
		t.Errorf("claim: got %+v, want the new input under a higher fence", c)
	}
}

func TestVerbsAreListedByFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.verb(api.VerbSpec{Kind: "a"})
	g := w.group(api.VerbSpec{}, 3)
	b := w.verb(api.VerbSpec{Kind: "a", Inputs: keys("nothing")})
	w.claims("worker", api.ClaimSpec{Kinds: []string{"k"}})
	gs := []string{g.Verbs[0].ID, g.Verbs[1].ID, g.Verbs[2].ID}
	for _, tt := range []struct {
		filter claims.VerbFilter
		want   []string
	}{
		{claims.VerbFilter{}, []string{a.ID, gs[0], gs[1], gs[2], b.ID}},
		{claims.VerbFilter{Kind: "a"}, []string{a.ID, b.ID}},
		{claims.VerbFilter{Kind: "a", State: api.VerbBlocked}, []string{b.ID}},
		{claims.VerbFilter{Group: g.Group}, gs},
		{claims.VerbFilter{Group: g.Group, State: api.VerbReady}, gs[1:]},
		{claims.VerbFilter{Group: "vg_00000000077"}, nil},
	} {
		for _, desc := range []bool{false, true} {
			want := slices.Clone(tt.want)
			if desc {
				slices.Reverse(want)
			}
			got := collect(t, func(v api.Verb) string { return v.ID }, claims.Page{Limit: 2, Desc: desc}, func(p claims.Page) (api.Page[api.Verb], error) {
				return w.as("x").Verbs(w.ctx(), tt.filter, p)
			})
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("%+v, desc %v (-got +want):\n%s", tt.filter, desc, diff)
			}
		}
	}
	_, err := w.as("x").Verbs(w.ctx(), claims.VerbFilter{State: "odd"}, claims.Page{})
	wantCode(t, err, api.InvalidField)
	_, err = w.as("x").Verbs(w.ctx(), claims.VerbFilter{Group: "odd"}, claims.Page{})
	wantCode(t, err, api.InvalidField)
}

func TestVerbCanBeWatchedUntilItChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.verb(api.VerbSpec{})
	watch := func() chan api.Verb {
		seen := make(chan api.Verb, 1)
		go func() {
			got, err := w.as("x").WaitVerb(w.ctx(), v.ID, 30*time.Second)
			if err != nil {
				t.Errorf("watch: %v", err)
			}
			seen <- got
		}()
		return seen
	}
	seen := watch()
	var c api.Claim
	// The watch may begin after the first change; then the next one ends it.
	for range 1000 {
		c = w.claim("worker")
		select {
		case got := <-seen:
			if got.State != api.VerbLeased && got.State != api.VerbReady {
				t.Errorf("watched: got %s", got.State)
			}
			w.submit("worker", c, "x")
			if got := <-watch(); got.State != api.VerbSucceeded {
				t.Errorf("watch of an ended verb: got %s", got.State)
			}
			return
		default:
		}
		w.release(c)
	}
	t.Fatal("the watch saw none of a thousand changes")
}

func groupInput(group string, least int) []api.Input {
	return []api.Input{{Group: &api.GroupInput{Group: group, Min: &least}}}
}
