package python_test

import (
	"encoding/json"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func TestPythonWorkerWorksOnARun(t *testing.T) {
	t.Parallel()
	boss := startWorker(t, "run_worker.py", "words")
	spec := api.RunSpec{Kind: "words"}
	for _, text := range []string{`"one"`, `"one two"`, `7`, `"a b c"`, `""`, `"x y"`} {
		spec.Items = append(spec.Items, api.RunItemSpec{Payload: map[string]json.RawMessage{"text": json.RawMessage(text)}})
	}
	run, err := boss.SubmitRun(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if run, err = boss.WaitRun(t.Context(), run.ID); err != nil || run.Status != api.RunCompletedWithErrors || run.Progress.Failed != 1 {
		t.Fatalf("got %+v and %v, want one item failed", run, err)
	}
	want := []string{`{"words":1}`, `{"words":2}`, `null`, `{"words":3}`, `{"words":0}`, `{"words":2}`}
	n := 0
	for item, err := range boss.RunResults(t.Context(), run.ID, &client.ResultOptions{InputOrder: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if got := string(item.Result); got != want[n] && (got != "" || want[n] != "null") {
			t.Errorf("item %d: got %s, want %s", n, got, want[n])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("got %d results, want %d", n, len(want))
	}
}
