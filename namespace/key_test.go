package namespace_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestKeyNamesItsBearer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.CreateKey(t.Context(), api.KeySpec{
		Principal: "p", Tenant: "tenant", Roles: []api.Role{api.RoleWorker, api.RoleProducer, api.RoleWorker},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := namespace.Caller{Principal: "p", Tenant: "tenant", Roles: []api.Role{api.RoleProducer, api.RoleWorker}}
	for _, when := range []string{"at once", "after a restart", "after a kill"} {
		got, err := w.Authenticate(t.Context(), made.Secret)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if diff := cmp.Diff(got, want, cmpopts.IgnoreUnexported(namespace.Caller{})); diff != "" {
			t.Errorf("%s: caller (-got +want):\n%s", when, diff)
		}
		if !got.Has(api.RoleProducer) || got.Has(api.RoleAdmin) || got.IsAnonymous() {
			t.Errorf("%s: the roles are not those of the key", when)
		}
		w.restart(when == "at once")
	}
	for _, secret := range []string{"", "x", made.Secret + "x", made.Secret[:len(made.Secret)-1], strings.ToUpper(made.Secret)} {
		_, err := w.Authenticate(t.Context(), secret)
		wantCode(t, err, api.Unauthorized)
	}
}

func TestKeyIsWorthNothingInAnotherNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("b")
	key := w.key("p")
	_, err := w.runtime.Namespace("b").Authenticate(t.Context(), key.Secret)
	wantCode(t, err, api.Unauthorized)
	caller, err := w.Authenticate(t.Context(), key.Secret)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.runtime.Namespace("b").Do(t.Context(), namespace.Call{Class: "depot", Caller: caller, Command: put("k", 1)})
	wantCode(t, err, api.Unauthorized)
}

func TestRevokedKeyStopsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, rotated := w.key("p"), w.key("p")
	if err := w.RevokeKey(t.Context(), old.ID); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after a restart"} {
		_, err := w.Authenticate(t.Context(), old.Secret)
		wantCode(t, err, api.Unauthorized)
		if _, err := w.Authenticate(t.Context(), rotated.Secret); err != nil {
			t.Errorf("%s: the other key of the principal: %v", when, err)
		}
		w.restart(true)
	}
	for _, id := range []string{old.ID, "key_", "key_00000000099", "", "KEY_00000000001"} {
		wantCode(t, w.RevokeKey(t.Context(), id), api.NotFound)
	}
}

// under is a command of the depot by whom the key names.
func (w *world) under(key api.Key, c namespace.Command) namespace.Call {
	w.t.Helper()
	caller, err := w.Authenticate(w.t.Context(), key.Secret)
	if err != nil {
		w.t.Fatal(err)
	}
	return namespace.Call{Class: "depot", Caller: caller, Command: c}
}

// What waits under a revoked key is not granted to it later.
func TestRevocationEndsWhatIsParkedUnderTheKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		old, rotated := w.key("p"), w.key("p")
		late := []namespace.Call{w.under(old, take("k", 0)), w.under(old, put("k", 1))}
		parked, other := w.start(w.under(old, take("k", time.Minute))), w.start(w.under(rotated, take("k", time.Minute)))
		synctest.Wait()
		if err := w.RevokeKey(t.Context(), old.ID); err != nil {
			t.Fatal(err)
		}
		_, err := parked.outcome()
		wantCode(t, err, api.Unauthorized)
		// A request that was let in just before is too late as well.
		for _, c := range late {
			w.fails(c, api.Unauthorized)
		}
		w.must(call(put("k", 1)))
		if got := other.body(); got != 1 {
			t.Errorf("got item %d under the other key, want 1", got)
		}
	})
}

