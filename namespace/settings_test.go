package namespace_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestPatchReplacesWhatItNamesAndNullReturnsToTheNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(func(s *namespace.Settings) { s.LeaseMs = 7000 }))
	if got := w.describe(); string(got.Settings["lease_ms"]) != "7000" || got.Origins["lease_ms"] != "node" {
		t.Errorf("got %s from %s, want 7000 from node", got.Settings["lease_ms"], got.Origins["lease_ms"])
	}
	for _, tt := range []struct{ patch, want, origin string }{
		{`{"lease_ms": 5000}`, "5000", "namespace"},
		{`{"claim_target_ms": 100}`, "5000", "namespace"},
		{`{"lease_ms": null}`, "7000", "node"},
	} {
		got := w.patch(tt.patch)
		if string(got.Settings["lease_ms"]) != tt.want || got.Origins["lease_ms"] != tt.origin {
			t.Errorf("after %s: got %s from %s, want %s from %s", tt.patch, got.Settings["lease_ms"], got.Origins["lease_ms"], tt.want, tt.origin)
		}
	}
	w.restart(true)
	if got := w.describe(); string(got.Settings["claim_target_ms"]) != "100" || string(got.Settings["lease_ms"]) != "7000" {
		t.Errorf("after a restart: got target %s, lease %s; want 100, 7000", got.Settings["claim_target_ms"], got.Settings["lease_ms"])
	}
}

func TestBadPatchNamesTheSettingAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct{ patch, field string }{
		{`{"lease_ms": 5000, "no_such": 1}`, "no_such"},
		{`{"lease_ms": 5000, "mode": "off"}`, "mode"},
		{`{"lease_ms": "5s"}`, "lease_ms"},
		{`{"lease_ms": 5.5}`, "lease_ms"},
		{`{"lease_ms": 99}`, "lease_ms"},
		{`{"lease_ms": 5000, "claim_initial_concurrency": 0}`, "claim_initial_concurrency"},
		{`{"claim_initial_concurrency": 2000}`, "claim_initial_concurrency"},
		{`{"claim_max_concurrency": 0}`, "claim_max_concurrency"},
		{`{"claim_max_concurrency": -1}`, "claim_max_concurrency"},
		{`{"claim_max_concurrency": 10, "claim_initial_concurrency": 11}`, "claim_initial_concurrency"},
		{`{"claim_max_pending": -1}`, "claim_max_pending"},
		{`{"claim_target_ms": 0}`, "claim_target_ms"},
		{`{"claims_per_minute": -1}`, "claims_per_minute"},
		{`{"durability": "none"}`, "durability"},
		{`{"anonymous": {"claims_per_hour": 0, "leases": 1}}`, "anonymous"},
		{`{"anonymous": {"claims_per_hour": 1, "leases": 1, "more": 1}}`, "anonymous.more"},
		{`{"idle_timeout_ms": 0}`, "idle_timeout_ms"},
		{`{"retention_ms": 1}`, "retention_ms"},
		{`{"verb_retention_ms": -1}`, "verb_retention_ms"},
		{`{"max_lease_lifetime_ms": 99}`, "max_lease_lifetime_ms"},
	} {
		before := w.describe()
		var patch map[string]json.RawMessage
		if err := json.Unmarshal([]byte(tt.patch), &patch); err != nil {
			t.Fatal(err)
		}
		_, err := w.PatchSettings(t.Context(), patch)
		if e := wantCode(t, err, api.InvalidField); e.Field != tt.field {
			t.Errorf("%s: got field %q, want %q", tt.patch, e.Field, tt.field)
		}
		if diff := cmp.Diff(w.describe(), before); diff != "" {
			t.Errorf("%s changed something (-got +want):\n%s", tt.patch, diff)
		}
	}
}

