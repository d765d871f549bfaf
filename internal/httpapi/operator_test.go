package httpapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestNamespaceIsMadeDescribedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v2/namespaces/fresh"
	w.want(w.do("GET", path, "operator", ""), 404, api.NotFound)
	w.want(w.do("DELETE", path, "operator", ""), 404, api.NotFound)
	w.want(w.do("PATCH", path+"/settings", "operator", `{}`), 404, api.NotFound)
	w.want(w.do("GET", path+"/keys", "operator", ""), 404, api.NotFound)
	w.want(w.do("PUT", path, "operator", `{"more":1}`), 400, api.BadRequest)
	w.want(w.do("PUT", path, "operator", ""), 201, "")
	made := w.do("PUT", path, "operator", "{}")
	w.want(made, 200, "")
	var doc api.Namespace
	if err := json.Unmarshal(made.Body.Bytes(), &doc); err != nil || doc.Name != "fresh" || len(doc.Settings) == 0 {
		t.Errorf("described as %s: %v", made.Body, err)
	}
	gone := w.do("DELETE", path, "operator", "")
	if diff := cmp.Diff(gone.Body.String(), `{"name":"fresh","deleted":true}`); diff != "" {
		t.Errorf("deleted (-got +want):\n%s", diff)
	}
	w.want(w.do("GET", path, "operator", ""), 404, api.NotFound)
}

// Who makes a namespace while another deletes it is not told that there is none.
func TestCreationBesideADeletionIsNotMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v2/namespaces/fleeting"
	var deleting sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		deleting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					w.do("DELETE", path, "operator", "")
				}
			}
		})
	}
	for range 40 {
		if r := w.do("PUT", path, "operator", ""); r.Code != 201 && r.Code != 200 && r.Code != 409 {
			t.Errorf("PUT is answered with %d: %s", r.Code, r.Body)
		}
	}
	close(done)
	deleting.Wait()
}

func TestSettingsArePatchedByTheirAdminAndTheOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, bearer := range []string{"admin", "operator"} {
		r := w.do("PATCH", "/api/v2/namespaces/demo/settings", bearer, `{"lease_ms":5000}`)
		w.want(r, 200, "")
		if !strings.Contains(r.Body.String(), `"lease_ms":5000`) {
			t.Errorf("as %s: %s", bearer, r.Body)
		}
		w.want(w.do("PATCH", "/api/v2/namespaces/demo/settings", bearer, `{"lease_ms":null}`), 200, "")
	}
	for body, code := range map[string]api.Code{
		`{"no_such":1}`: api.InvalidField, `{"lease_ms":0}`: api.InvalidField, `[]`: api.BadRequest,
		`{"lease_ms":1,"lease_ms":2}`: api.BadRequest, `{`: api.BadRequest,
	} {
		w.want(w.do("PATCH", "/api/v2/namespaces/demo/settings", "admin", body), code.Status(), code)
	}
}

func TestKeyIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v2/namespaces/demo/keys"
	made := w.do("POST", path, "admin", `{"principal":"p","roles":["worker"]}`)
	w.want(made, 201, "")
	var key api.Key
	if err := json.Unmarshal(made.Body.Bytes(), &key); err != nil {
		t.Fatal(err)
	}
	if list := w.do("GET", path, "admin", ""); !strings.Contains(list.Body.String(), key.ID) || strings.Contains(list.Body.String(), `"key"`) {
		t.Errorf("list without the key, or with its secret: %s", list.Body)
	}
	gone := w.do("DELETE", path+"/"+key.ID, "admin", "")
	if diff := cmp.Diff(gone.Body.String(), `{"id":"`+key.ID+`","revoked":true}`); diff != "" {
		t.Errorf("revoked (-got +want):\n%s", diff)
	}
	w.want(w.do("DELETE", path+"/"+key.ID, "admin", ""), 404, api.NotFound)
	w.want(w.do("DELETE", path+"/%00", "admin", ""), 400, api.BadRequest)
	w.want(w.do("POST", path, "admin", `{"principal":"p","roles":["king"]}`), 422, api.InvalidField)
	w.want(w.do("POST", path, "admin", `{"principal":"operator","roles":["admin"]}`), 422, api.InvalidField)
	w.want(w.do("POST", path, "admin", `{"principal":"the-admin","tenant":"x","roles":["admin"]}`), 409, api.Conflict)
}

// walk follows a list's cursors and gives the named member of every row.
func (w *world) walk(path, member string, limit int, order string) []string {
	w.t.Helper()
	var all []string
	cursor := ""
	for range 100 {
		query := url.Values{"limit": {fmt.Sprint(limit)}, "cursor": {cursor}, "order": {order}}
		r := w.do("GET", path+"?"+query.Encode(), "operator", "")
		var page api.Page[map[string]any]
		if err := json.Unmarshal(r.Body.Bytes(), &page); err != nil || r.Code != 200 {
			w.t.Fatalf("%d %s: %v", r.Code, r.Body, err)
		}
		if len(page.Data) > limit {
			w.t.Errorf("%d rows on a page of %d", len(page.Data), limit)
		}
		for _, row := range page.Data {
			all = append(all, fmt.Sprint(row[member]))
		}
		if page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
	}
	w.t.Fatal("the list does not end")
	return nil
}

func TestListsArePagedBothWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := []string{"demo", "other"}
	for i := range 5 {
		name := fmt.Sprintf("n%d", i)
		names = append(names, name)
		w.want(w.do("PUT", "/api/v2/namespaces/"+name, "operator", ""), 201, "")
	}
	slices.Sort(names)
	principals := []string{"the-worker", "the-producer", "the-admin"}
	for limit := range 8 {
		for _, order := range []string{"asc", "desc"} {
			for path, want := range map[string][]string{"": names, "/demo/keys": principals} {
				member := "name"
				if path != "" {
					member = "principal"
				}
				want = slices.Clone(want)
				if order == "desc" {
					slices.Reverse(want)
				}
				got := w.walk("/api/v2/namespaces"+path, member, limit+1, order)
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("%s, limit %d, %s (-got +want):\n%s", path, limit+1, order, diff)
				}
			}
		}
	}
	r := w.do("GET", "/api/v2/namespaces?limit=1", "operator", "")
	var page api.Page[api.NamespaceRef]
	if err := json.Unmarshal(r.Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	w.want(w.do("GET", "/api/v2/namespaces/demo/keys?cursor="+*page.NextCursor, "operator", ""), 400, api.BadRequest)
}

func TestOperatorRequestsAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct{ method, path, bearer, body, want string }{
		{"PUT", "/api/v2/namespaces/fresh", "operator", "", "action=namespace.create principal=operator outcome=ok request_id=audited namespace=fresh"},
		{"PUT", "/api/v2/namespaces/demo", "admin", "", "action=namespace.create principal=the-admin outcome=forbidden request_id=audited namespace=demo"},
		{"DELETE", "/api/v2/namespaces/fresh", "none", "", `action=namespace.delete principal="" outcome=unauthorized request_id=audited namespace=fresh`},
		{"DELETE", "/api/v2/namespaces/absent", "operator", "", "action=namespace.delete principal=operator outcome=not_found request_id=audited namespace=absent"},
		{"PATCH", "/api/v2/namespaces/demo/settings", "admin", "{}", "action=settings.patch principal=the-admin outcome=ok request_id=audited namespace=demo"},
		{"DELETE", "/api/v2/namespaces/demo/keys/key_x", "admin", "", "action=key.revoke principal=the-admin outcome=not_found request_id=audited namespace=demo subject=key_x"},
		{"GET", "/debug/pprof/heap", "operator", "", "action=profile.get principal=operator outcome=ok request_id=audited subject=heap"},
	}
	for _, test := range tests {
		w.do(test.method, test.path, test.bearer, test.body, "X-Request-Id: audited")
		if logs := w.logs.String(); !strings.Contains(logs, "msg=audit "+test.want+"\n") {
			t.Errorf("%s %s as %s: no record %q in\n%s", test.method, test.path, test.bearer, test.want, logs)
		}
	}
}

func TestProfilesAreTheOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.do("GET", "/debug/pprof/", "operator", "")
	if !strings.Contains(list.Body.String(), `{"name":"goroutine"`) {
		t.Errorf("list of profiles: %s", list.Body)
	}
	heap := w.do("GET", "/debug/pprof/heap", "operator", "")
	if heap.Code != 200 || !strings.HasPrefix(heap.Body.String(), "\x1f\x8b") {
		t.Errorf("heap profile: %d, %d bytes", heap.Code, heap.Body.Len())
	}
	text := w.do("GET", "/debug/pprof/goroutine?debug=1", "operator", "")
	if !strings.HasPrefix(text.Body.String(), "goroutine profile:") {
		t.Errorf("goroutine profile: %.40s", text.Body)
	}
	w.want(w.do("GET", "/debug/pprof/nothing", "operator", ""), 404, api.NotFound)
	w.want(w.do("GET", "/debug/pprof/cmdline", "operator", ""), 404, api.NotFound)
	w.want(w.do("GET", "/debug/pprof/heap?debug=x", "operator", ""), 400, api.BadRequest)
	w.want(w.do("GET", "/debug/pprof/profile?seconds=61", "operator", ""), 422, api.InvalidField)
	if r := w.do("GET", "/debug/pprof/trace?seconds=1", "operator", ""); r.Code != 200 || !strings.HasPrefix(r.Body.String(), "go 1.") {
		t.Errorf("trace: %d %.20q", r.Code, r.Body)
	}
}
