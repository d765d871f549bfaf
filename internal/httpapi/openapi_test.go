package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

// document is the parsed description of the API.
func document(t *testing.T, w *world) object {
	t.Helper()
	r := w.do("GET", "/openapi.json", "none", "")
	var doc object
	if err := json.Unmarshal(r.Body.Bytes(), &doc); err != nil || r.Code != 200 {
		t.Fatalf("%d: %v", r.Code, err)
	}
	return doc
}

func at(t *testing.T, doc any, path ...string) any {
	t.Helper()
	for _, name := range path {
		member, ok := doc.(object)[name]
		if !ok {
			t.Fatalf("there is no %s in the description", strings.Join(path, "."))
		}
		doc = member
	}
	return doc
}

func TestDescriptionAndRouterHaveTheSameRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Single = "demo" })
	var described []string
	for path, item := range at(t, document(t, w), "paths").(object) {
		for method := range item.(object) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(described)
	var want []string
	for _, row := range mounted(t, w.h) {
		want = append(want, strings.ReplaceAll(row, "...}", "}"))
	}
	slices.Sort(want)
	if diff := cmp.Diff(described, want); diff != "" {
		t.Errorf("described routes (-got +want):\n%s", diff)
	}
}

func TestDescriptionLeavesOutWhatIsNotMounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Metrics = false })
	paths := at(t, document(t, w), "paths").(object)
	for _, path := range []string{"/metrics", "/api/v2/notes"} {
		if _, ok := paths[path]; ok {
			t.Errorf("%s is described", path)
		}
		w.want(w.do("GET", path, "none", ""), 404, api.NotFound)
	}
}