// A pointer in the settings must not be shared between the node and a namespace.
func TestPatchOfOneNamespaceTouchesNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSettings(func(s *namespace.Settings) {
		s.Anonymous = &api.AnonymousQuota{ClaimsPerHour: 10, Leases: 20}
	}))
	w.create("b")
	w.patch(`{"anonymous": {"claims_per_hour": 1, "leases": 2}}`)
	b, err := w.runtime.Namespace("b").Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{
		"the other namespace": string(b.Settings["anonymous"]),
		"the node":            string(w.runtime.Defaults().JSON()["anonymous"]),
		"null":                string(w.patch(`{"anonymous": null}`).Settings["anonymous"]),
	} {
		if want := `{"claims_per_hour":10,"leases":20}`; got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	// What a patch leaves out of a document is not taken from the old one.
	_, err = w.PatchSettings(t.Context(), map[string]json.RawMessage{"anonymous": json.RawMessage(`{"leases": 3}`)})
	wantCode(t, err, api.InvalidField)
}

func TestLowerMaximumClampsTheLimitAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		if got := w.status(); got.Concurrency != 32 {
			t.Fatalf("got concurrency %d, want 32", got.Concurrency)
		}
		doc := w.patch(`{"claim_max_concurrency": 8}`)
		if got := w.status(); got.Concurrency != 8 || string(doc.Settings["claim_initial_concurrency"]) != "8" {
			t.Errorf("got concurrency %d, initial %s; want 8, 8", got.Concurrency, doc.Settings["claim_initial_concurrency"])
		}
		// The initial concurrency acts at the next activation.
		w.patch(`{"claim_max_concurrency": 100, "claim_initial_concurrency": 50}`)
		if got := w.status(); got.Concurrency != 8 {
			t.Errorf("got concurrency %d, want still 8", got.Concurrency)
		}
		w.restart(true)
		if got := w.status(); got.Concurrency != 50 {
			t.Errorf("got concurrency %d after a restart, want 50", got.Concurrency)
		}
		// A maximum below the stored initial still stands after a restart.
		w.patch(`{"claim_max_concurrency": 4}`)
		w.restart(false)
		if got := w.status(); got.Concurrency != 4 {
			t.Errorf("got concurrency %d after another restart, want 4", got.Concurrency)
		}
	})
}

// A value that only followed from another goes when that one does.
func TestInitialConcurrencyThatALowMaximumClampedReturnsWithTheMaximum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct{ patch, want string }{
		{`{"claim_max_concurrency": 8}`, "8"},
		{`{"claim_max_concurrency": 100}`, "32"},
		{`{"claim_max_concurrency": 4}`, "4"},
		{`{"lease_ms": 5000}`, "4"},
		{`{"claim_max_concurrency": null}`, "32"},
	} {
		if got := string(w.patch(tt.patch).Settings["claim_initial_concurrency"]); got != tt.want {
			t.Errorf("after %s: got initial concurrency %s, want %s", tt.patch, got, tt.want)
		}
	}
}

func TestStoredSettingThatThisBuildDoesNotKnowIsIgnoredAlone(t *testing.T) {
	t.Parallel()
	var logged lines
	w := newWorld(t, func(o *namespace.Options) { o.Logger = logged.logger() })
	w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
		_, err := t.Exec(`INSERT INTO ns_setting VALUES ('claim_initial_concurrency', '2000'), ('claim_max_concurrency', '3000'),
			('of_the_future', '1'), ('mode', '"sideways"')`)
		return namespace.Answer{}, err
	})))
	w.restart(true)
	got := w.describe()
	if string(got.Settings["claim_max_concurrency"]) != "3000" || string(got.Settings["mode"]) != `"enforce"` {
		t.Errorf("got maximum %s, mode %s; want 3000, enforce", got.Settings["claim_max_concurrency"], got.Settings["mode"])
	}
	for _, name := range []string{"of_the_future", "mode"} {
		if !logged.have("stored setting ignored", "setting="+name) {
			t.Errorf("the log does not name %s:\n%s", name, logged.String())
		}
	}
	// They do not keep others from being set.
	if got := w.patch(`{"lease_ms": 1234}`); string(got.Settings["lease_ms"]) != "1234" {
		t.Errorf("got lease_ms %s, want 1234", got.Settings["lease_ms"])
	}
}

func TestUnknownStoredSettingLeavesTheOthersTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
		_, err := t.Exec(`INSERT INTO ns_setting VALUES ('claim_initial_concurrency', '2000'), ('claim_max_concurrency', '3000'), ('of_the_future', '1')`)
		return namespace.Answer{}, err
	})))
	w.restart(true)
	if got := w.status(); got.Concurrency != 2000 {
		t.Errorf("got concurrency %d, want 2000", got.Concurrency)
	}
}

