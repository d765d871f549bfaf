package scenario_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/sim/scenario"
)

// traced is a scenario whose arrivals, of line 8, come from a file.
func traced(file string) []byte {
	return []byte(`title: Recorded
duration: 1m
namespaces:
  - name: a
    service: {model: delay, time: {kind: constant, mean: 1ms}}
    principals:
      - name: p
        arrivals: {kind: trace, file: '` + file + `'}
`)
}

func TestTraceIsReadBesideTheScenario(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "recorded.yaml")
	if err := os.Mkdir(filepath.Join(dir, "traces"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{path: traced("traces/day.csv"), filepath.Join(dir, "traces", "day.csv"): []byte("at,cost\n0,1\n1.25,2.5\n1.25,1\n")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := scenario.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []scenario.TracePoint{{At: 0, Cost: 1}, {At: 1250 * time.Millisecond, Cost: 2.5}, {At: 1250 * time.Millisecond, Cost: 1}}
	if diff := cmp.Diff(s.Namespaces[0].Principals[0].Arrivals.Trace, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	if s.Name != "recorded" {
		t.Errorf("got name %q, want recorded", s.Name)
	}
}

func TestTraceOutsideTheFolderIsNotOpened(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../a.csv", "/etc/a.csv", "b/../../a.csv", "b/../a.csv", "./a.csv", `..\a.csv`, `C:a.csv`, ".", "a//b.csv"} {
		_, err := scenario.Parse("some/bad.yaml", traced(file), func(string) ([]byte, error) {
			t.Errorf("%s was opened", file)
			return nil, fs.ErrNotExist
		})
		if want := "some/bad.yaml:8: namespaces[0].principals[0].arrivals.file: must be a path"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s …", file, err, want)
		}
	}
}

// A name that says nothing of it may be a link that leads out of the folder.
func TestLinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{filepath.Join(dir, "a.csv"): []byte("at\n1\n"), filepath.Join(inside, "s.yaml"): traced("a.csv")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a.csv"), filepath.Join(inside, "a.csv")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := scenario.Load(filepath.Join(inside, "s.yaml")); err == nil || !strings.Contains(err.Error(), "s.yaml:8: ") {
		t.Errorf("got error %v, want one of line 8", err)
	}
}

func TestBadTraceIsAnErrorThatNamesItsLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", "some/a.csv:1: the first line must be at or at,cost"},
		{"time\n1\n", "some/a.csv:1: the first line must be"},
		{"at\n", "some/a.csv:1: must hold at least one arrival"},
		{"at\n1\n\nx\n", "some/a.csv:4: at: must be a number of seconds, 0 to 86400"},
		{"at\n1\n-1\n", "some/a.csv:3: at: must be a number"},
		{"at\nnan\n", "some/a.csv:2: at: must be a number"},
		{"at\n1e9\n", "some/a.csv:2: at: must be a number"},
		{"at\n2\n1\n", "some/a.csv:3: at: must not be before the line above"},
		{"at,cost\n1,0\n", "some/a.csv:2: cost: must be a number, 0.001 to 1000"},
		{"at,cost\n1,1\n2\n", "some/a.csv:3: not CSV"},
		{"at\n\"1\n", "some/a.csv:"},
	} {
		_, err := scenario.Parse("some/bad.yaml", traced("a.csv"), func(string) ([]byte, error) { return []byte(tt.text), nil })
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: got error %v, want %s …", tt.text, err, tt.want)
		}
	}
	if _, err := scenario.Parse("some/bad.yaml", traced("a.csv"), nil); err == nil || !strings.HasPrefix(err.Error(), "some/bad.yaml:8: ") {
		t.Errorf("without the file: got error %v, want one of line 8", err)
	}
}

func TestUnknownNameListsTheShippedOnes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "no-such", "../scenario", "a/b", "."} {
		if _, err := scenario.Shipped(name); err == nil || !strings.Contains(err.Error(), "burst-idle, gc-pause") {
			t.Errorf("%q: got error %v, want one that lists the names", name, err)
		}
	}
	if _, err := scenario.Load(filepath.Join(t.TempDir(), "no.yaml")); err == nil || !strings.HasPrefix(err.Error(), "read scenario: ") {
		t.Errorf("got error %v, want one of reading", err)
	}
}
