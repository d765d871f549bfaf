package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
)

const originalText = "as it was, as it was, as it was, as it was, as it was, as it was"

// installed returns methods that can be used here, three of them.
func installed(t *testing.T) []method {
	t.Helper()
	methods, err := installedMethods(exec.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	return methods[:attemptsPerFile]
}

// pack is text compressed by a method.
func pack(t *testing.T, m method, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := m.compress(t.Context(), []byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// claimInputs are the inputs of a comparison with the alternatives given, of which
// each has the size that is claimed for it.
func claimInputs(t *testing.T, sizes []int64, packed ...[]byte) []input {
	t.Helper()
	dir := t.TempDir()
	inputs := []input{{Ref: "in/a@1", Digest: digest([]byte(originalText)), Size: int64(len(originalText))}}
	for i, data := range packed {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, input{
			Ref: fmt.Sprintf("packed/a/%d@1", i+1), Digest: digest(data), Size: sizes[i], Group: "vg", Attempt: i + 1, Path: path,
		})
	}
	return inputs
}

func TestJudgeChoosesTheSmallestThatRestores(t *testing.T) {
	t.Parallel()
	m := installed(t)
	good := make([][]byte, len(m))
	for i := range m {
		good[i] = pack(t, m[i], originalText)
	}
	other := pack(t, m[0], "something else")
	for _, tt := range []struct {
		name     string
		packed   [][]byte
		sizes    []int64
		restores []bool
		want     int
	}{
		{"smallest wins", good, []int64{30, 10, 20}, []bool{true, true, true}, 2},
		{"earliest of equals wins", good, []int64{20, 10, 10}, []bool{true, true, true}, 2},
		{"one that restores something else loses", [][]byte{other, good[1], good[2]}, []int64{1, 20, 10}, []bool{false, true, true}, 3},
		{"one that is damaged loses", [][]byte{good[0], good[1][:5], good[2]}, []int64{10, 1, 20}, []bool{true, false, true}, 1},
		{"one that failed is not there", good[:2], []int64{10, 9}, []bool{true, true}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inputs := claimInputs(t, tt.sizes, tt.packed...)
			got, err := judge(t.Context(), brief{Methods: m}, inputs)
			if err != nil {
				t.Fatal(err)
			}
			want := &verdict{Original: api.NounRef{Ref: inputs[0].Ref, Digest: inputs[0].Digest}}
			for i, in := range inputs[1:] {
				want.Alternatives = append(want.Alternatives, alternative{
					Attempt: in.Attempt, Method: m[i], Ref: in.Ref, Digest: in.Digest, Size: in.Size, Restores: tt.restores[i],
				})
			}
			want.Winner = want.Alternatives[tt.want-1]
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("verdict (-got +want):\n%s", diff)
			}
		})
	}
}

func TestJudgeGivesUpWhereNoAttemptCanHelp(t *testing.T) {
	t.Parallel()
	m := installed(t)
	other := pack(t, m[0], "something else")
	alone := claimInputs(t, nil)
	second := claimInputs(t, []int64{1, 1}, other, other)
	for name, inputs := range map[string][]input{
		"nothing restores":    claimInputs(t, []int64{1}, other),
		"no alternatives":     alone,
		"no original":         second[1:],
		"more than the brief": append(alone, input{Attempt: 4, Group: "vg"}),
	} {
		if v, err := judge(t.Context(), brief{Methods: m}, inputs); !errors.Is(err, errUnfit) {
			t.Errorf("%s: %+v, %v, want %v", name, v, err, errUnfit)
		}
	}
}

func TestRunJudgeWritesTheVerdictOnAClaim(t *testing.T) {
	t.Parallel()
	m := installed(t)
	inputs := claimInputs(t, []int64{9, 8}, pack(t, m[0], originalText), pack(t, m[1], originalText))
	var out bytes.Buffer
	if err := runJudge(t.Context(), claimDocument(t, 0, m, inputs), &out); err != nil {
		t.Fatal(err)
	}
	var got verdict
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Winner.Attempt != 2 {
		t.Errorf("verdict %+v, %v, want that attempt 2 wins", got, err)
	}
}