func TestLegacyQuotaCountsAPrincipalsCommands(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for range 61 { // no quota by default
			w.must(call(take("k", 0)))
		}
		w.patch(`{"claims_per_minute": 2}`)
		w.must(callAs("a", take("k", 0)))
		time.Sleep(20 * time.Second)
		w.must(callAs("a", take("k", 0)))
		e := w.fails(callAs("a", take("k", 0)), api.RateLimited)
		if e.Reason != "legacy quota" || e.RetryAfter != 40*time.Second {
			t.Errorf("got reason %q, retry after %v; want legacy quota, 40s", e.Reason, e.RetryAfter)
		}
		w.must(callAs("b", take("k", 0))) // another principal
		w.must(callAs("a", put("k", 1)))  // not a claim
		if s := w.status(); s.Refused["legacy quota"] != 1 || s.Admitted != 64 {
			t.Errorf("got refused %v, admitted %d; want one, and 64", s.Refused, s.Admitted)
		}
		time.Sleep(40 * time.Second)
		w.must(callAs("a", take("k", 0)))
	})
}

func TestQuotaSeesAParkedCommandOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.ClaimsPerMinute = 1 }))
		p := w.park("k", 10*time.Second, "a")[0]
		w.must(call(put("k", 1)))
		if got := p.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
	})
}

func TestAnonymousCallersShareOneQuota(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.Authenticate(t.Context(), ""); err == nil {
			t.Fatal("a namespace that is closed to them let an anonymous caller in")
		}
		w.patch(`{"anonymous": {"claims_per_hour": 1, "leases": 1}}`)
		caller, err := w.Authenticate(t.Context(), "")
		if err != nil || !caller.IsAnonymous() {
			t.Fatalf("got %v, %v; want the anonymous caller", caller, err)
		}
		c := namespace.Call{Class: "depot", Caller: caller, Command: take("k", 0)}
		w.must(c)
		time.Sleep(10 * time.Minute) // and the namespace is passivated meanwhile
		if _, active := w.active("a"); active {
			t.Fatal("the namespace is active after ten minutes without use")
		}
		e := w.fails(c, api.RateLimited)
		if e.Reason != "anonymous quota" || e.RetryAfter != 50*time.Minute {
			t.Errorf("got reason %q, retry after %v; want anonymous quota, 50m", e.Reason, e.RetryAfter)
		}
		w.must(call(take("k", 0))) // who has a key is not counted
		w.patch(`{"anonymous": null}`)
		_, err = w.Authenticate(t.Context(), "")
		wantCode(t, err, api.Unauthorized)
	})
}

func TestRelaxedNamespaceStillSyncsItsEpoch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.patch(`{"durability": "relaxed"}`)
	w.must(call(put("k", 1)))
	w.restart(false)
	if got := len(w.items()); got != 1 {
		t.Errorf("got %d items, want 1", got)
	}
	if got := w.describe().Epoch; got != 2 {
		t.Errorf("got epoch %d, want 2", got)
	}
}

func TestIdleTimeoutActsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.patch(`{"idle_timeout_ms": 200}`)
		synctest.Wait()
		time.Sleep(2 * time.Minute) // at the latest when the old timeout is looked at
		if _, active := w.active("a"); active {
			t.Error("the namespace is still active")
		}
	})
}

func TestSettingNamesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	names := strings.Join(namespace.SettingNames(), " ")
	for name := range namespace.DefaultSettings().JSON() {
		if !strings.Contains(names, name) {
			t.Errorf("%s is in the document and not among the names", name)
		}
	}
	if err := namespace.DefaultSettings().Validate(); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
	_, err := namespace.Open(context.Background(), t.TempDir(), namespace.Options{Defaults: &namespace.Settings{}})
	wantCode(t, err, api.InvalidField)
}

// A new namespace owes nothing for what an earlier one of its name has used up.
func TestDeletionForgetsWhatWasUsedOfAQuota(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.ClaimsPerMinute = 1 }))
		w.must(call(take("k", 0)))
		w.fails(call(take("k", 0)), api.RateLimited)
		if err := w.runtime.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		w.create("a")
		w.must(call(take("k", 0)))
	})
}