// TestDescriptionIsWellFormed checks what OpenAPI 3.1 asks of every operation
// and that every reference leads somewhere.
func TestDescriptionIsWellFormed(t *testing.T) {
	t.Parallel()
	doc := document(t, newWorld(t))
	if at(t, doc, "openapi") != "3.1.0" || at(t, doc, "info", "version") != "v1.2.3" || at(t, doc, "info", "title") == "" {
		t.Errorf("head: %v", doc["info"])
	}
	for path, item := range at(t, doc, "paths").(object) {
		for method, operation := range item.(object) {
			checkOperation(t, method+" "+path, operation.(object))
		}
	}
	references := 0
	eachReference(doc, func(ref string) {
		references++
		at(t, doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	})
	if references < 50 {
		t.Errorf("%d references, want at least 50", references)
	}
	for name, schema := range at(t, doc, "components", "schemas").(object) {
		if at(t, schema, "type") != "object" || len(at(t, schema, "properties").(object)) == 0 {
			t.Errorf("schema %s: %v", name, schema)
		}
	}
}

func checkOperation(t *testing.T, name string, operation object) {
	t.Helper()
	if at(t, operation, "summary") == "" {
		t.Errorf("%s has no summary", name)
	}
	seen := map[string]bool{}
	for _, p := range at(t, operation, "parameters").([]any) {
		parameter, where := at(t, p, "name").(string), at(t, p, "in").(string)
		if seen[where+parameter] {
			t.Errorf("%s has the %s parameter %s twice", name, where, parameter)
		}
		seen[where+parameter] = true
		if where == "path" && (at(t, p, "required") != true || !strings.Contains(name, "{"+parameter+"}")) {
			t.Errorf("%s: path parameter %v", name, p)
		}
		at(t, p, "schema")
	}
	if got := strings.Count(name, "{"); got != len(slices.DeleteFunc(keysOf(seen), func(s string) bool { return !strings.HasPrefix(s, "path") })) {
		t.Errorf("%s does not describe its %d path parameters", name, got)
	}
	responses := at(t, operation, "responses").(object)
	at(t, responses, "default", "$ref")
	success := 0
	for status := range responses {
		if n, err := strconv.Atoi(status); err == nil && n < 300 {
			success++
			at(t, responses, status, "content")
		}
	}
	if success == 0 {
		t.Errorf("%s describes no success", name)
	}
}

func keysOf(m map[string]bool) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

func eachReference(doc any, found func(string)) {
	switch d := doc.(type) {
	case object:
		for name, member := range d {
			if ref, ok := member.(string); ok && name == "$ref" {
				found(ref)
			}
			eachReference(member, found)
		}
	case []any:
		for _, member := range d {
			eachReference(member, found)
		}
	}
}

func TestDescriptionTellsWhatARouteWants(t *testing.T) {
	t.Parallel()
	doc := document(t, newWorld(t))
	operation := func(path, method string) object {
		return at(t, doc, "paths", path, method).(object)
	}
	imported := operation("/ns/{namespace}/api/v2/notes:import", "post")
	for _, p := range imported["parameters"].([]any) {
		if at(t, p, "name") == "Idempotency-Key" && at(t, p, "required") != true {
			t.Errorf("the required key is described as %v", p)
		}
	}
	if got := at(t, imported, "requestBody", "content", "application/json", "schema", "$ref"); got != "#/components/schemas/noteSpec" {
		t.Errorf("body of import: %v", got)
	}
	at(t, imported, "responses", "201")
	for path, alternatives := range map[string]int{"/healthz": 0, "/ns/{namespace}/api/v2/notes": 2} {
		if got := len(operation(path, "get")["security"].([]any)); got != alternatives {
			t.Errorf("%s has %d ways to show a key, want %d", path, got, alternatives)
		}
	}
	if got := len(operation("/ns/{namespace}/api/v2/tickets", "post")["security"].([]any)); got != 3 {
		t.Errorf("a route that is open to the anonymous has %d ways, want 3", got)
	}
	at(t, operation("/api/v2/namespaces/{namespace}", "put"), "responses", "201")
	at(t, operation("/api/v2/namespaces/{namespace}", "put"), "responses", "200")
}

func TestDescriptionTellsOfStreamsAndOfQueriesByPost(t *testing.T) {
	t.Parallel()
	doc := document(t, newWorld(t))
	operation := func(path, method string) object {
		return at(t, doc, "paths", "/ns/{namespace}/api/v2/"+path, method).(object)
	}
	parameter := func(operation object, name string) object {
		for _, p := range operation["parameters"].([]any) {
			if at(t, p, "name") == name {
				return p.(object)
			}
		}
		return nil
	}
	followed := operation("logs/{id}", "get")
	media := at(t, followed, "responses", "200", "content").(object)
	if got := at(t, media, "application/json", "schema", "$ref"); got != "#/components/schemas/PageentrySpec" {
		t.Errorf("the document of a stream's route: %v", got)
	}
	if got := at(t, media, "text/event-stream", "schema", "type"); got != "string" {
		t.Errorf("the stream: %v", got)
	}
	if p := parameter(followed, "Last-Event-ID"); p == nil || p["in"] != "header" || p["required"] == true {
		t.Errorf("Last-Event-ID is described as %v", p)
	}
	paged := operation("notes", "get")
	if content := at(t, paged, "responses", "200", "content").(object); len(content) != 1 || parameter(paged, "Last-Event-ID") != nil {
		t.Errorf("a route that does not stream is described as %v", paged)
	}
	measured := operation("logs:measure", "post")
	if got := at(t, measured, "requestBody", "content", "application/json", "schema", "$ref"); got != "#/components/schemas/noteSpec" {
		t.Errorf("body of a query: %v", got)
	}
	key, stored := parameter(measured, "Idempotency-Key"), parameter(operation("notes", "post"), "Idempotency-Key")
	if key == nil || key["required"] != false || key["description"] == stored["description"] {
		t.Errorf("a query's key is described as %v", key)
	}
}

func TestSchemaIsThatOfTheEncodedDocument(t *testing.T) {
	t.Parallel()
	type inner struct {
		A string `json:"a"`
	}
	type sample struct {
		inner
		Number   int64           `json:"number"`
		Ratio    float64         `json:"ratio,omitzero"`
		Maybe    *string         `json:"maybe"`
		Absent   *int            `json:"absent,omitempty"`
		At       time.Time       `json:"at"`
		Free     json.RawMessage `json:"free"`
		Many     []bool          `json:"many"`
		ByName   map[string]int  `json:"by_name"`
		Input    api.Input       `json:"input"`
		Role     api.Role        `json:"role"`
		Self     *sample         `json:"self,omitempty"`
		Left     string          `json:"-"`
		internal int
	}
	s := newSchemas()
	if diff := cmp.Diff(s.of(reflect.TypeFor[sample]()), object{"$ref": "#/components/schemas/sample"}); diff != "" {
		t.Errorf("reference (-got +want):\n%s", diff)
	}
	got, err := json.Marshal(s.components["sample"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"properties":{"a":{"type":"string"},"absent":{"type":"integer"},"at":{"format":"date-time","type":"string"},` +
		`"by_name":{"additionalProperties":{"type":"integer"},"type":"object"},"free":{},` +
		`"input":{"oneOf":[{"type":"string"},{"$ref":"#/components/schemas/GroupInput"}]},"many":{"items":{"type":"boolean"},"type":"array"},` +
		`"maybe":{"anyOf":[{"type":"string"},{"type":"null"}]},"number":{"type":"integer"},"ratio":{"type":"number"},` +
		`"role":{"enum":["worker","producer","admin"],"type":"string"},"self":{"$ref":"#/components/schemas/sample"}},` +
		`"required":["a","number","maybe","at","free","many","by_name","input","role"],"type":"object"}`
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("schema (-got +want):\n%s", diff)
	}
	_ = sample{}.internal
}

func TestSchemaNamesAreOnePerType(t *testing.T) {
	t.Parallel()
	type Noun struct{ X int }
	s := newSchemas()
	var names []string
	for _, typ := range []reflect.Type{
		reflect.TypeFor[api.Noun](), reflect.TypeFor[Noun](), reflect.TypeFor[api.Page[api.Noun]](), reflect.TypeFor[api.Noun](),
	} {
		names = append(names, strings.TrimPrefix(s.of(typ)["$ref"].(string), "#/components/schemas/"))
	}
	if diff := cmp.Diff(names, []string{"Noun", "httpapi.Noun", "PageNoun", "Noun"}); diff != "" {
		t.Errorf("names (-got +want):\n%s", diff)
	}
}
