package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Schema returns a JSON Schema (2020-12) of scenario files, for editors. It tells the
// same of keys, types, ranges and kinds as the reader does; what values have to do with
// each other only the reader checks. The bytes are always the same.
func Schema() []byte {
	all := documents()
	defs := map[string]any{}
	for _, t := range types()[1:] {
		defs[all[t].name] = all[t].schema(all, t)
	}
	top := types()[0]
	s := all[top].schema(all, top)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "A scenario of the simulator"
	s["$defs"] = defs
	// Keys of maps are written in order of the alphabet, and nothing in here can fail.
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("scenario: write the schema: %v", err))
	}
	return append(text, '\n')
}

// schema describes one document.
func (d *document) schema(all map[reflect.Type]*document, t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, k := range d.keys {
		properties[k.name] = k.schema(all, t.FieldByIndex(k.field).Type)
		if k.required {
			required = append(required, k.name)
		}
	}
	s := map[string]any{
		"type": "object", "description": d.about, "properties": properties,
		"required": required, "additionalProperties": false,
	}
	if d.kind != "" {
		s["allOf"] = d.byKind()
	}
	if d.name == "namespace" {
		s["anyOf"] = []any{
			map[string]any{"required": []string{"principals"}},
			map[string]any{"required": []string{"runs"}},
		}
		s["dependentRequired"] = map[string]any{"principals": []string{"service"}}
	}
	return s
}

// byKind says what each kind needs and what is not for it.
func (d *document) byKind() []any {
	kind, _ := d.key(d.kind)
	var rules []any
	for _, word := range kind.words {
		needed, barred := []string{}, map[string]any{}
		for _, k := range d.keys {
			if slices.Contains(k.needed, word) {
				needed = append(needed, k.name)
			}
			if len(k.of) > 0 && !slices.Contains(k.of, word) {
				barred[k.name] = false
			}
		}
		given := map[string]any{"properties": map[string]any{d.kind: map[string]any{"const": word}}}
		if kind.fallback != word {
			given["required"] = []string{d.kind}
		}
		rules = append(rules, map[string]any{"if": given, "then": map[string]any{"required": needed, "properties": barred}})
	}
	return rules
}

// spans is the way that Go writes durations.
const spans = `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`

// schema describes one value.
func (k *key) schema(all map[reflect.Type]*document, t reflect.Type) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := map[string]any{"description": k.described(t)}
	switch {
	case t == reflect.TypeFor[Span]():
		s["anyOf"] = []any{map[string]any{"type": "string", "pattern": spans}, map[string]any{"const": 0}}
		if k.least > 0 || k.above {
			s["anyOf"] = []any{map[string]any{"type": "string", "pattern": spans}}
		}
	case t.Kind() == reflect.Struct:
		s["$ref"] = "#/$defs/" + all[t].name
	case t.Kind() == reflect.Slice:
		s["type"] = "array"
		s["items"] = map[string]any{"$ref": "#/$defs/" + all[t.Elem()].name}
		if k.required {
			s["minItems"] = 1
		}
	case t.Kind() == reflect.String:
		k.schemaText(s)
	default:
		s["type"] = "integer"
		if t.Kind() == reflect.Float64 {
			s["type"] = "number"
		}
		s["minimum"], s["maximum"] = k.least, k.most
		if k.above {
			delete(s, "minimum")
			s["exclusiveMinimum"] = k.least
		}
	}
	return s
}

func (k *key) schemaText(s map[string]any) {
	s["type"] = "string"
	switch {
	case len(k.words) > 0:
		s["enum"] = k.words
	case k.named:
		s["pattern"] = fmt.Sprintf(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,%d}$`, maxName-1)
	default:
		s["minLength"] = 1
	}
}

// described is what the key means, with what JSON Schema has no word for.
func (k *key) described(t reflect.Type) string {
	about := k.about
	if t == reflect.TypeFor[Span]() {
		about += " A span of time, " + k.bounds(t) + "."
	}
	if k.fallback != "" {
		about += " Default: " + k.fallback + "."
	}
	return about
}
