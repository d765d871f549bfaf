package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// described is the run that a command line describes, as the JSON that is sent.
// Standard input is stdin, and FILE in an argument a file of that content.
func described(t *testing.T, stdin, file string, args ...string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "FILE", path)
	}
	e, _, _ := newEnv(nil)
	e.in = strings.NewReader(stdin)
	var f runFlags
	var sent []byte
	cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(_ *cobra.Command, args []string) error {
		spec, err := e.runSpec(&f, argument(args, 0))
		if err == nil {
			sent, err = json.Marshal(spec)
		}
		return err
	}}
	f.flags(cmd)
	cmd.SetArgs(args)
	err := cmd.Execute()
	if err != nil {
		err = &fileless{err, path}
	}
	return string(sent), err
}

// fileless is an error whose text calls the file FILE.
type fileless struct {
	error
	path string
}

func (f *fileless) Error() string { return strings.ReplaceAll(f.error.Error(), f.path, "FILE") }
func (f *fileless) Unwrap() error { return f.error }

func TestRunComesFromAFileOrFromFlags(t *testing.T) {
	t.Parallel()
	const document = `{"kind":"k","items":[{"id":"a","n":12345678901234567890},{}],"model":{"x":[1]},"metadata":{"m":1}}`
	const sent = `{"items":[{"id":"a","n":12345678901234567890},{}],"kind":"k","metadata":{"m":1},"model":{"x":[1]},"schema_version":"run/1"}`
	for _, tt := range []struct {
		name, stdin, file string
		args              []string
		want              string
	}{
		{"file", "", document, []string{"FILE"}, sent},
		{"standard input", document, "", []string{"-"}, sent},
		{
			"table on standard input", "id,n\na,1\n", `{"model":"m"}`,
			[]string{"--kind", "k", "--items", "-", "--items-format", "csv", "--typed", "--shared", "@FILE", "--meta", "a=1", "--meta", "b=x=y"},
			`{"items":[{"id":"a","n":1}],"kind":"k","metadata":{"a":"1","b":"x=y"},"model":"m","schema_version":"run/1"}`,
		},
		{
			"lines in a file", "", "{\"k\":7}\n",
			[]string{"--kind", "k", "--items", "FILE", "--id-column", "k", "--metadata", `{"a":{"b":1}}`},
			`{"items":[{"id":"7"}],"kind":"k","metadata":{"a":{"b":1}},"schema_version":"run/1"}`,
		},
		{
			"no items", "", "",
			[]string{"--kind", "k", "--shared", `{"selection":{}}`},
			`{"items":[],"kind":"k","metadata":{},"schema_version":"run/1","selection":{}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := described(t, tt.stdin, tt.file, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Error("-got +want", diff)
			}
		})
	}
}

func TestRunThatNoServerTakesIsFoundBefore(t *testing.T) {
	t.Parallel()
	items := func(n int) string { return `{"kind":"k","items":[` + strings.Repeat(`{},`, n-1) + `{}]}` }
	if _, err := described(t, "", items(maxRunItems), "FILE"); err != nil {
		t.Errorf("1,000 items: got %v", err)
	}
	for _, tt := range []struct {
		file string
		args []string
		want string
	}{
		{items(maxRunItems + 1), []string{"FILE"}, "read FILE: 1001 items, and a run may have 1,000"},
		{`{"kind":"` + strings.Repeat("x", 5<<20) + `"}`, []string{"FILE"}, "one may have 5 MiB (5242880)"},
		{`{"model":"` + strings.Repeat("x", 5<<20) + `"}`, []string{"--kind", "k", "--shared", "@FILE"}, "one may have 5 MiB"},
		{``, []string{"FILE"}, "FILE:1:1: no JSON"},
		{"{\"kind\":\"k\",\n \"kind\":\"l\"}", []string{"FILE"}, `FILE:2:2: a second member "kind"`},
		{`{"kind":"k","items":[{"id":1}]}`, []string{"FILE"}, "FILE:1:1: unmarshal run: items: unmarshal item: id: "},
		{`[]`, []string{"FILE"}, "FILE:1:1: not a JSON object"},
		{"{\n}\n{}", []string{"FILE"}, "FILE:2:2: more than one document"},
		{"{\n]", []string{"--kind", "k", "--shared", "@FILE"}, "FILE:2:1: "},
		{"", []string{"--kind", "k", "--shared", `{"items":[]}`}, "the member items, which is the run's own"},
		{"", []string{"--kind", "k", "--metadata", "1"}, "--metadata:1:1: not a JSON object"},
	} {
		if _, err := described(t, "", tt.file, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40s %q: got %v, want %s", tt.file, tt.args, err, tt.want)
		}
	}
}