func TestRevocationEndsWhatWaitsInAdmissionUnderTheKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := oneSlot(t, func(*namespace.Settings) {})
		key := w.key("p")
		waits := w.under(key, take("k", 0))
		var queued *pending
		free := w.occupy(
			func() *pending { queued = w.start(waits); return queued },
			func() *pending {
				go func() {
					if err := w.RevokeKey(t.Context(), key.ID); err != nil {
						t.Error(err)
					}
				}()
				return nil
			},
		)
		if s := w.status(); s.Pending != 0 {
			t.Errorf("got %d pending, want none", s.Pending)
		}
		_, err := queued.outcome()
		wantCode(t, err, api.Unauthorized)
		free()
	})
}

func TestRevocationLeavesAWatchingReadNothingToSee(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		key := w.key("p")
		caller := w.under(key, nil).Caller
		ended := make(chan error, 1)
		go func() {
			_, err := w.Read(t.Context(), "depot", caller, following{"s", 0, time.Minute})
			ended <- err
		}()
		synctest.Wait()
		if err := w.RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		w.must(call(appendTo("s", "secret")))
		wantCode(t, <-ended, api.Unauthorized)
	})
}

func TestPrincipalStaysInItsTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.CreateKey(t.Context(), api.KeySpec{Principal: "p", Tenant: "t", Roles: []api.Role{api.RoleWorker}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RevokeKey(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"", "u"} {
		_, err := w.CreateKey(t.Context(), api.KeySpec{Principal: "p", Tenant: tenant, Roles: []api.Role{api.RoleWorker}})
		if e := wantCode(t, err, api.Conflict); e.Field != "tenant" {
			t.Errorf("tenant %q: got field %q, want tenant", tenant, e.Field)
		}
	}
	if got := w.key("q").Tenant; got != "q" {
		t.Errorf("got tenant %q, want the principal's own name", got)
	}
}

func TestBadKeySpecNamesTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := []api.Role{api.RoleWorker}
	for _, tt := range []struct {
		spec  api.KeySpec
		field string
	}{
		{api.KeySpec{Roles: worker}, "principal"},
		{api.KeySpec{Principal: "anonymous", Roles: worker}, "principal"},
		{api.KeySpec{Principal: "operator", Roles: worker}, "principal"},
		{api.KeySpec{Principal: "p q", Roles: worker}, "principal"},
		{api.KeySpec{Principal: "p\x00", Roles: worker}, "principal"},
		{api.KeySpec{Principal: strings.Repeat("p", 129), Roles: worker}, "principal"},
		{api.KeySpec{Principal: "p", Tenant: "operator", Roles: worker}, "tenant"},
		{api.KeySpec{Principal: "p"}, "roles"},
		{api.KeySpec{Principal: "p", Roles: []api.Role{"worker", "root"}}, "roles[1]"},
	} {
		_, err := w.CreateKey(t.Context(), tt.spec)
		if e := wantCode(t, err, api.InvalidField); e.Field != tt.field {
			t.Errorf("%+v: got field %q, want %q", tt.spec, e.Field, tt.field)
		}
	}
}

func TestKeysAreListedInPagesAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for _, p := range []string{"a", "b", "c", "d", "e"} {
		want = append(want, w.key(p).Principal)
	}
	for _, desc := range []bool{false, true} {
		var got []string
		var after int64
		for more := true; more; {
			var page []api.Key
			var err error
			page, more, err = w.Keys(t.Context(), after, desc, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range page {
				if k.Secret != "" {
					t.Errorf("the list shows the secret of %s", k.ID)
				}
				got, after = append(got, k.Principal), namespace.KeyNumber(k)
			}
		}
		if desc {
			for l, r := 0, len(got)-1; l < r; l, r = l+1, r-1 {
				got[l], got[r] = got[r], got[l]
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("desc %v: principals (-got +want):\n%s", desc, diff)
		}
	}
}

func TestSecretsAreNotInTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.key("p")
	if n := w.count(`SELECT count(*) FROM ns_key WHERE instr(hash, '` + key.Secret + `') > 0 OR hash = CAST('` + key.Secret + `' AS BLOB)`); n != 0 {
		t.Error("the file holds the secret")
	}
}
