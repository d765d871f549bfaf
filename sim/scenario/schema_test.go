package scenario_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/skerryhq/skerry/sim/scenario"
)

// validator checks values by the words of JSON Schema that the schema uses; another word
// is an error, so that nothing is passed over.
type validator struct{ root map[string]any }

func newValidator(t *testing.T) validator {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(scenario.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	return validator{root}
}

// valid gives what is wrong with a value, or nil.
func (v validator) valid(schema, value any, at string) error {
	if allowed, ok := schema.(bool); ok {
		if !allowed {
			return fmt.Errorf("%s: must not be there", at)
		}
		return nil
	}
	s := schema.(map[string]any)
	for word, want := range s {
		if err := v.word(s, word, want, value, at); err != nil {
			return err
		}
	}
	return nil
}

func (v validator) word(s map[string]any, word string, want, value any, at string) error {
	bad := fmt.Errorf("%s: %v breaks %s %v", at, value, word, want)
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	number, isNumber := value.(float64)
	text, isText := value.(string)
	switch word {
	case "$schema", "$defs", "title", "description", "then":
	case "type":
		if !isType(want.(string), value) {
			return bad
		}
	case "const":
		if value != want {
			return bad
		}
	case "enum":
		if !slices.Contains(want.([]any), value) {
			return bad
		}
	case "minimum", "maximum", "exclusiveMinimum":
		n := want.(float64)
		if isNumber && (word == "minimum" && number < n || word == "maximum" && number > n || word == "exclusiveMinimum" && number <= n) {
			return bad
		}
	case "pattern":
		if isText && !regexp.MustCompile(want.(string)).MatchString(text) {
			return bad
		}
	case "minLength":
		if isText && float64(utf8.RuneCountInString(text)) < want.(float64) {
			return bad
		}
	case "minItems":
		if float64(len(list)) < want.(float64) {
			return bad
		}
	case "required":
		return missing(object, want.([]any), bad)
	case "dependentRequired":
		for key, others := range want.(map[string]any) {
			if _, ok := object[key]; ok {
				return missing(object, others.([]any), bad)
			}
		}
	case "additionalProperties":
		for key := range object {
			if _, ok := s["properties"].(map[string]any)[key]; !ok {
				return fmt.Errorf("%s: there is no key %s", at, key)
			}
		}
	default:
		return v.nested(s, word, want, value, at)
	}
	return nil
}

// nested are the words that hold schemas.
func (v validator) nested(s map[string]any, word string, want, value any, at string) error {
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	switch word {
	case "properties":
		for key, schema := range want.(map[string]any) {
			if inner, ok := object[key]; ok {
				if err := v.valid(schema, inner, at+"."+key); err != nil {
					return err
				}
			}
		}
	case "items":
		for i, inner := range list {
			if err := v.valid(want, inner, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case "$ref":
		return v.valid(v.root["$defs"].(map[string]any)[strings.TrimPrefix(want.(string), "#/$defs/")], value, at)
	case "allOf":
		for _, schema := range want.([]any) {
			if err := v.valid(schema, value, at); err != nil {
				return err
			}
		}
	case "anyOf":
		var err error
		for _, schema := range want.([]any) {
			if err = v.valid(schema, value, at); err == nil {
				return nil
			}
		}
		return err
	case "if":
		if v.valid(want, value, at) == nil {
			return v.valid(s["then"], value, at)
		}
	default:
		return fmt.Errorf("the schema has the word %s, which this test does not know", word)
	}
	return nil
}

func missing(object map[string]any, keys []any, bad error) error {
	for _, key := range keys {
		if _, ok := object[key.(string)]; !ok {
			return bad
		}
	}
	return nil
}

func isType(name string, value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && value == math.Trunc(value)
	}
	return false
}

// check validates a YAML text.
func (v validator) check(t *testing.T, text []byte) error {
	t.Helper()
	document, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		t.Fatal(err)
	}
	return v.valid(v.root, value, "file")
}

func TestShippedScenariosAreValidBySchema(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	for _, name := range shipped() {
		text, err := fs.ReadFile(scenario.Embedded(), name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := v.check(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range [][]byte{[]byte(good), traced("a.csv")} {
		if err := v.check(t, text); err != nil {
			t.Errorf("%v:\n%s", err, text)
		}
	}
}

// What an editor can know to be wrong, the schema says.
func TestSchemaRefusesWhatTheReaderRefuses(t *testing.T) {
	t.Parallel()
	v := newValidator(t)
	for _, tt := range []struct{ old, new string }{
		{"title: One", "titel: One"},
		{"title: One of everything\n", ""},
		{"title: One of everything", "title: 7"},
		{"duration: 1m", "duration: 60"},
		{"duration: 1m", "duration: 1 minute"},
		{"duration: 1m", "duration: 0"},
		{"servers: 4", "servers: 1.5"},
		{"servers: 4", "servers: 1000001"},
		{"servers: 4", "servers: 4\n      failures: 1.01"},
		{"name: a", "name: a b"},
		{"name: a", "name: -a"},
		{"model: sharing", "model: shared"},
		{"model: sharing", "model: delay"},
		{"      model: sharing\n      servers: 4", "      model: writer"},
		{law, "kind: exponential"},
		{law, law + ", sigma: 1"},
		{law, "kind: lognormal, mean: 1s, sigma: 0"},
		{poisson, poisson + ", think: {kind: constant, mean: 1s}"},
		{poisson, "kind: flash, peak: 9"},
		{"          clients: 3\n", ""},
		{"retry: after", "base: 1s"},
		{"retry: after", "retry: never, attempts: 3"},
		{slow, "kind: stall, from: 10s, to: 20s, factor: 2"},
		{"      batches:\n        - {tenant: t, items: 5, " + batchTime, "      batches: []\n"},
		{good[strings.Index(good, "    settings"):], ""},
		{"    service:\n      model: sharing\n      servers: 4\n      time: {" + law + "}\n", ""},
	} {
		text := []byte(strings.Replace(good, tt.old, tt.new, 1))
		if _, err := scenario.Parse("bad.yaml", text, nil); err == nil {
			t.Errorf("%q instead of %q: the reader takes it", tt.new, tt.old)
		}
		if err := v.check(t, text); err == nil {
			t.Errorf("%q instead of %q: the schema takes it", tt.new, tt.old)
		}
	}
}

func TestSchemaIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	first := scenario.Schema()
	for range 5 {
		if !bytes.Equal(scenario.Schema(), first) {
			t.Fatal("got another schema")
		}
	}
	if !strings.Contains(string(first), "https://json-schema.org/draft/2020-12/schema") || !bytes.HasSuffix(first, []byte("}\n")) {
		t.Errorf("got %.80s …, want a schema of 2020-12 that ends in a line", first)
	}
}
