package scenario

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tagged are the keys of a type's fields, in order.
func tagged(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func TestTableHasEveryKeyOfTheTypes(t *testing.T) {
	t.Parallel()
	all := documents()
	for _, typ := range types() {
		d := all[typ]
		if got, want := strings.Join(d.names(), " "), strings.Join(tagged(typ), " "); got != want {
			t.Errorf("%s: got keys %s\nwant the type's    %s", d.name, got, want)
		}
		for _, k := range d.keys {
			if len(k.field) != 1 {
				t.Fatalf("%s.%s: there is no field of that key", d.name, k.name)
			}
			field := typ.FieldByIndex(k.field).Type
			if field.Kind() == reflect.Slice {
				field = field.Elem()
			}
			if field.Kind() == reflect.Pointer {
				field = field.Elem()
			}
			if field.Kind() == reflect.Struct && all[field] == nil {
				t.Errorf("%s.%s: there is no document of %s", d.name, k.name, field)
			}
			if !strings.HasSuffix(k.about, ".") {
				t.Errorf("%s.%s: %q must say in sentences what it is", d.name, k.name, k.about)
			}
			k.checkKinds(t, d)
		}
	}
}

// checkKinds holds that the kinds of a key are kinds of its document, and that whoever
// needs a key may have it.
func (k *key) checkKinds(t *testing.T, d *document) {
	t.Helper()
	for _, word := range slices.Concat(k.of, k.needed) {
		kind, ok := d.key(d.kind)
		if !ok || !strings.Contains(" "+strings.Join(kind.words, " ")+" ", " "+word+" ") {
			t.Errorf("%s.%s: there is no kind %s", d.name, k.name, word)
		}
	}
	for _, word := range k.needed {
		if len(k.of) > 0 && !strings.Contains(" "+strings.Join(k.of, " ")+" ", " "+word+" ") {
			t.Errorf("%s.%s: is needed by %s and not for it", d.name, k.name, word)
		}
	}
}

// An example that its own key would refuse helps nobody.
func TestExamplesAreAllowed(t *testing.T) {
	t.Parallel()
	for typ, d := range documents() {
		for _, k := range d.keys {
			field := typ.FieldByIndex(k.field).Type
			if field.Kind() == reflect.Struct || field.Kind() == reflect.Slice || field == reflect.TypeFor[*Runs]() {
				continue
			}
			r := &reading{file: "example", documents: documents(), lines: map[string]int{}}
			into := reflect.New(typ).Elem()
			r.document([]byte(k.name+": "+k.example), into)
			for _, p := range r.problems {
				if p.Key == k.name && strings.HasPrefix(p.Problem, "must") {
					t.Errorf("%s: %v", d.name, p)
				}
			}
			if k.example == "" || into.FieldByIndex(k.field).IsZero() {
				t.Errorf("%s.%s: the example %q says nothing", d.name, k.name, k.example)
			}
		}
	}
}

// row is what the reference says of a key.
func (k *key) row(t reflect.Type) string {
	return fmt.Sprintf("| `%s` | %s | %s | %s |", k.name, k.shape(t), k.absent(), strings.TrimSpace(k.about+" "+k.kinds()))
}

// shape is of which type and range the key is, with an example.
func (k *key) shape(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	all := documents()
	link := func(t reflect.Type) string { return fmt.Sprintf("[%s](#%s)", all[t].name, all[t].name) }
	switch {
	case t.Kind() == reflect.Struct:
		return link(t)
	case t.Kind() == reflect.Slice:
		return "list of " + link(t.Elem())
	case len(k.words) > 0:
		return "`" + strings.Join(k.words, "`, `") + "`"
	case k.named:
		return "name: `" + k.example + "`"
	case t.Kind() == reflect.String:
		return "text: `" + k.example + "`"
	case t == reflect.TypeFor[Span]():
		return "span, " + k.bounds(t) + ": `" + k.example + "`"
	case t.Kind() == reflect.Float64:
		return "number, " + k.bounds(t) + ": `" + k.example + "`"
	}
	return "whole number, " + k.bounds(t) + ": `" + k.example + "`"
}

func (k *key) absent() string {
	switch {
	case k.required:
		return "needed"
	case len(k.needed) > 0 && len(k.needed) == len(k.of):
		return "needed"
	case len(k.needed) > 0:
		return strings.TrimSuffix("needed by "+strings.Join(k.needed, ", ")+"; else "+k.fallback, "; else ")
	case k.fallback == "":
		return "–"
	}
	return k.fallback
}

func (k *key) kinds() string {
	if len(k.of) == 0 {
		return ""
	}
	return "Only for " + strings.Join(k.of, ", ") + "."
}

func TestReferenceHasEveryKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/simulation-scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	all := documents()
	for _, typ := range types() {
		d := all[typ]
		section := "## " + d.name + "\n\n" + d.about + "\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n"
		for _, k := range d.keys {
			section += k.row(typ.FieldByIndex(k.field).Type) + "\n"
		}
		if !strings.Contains(string(text), section) {
			t.Errorf("docs/simulation-scenarios.md must have:\n%s", section)
		}
	}
	for _, name := range Names() {
		s, err := Shipped(name)
		if err != nil {
			t.Fatal(err)
		}
		if row := fmt.Sprintf("| `%s` | %s |", name, s.Title); !strings.Contains(string(text), row) {
			t.Errorf("docs/simulation-scenarios.md must have:\n%s", row)
		}
	}
}

func TestExampleOfTheReferenceIsAScenario(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/simulation-scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if s, err := Parse("example.yaml", []byte(example), nil); err != nil || len(s.Namespaces) != 2 {
		t.Errorf("got error %v of\n%s", err, example)
	}
}
