package httpapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

const (
	notesPath  = "/ns/demo/api/v2/notes"
	importPath = "/ns/demo/api/v2/notes:import"
)

func TestIdempotencyHeaderIsHeldToItsRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"key":"k"}`
	long := strings.Repeat("a", 255)
	tests := []struct {
		name, path string
		headers    []string
		status     int
		code       api.Code
	}{
		{"optional and absent", notesPath, nil, 201, ""},
		{"required and absent", importPath, nil, 400, api.IdempotencyKeyRequired},
		{"required and empty", importPath, []string{""}, 400, api.BadRequest},
		{"optional and empty", notesPath, []string{""}, 400, api.BadRequest},
		{"longest", importPath, []string{long}, 201, ""},
		{"too long", importPath, []string{long + "a"}, 400, api.BadRequest},
		{"every printable", importPath, []string{"!~ \"x"}, 201, ""},
		{"beyond ASCII", importPath, []string{"ü"}, 400, api.BadRequest},
		{"control", importPath, []string{"a\tb"}, 400, api.BadRequest},
		{"twice", importPath, []string{"a", "a"}, 400, api.BadRequest},
		{"ignored where it has no use", "/ns/demo/api/v2/tickets/t:beat", []string{"ü", "x"}, 200, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var headers []string
			for _, h := range test.headers {
				headers = append(headers, "Idempotency-Key: "+h)
			}
			key := "producer"
			if strings.HasSuffix(test.path, "beat") {
				key = "worker"
			}
			(&world{t: t}).want(w.do("POST", test.path, key, body, headers...), test.status, test.code)
		})
	}
}

func TestReplayIsByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := ` {"key":"k","value":"<&> ü"}`
	first := w.do("POST", notesPath, "producer", body, "Idempotency-Key: one")
	again := w.do("POST", notesPath, "producer", body, "Idempotency-Key: one")
	w.want(first, 201, "")
	if diff := cmp.Diff(again.Body.String(), first.Body.String()); diff != "" || again.Code != first.Code {
		t.Errorf("replay %d, first %d (-got +want):\n%s", again.Code, first.Code, diff)
	}
	got := []string{first.Header().Get("Idempotent-Replayed"), again.Header().Get("Idempotent-Replayed")}
	if diff := cmp.Diff(got, []string{"", "true"}); diff != "" {
		t.Errorf("replay header (-got +want):\n%s", diff)
	}
	w.want(w.do("POST", notesPath, "producer", body+" ", "Idempotency-Key: one"), 422, api.IdempotencyConflict)

	// Another principal, another path: another key.
	for _, r := range []struct{ path, key string }{{notesPath, "admin"}, {importPath, "producer"}} {
		other := w.do("POST", r.path, r.key, body, "Idempotency-Key: one")
		w.want(other, 201, "")
		if other.Header().Get("Idempotent-Replayed") != "" {
			t.Errorf("%s as %s was a replay", r.path, r.key)
		}
	}
}

func TestErrorLeavesTheIdempotencyKeyFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(w.do("POST", notesPath, "producer", `{}`, "Idempotency-Key: one"), 422, api.InvalidField)
	w.want(w.do("POST", notesPath, "producer", `{"key":"k"}`, "Idempotency-Key: one"), 201, "")
}

func TestScopeIsOnePerResourceAndNoTwoResourcesShareOne(t *testing.T) {
	t.Parallel()
	beat := &route{method: "POST", path: prefixed + "/tickets/{id}:beat", base: prefixed}
	single := &route{method: "POST", path: unprefixed + "/tickets/{id}:beat", base: unprefixed}
	plain := &route{method: "POST", path: prefixed + "/tickets/{id}", base: prefixed}
	at := func(r *route, id string) string {
		return (&exchange{route: r, path: map[string]string{"id": id}}).scope()
	}
	if got, want := at(beat, "a-1"), "POST /tickets/a-1:beat"; got != want {
		t.Errorf("scope %q, want %q", got, want)
	}
	if at(beat, "a") != at(single, "a") {
		t.Error("the two shapes of a route have two scopes")
	}
	if at(beat, "a") == at(plain, "a:beat") {
		t.Error("an encoded colon makes two routes one")
	}
}

func TestBodyIsHeldToItsForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, want := range map[string]api.Code{
		`{"key":"a"}`:                       "",
		`{"key":"a","key":"b"}`:             api.BadRequest,
		`{"key":"a","more":1}`:              api.BadRequest,
		`{"Key":"a"}`:                       api.BadRequest,
		`{"key":1}`:                         api.BadRequest,
		`{"key":"a"}{}`:                     api.BadRequest,
		`{"key":"a"} x`:                     api.BadRequest,
		`{"key":NaN}`:                       api.BadRequest,
		`{"key":"a",}`:                      api.BadRequest,
		`[]`:                                api.BadRequest,
		`"a"`:                               api.BadRequest,
		`{"key":"a`:                         api.BadRequest,
		"{\"key\":\"\xff\"}":                api.BadRequest,
		"\xef\xbb\xbf{}":                    api.BadRequest,
		strings.Repeat(`[`, 100_000):        api.BadRequest,
		`{"key":` + strings.Repeat("{", 99): api.BadRequest,
		``:                                  api.InvalidField,
		`{}`:                                api.InvalidField,
		` {} `:                              api.InvalidField,
	} {
		r := w.do("POST", notesPath, "producer", body, "Content-Type: text/plain")
		status := 201
		if want != "" {
			status = want.Status()
		}
		w.want(r, status, want)
	}
}
