package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestBatchesStayWithinWhatOneRequestTakes(t *testing.T) {
	t.Parallel()
	line := func(brief int, attempts string) string {
		return `{"kind":"k","artifact":"a","brief":{"t":"` + strings.Repeat("x", brief) + `"}` + attempts + `}` + "\n"
	}
	for _, tt := range []struct {
		name  string
		lines string
		// want has "first line: entries" of each batch.
		want []string
	}{
		{"none", "\n \n", nil},
		{"one", "\n" + line(1, ""), []string{"2: 1"}},
		{"by number", strings.Repeat(line(1, ""), 2001), []string{"1: 1000", "1001: 1000", "2001: 1"}},
		{"by attempts", strings.Repeat(line(1, `,"attempts":64`), 17), []string{"1: 15", "16: 2"}},
		{"by size", strings.Repeat(line(1<<19, ""), 9), []string{"1: 7", "8: 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			err := readBatches(strings.NewReader(tt.lines), func(first int, specs []api.VerbSpec) error {
				got = append(got, fmt.Sprintf("%d: %d", first, len(specs)))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Error("-got +want", diff)
			}
		})
	}
}

func TestInputsAreNounsOrGroups(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]api.Input{
		"in/text":        {Key: "in/text"},
		"in/text@2":      {Key: "in/text@2"},
		"group:vg_1":     {Group: &api.GroupInput{Group: "vg_1"}},
		"group:vg_1:2":   {Group: &api.GroupInput{Group: "vg_1", Min: new(2)}},
		"mygroup:vg_1:2": {Key: "mygroup:vg_1:2"},
	} {
		got, err := parseInput(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: -got +want %s", in, diff)
		}
	}
	for _, in := range []string{"group:vg_1:", "group:vg_1:0", "group:vg_1:-1", "group:vg_1:x"} {
		if _, err := parseInput(in); err == nil {
			t.Errorf("%s: got no error", in)
		}
	}
}

func TestEarliestStartIsATimeOrFromNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for in, want := range map[string]time.Time{
		"90m":                       time.Date(2026, 1, 2, 4, 34, 5, 0, time.UTC),
		"2026-02-03T04:05:06+01:00": time.Date(2026, 2, 3, 3, 5, 6, 0, time.UTC),
	} {
		if got, err := parseTime(in, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestSettingsAreJSONOrBareWords(t *testing.T) {
	t.Parallel()
	got, err := parseSettings([]string{"a=1", "b=word", `c="x"`, "d=null", `e={"k":[1]}`, "f=a=b"})
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for name, value := range got {
		text[name] = string(value)
	}
	want := map[string]string{"a": "1", "b": `"word"`, "c": `"x"`, "d": "null", "e": `{"k":[1]}`, "f": `"a=b"`}
	if diff := cmp.Diff(text, want); diff != "" {
		t.Error("-got +want", diff)
	}
	for _, args := range [][]string{{"a"}, {"=1"}, {"a="}, {"a={"}, {"a=[1"}, {`a="x`}, {"a=two words"}, {"a=1", "a=2"}} {
		if _, err := parseSettings(args); err == nil {
			t.Errorf("%q: got no error", args)
		}
	}
}
