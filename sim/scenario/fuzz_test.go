package scenario_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/skerryhq/skerry/sim/scenario"
)

// No text makes the reader panic; every error names a line of the file; what is read can
// be written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add(traced("a.csv"))
	for _, text := range []string{"", "a", "- a", "{}", "title: &a b\nabout: *a", "? a\n: b", "<<: {title: a}", "title: |\n", "title: !!str 1", "---\n---\n", "namespaces: [[]]", "namespaces:\n-"} {
		f.Add([]byte(text))
	}
	for _, name := range scenario.Names() {
		text, err := fs.ReadFile(scenario.Embedded(), name+".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	read := func(string) ([]byte, error) { return []byte("at\n1\n"), nil }
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scenario.Parse("f.yaml", text, read)
		if err != nil {
			var bad *scenario.Error
			if !errors.As(err, &bad) || bad.Line < 1 || bad.Problem == "" {
				t.Errorf("got error %v, want one that names a line", err)
			}
			return
		}
		again, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenario.Parse("f.yaml", again, read); err != nil {
			t.Errorf("what was read cannot be read again: %v\n%s", err, again)
		}
	})
}
