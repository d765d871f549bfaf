package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

func TestInputIsAStringOrAGroup(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]api.Input{
		`"in/text@2"`:              {Key: "in/text@2"},
		`{"group":"vg_1","min":2}`: {Group: &api.GroupInput{Group: "vg_1", Min: new(2)}},
		`{"group":"vg_1"}`:         {Group: &api.GroupInput{Group: "vg_1"}},
	} {
		got := api.Input{Key: "old", Group: &api.GroupInput{}}
		if err := json.Unmarshal([]byte(document), &got); err != nil {
			t.Errorf("%s: %v", document, err)
			continue
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", document, diff)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != document {
			t.Errorf("written again: got %s, %v, want %s", again, err, document)
		}
	}
	for _, document := range []string{`1`, `["a"]`, `{"group":"vg_1","max":2}`, `{"Group":"vg_1"}`, `{"group":"vg_1","MIN":2}`, `{"group":1}`, `{"group":"vg_1","min":"2"}`} {
		var got api.Input
		if err := json.Unmarshal([]byte(document), &got); err == nil {
			t.Errorf("%s: got %+v, want an error", document, got)
		}
	}
}

func TestVerbEntryIsAVerbOrAGroup(t *testing.T) {
	t.Parallel()
	verb := api.Verb{ID: "vb_1", Group: "vg_1", Brief: json.RawMessage(`{}`), Inputs: []api.VerbInput{}}
	for name, want := range map[string]api.VerbEntry{
		"verb":  {Verb: &verb},
		"group": {Group: &api.VerbGroup{Group: "vg_1", Verbs: []api.Verb{verb}}},
	} {
		document, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := api.VerbEntry{Verb: &api.Verb{}, Group: &api.VerbGroup{}}
		if err := json.Unmarshal(document, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}
