package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// shell runs a script for items.
func shell(t *testing.T, script string) itemRunner {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	e, _, _ := newEnv(nil)
	return itemRunner{&runner{path: path, args: []string{"-c", script}, environ: []string{"PATH=/usr/bin:/bin"}, screen: newScreen(e)}}
}

func TestCommandFindsItsItem(t *testing.T) {
	t.Parallel()
	shared, payload := json.RawMessage(`{"s":1}`), json.RawMessage(`{"p":"<&>"}`)
	for _, tt := range []struct {
		name      string
		job       client.RunJob
		document  string
		variables []string
	}{
		{
			"of a run",
			client.RunJob{Kind: "k", Run: "r1", Shared: shared, ID: "a b", InputIndex: 2, Payload: payload, Attempt: 3},
			`{"id":"a b","kind":"k","run":"r1","input_index":2,"attempt_count":3,"shared":{"s":1},"payload":{"p":"<&>"}}`,
			[]string{"SKERRY_INPUT_INDEX=2", "SKERRY_ITEM_ID=a b", "SKERRY_KIND=k", "SKERRY_RUN_ID=r1", "SKERRY_TRY=3"},
		},
		{
			"of a singular call",
			client.RunJob{Kind: "k", Scorer: "s", Shared: json.RawMessage(`{}`), ID: "item-0", Payload: payload, Attempt: 1},
			`{"id":"item-0","kind":"k","scorer":"s","run":null,"input_index":0,"attempt_count":1,"shared":{},"payload":{"p":"<&>"}}`,
			[]string{"SKERRY_INPUT_INDEX=0", "SKERRY_ITEM_ID=item-0", "SKERRY_KIND=k", "SKERRY_SCORER=s", "SKERRY_TRY=1"},
		},
		{
			"with an id that no variable can hold",
			client.RunJob{Kind: "k", Run: "r1", Shared: shared, ID: "a\x00", Payload: payload, Attempt: 1},
			`{"id":"a\u0000","kind":"k","run":"r1","input_index":0,"attempt_count":1,"shared":{"s":1},"payload":{"p":"<&>"}}`,
			[]string{"SKERRY_INPUT_INDEX=0", "SKERRY_KIND=k", "SKERRY_RUN_ID=r1", "SKERRY_TRY=1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			made, err := shell(t, "cat; env | grep ^SKERRY_ | LC_ALL=C sort").handle(t.Context(), &tt.job)
			if err != nil {
				t.Fatal(err)
			}
			document := json.NewDecoder(strings.NewReader(string(made)))
			var got json.RawMessage
			if err := document.Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), tt.document); diff != "" {
				t.Error("document: -got +want", diff)
			}
			rest := strings.Fields(strings.ReplaceAll(string(made[document.InputOffset():]), " ", "_"))
			if diff := cmp.Diff(rest, strings.Fields(strings.ReplaceAll(strings.Join(tt.variables, "\n"), " ", "_"))); diff != "" {
				t.Error("variables: -got +want", diff)
			}
		})
	}
}

func TestEndOfTheCommandDecidesOverTheItem(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]client.JobError{
		"echo one >&2; echo two >&2; exit 3":     {Code: "exit_3", Message: "two"},
		"exit 3":                                 {Code: "exit_3", Message: "exit status 3"},
		"printf 'one\\ntwo\\n\\n' >&2; exit 100": {Code: "exit_100", Message: "two", Final: true},
		"echo later >&2; exit 75":                {Code: codeRetry, Message: "later", Release: true},
		"kill -9 $$":                             {Code: "signal", Message: "signal: killed"},
		"yes":                                    {Code: "output_too_large", Message: "the output is larger than 1 MiB", Final: true},
	} {
		_, err := shell(t, script).handle(t.Context(), &client.RunJob{Kind: "k", ID: "a"})
		var got *client.JobError
		if !errors.As(err, &got) {
			t.Fatalf("%s: got %v", script, err)
		}
		if diff := cmp.Diff(*got, want); diff != "" {
			t.Errorf("%s: -got +want %s", script, diff)
		}
	}
	gone := shell(t, "")
	gone.path = "/no/such/command"
	_, err := gone.handle(t.Context(), &client.RunJob{Kind: "k", ID: "a"})
	var back *client.JobError
	if !errors.As(err, &back) || back.Code != codeNotRun || !back.Release {
		t.Errorf("got %v of a command that does not start, want the item handed back", err)
	}
}

func TestCommandThatIsBrokenOffSaysNothingOfItsItem(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	end(client.ErrStopping)
	_, err := shell(t, "exit 3").handle(ctx, &client.RunJob{Kind: "k", ID: "a"})
	if !errors.Is(err, client.ErrStopping) || errors.As(err, new(*client.JobError)) {
		t.Errorf("got %v, want why the work was broken off", err)
	}
}

func TestEachItemOfAQuantumIsTold(t *testing.T) {
	t.Parallel()
	run := "r1"
	o := client.QuantumOutcome{
		Quantum: &api.Quantum{ID: "q1", Run: &run, Kind: "k", Items: []api.QuantumItem{
			{ID: "a", AttemptCount: 1}, {ID: "b", AttemptCount: 1}, {ID: "c", AttemptCount: 1}, {ID: "d", AttemptCount: 2}, {ID: "e", AttemptCount: 1},
		}},
		Disposition: client.DoneCommitted,
		Committed: []api.ItemResult{
			{ID: "a", Status: api.ItemSucceeded}, {ID: "b", Status: api.ItemFailed, Error: &api.Failure{Code: "bad", Message: "one\ntwo"}},
		},
		Ignored: []api.IgnoredItem{{ID: "c", Reason: "cancelled"}},
		Errors:  map[string]error{"d": &client.JobError{Code: codeRetry, Message: "later", Release: true}},
	}
	e, out, errs := newEnv(nil)
	r := itemRunner{&runner{screen: newScreen(e)}}
	r.finished(o)
	want := "r1/a succeeded\nr1/b failed: bad: one two\nr1/c ignored: cancelled\nr1/d released: retry: later\nr1/e released\n"
	if got := errs.String(); got != want || out.Len() != 0 {
		t.Errorf("got %q and %q, want %q", got, out, want)
	}
	if !handedBack(&o) || handedBack(&client.QuantumOutcome{Errors: map[string]error{"a": errors.New("odd")}}) {
		t.Error("an item that the command hands back is not told from one that fails")
	}
	e.json = true
	o.Disposition, o.Err, o.Quantum.Items = client.DoneLost, client.ErrLeaseLost, o.Quantum.Items[4:]
	r.finished(o)
	if got, want := out.String(), `{"run":"r1","item":"e","kind":"k","quantum":"q1","try":1,"result":"lost","error":"lease lost"}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
