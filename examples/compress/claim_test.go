package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// claimDocument is a claim as a worker hands it on.
func claimDocument(t *testing.T, attempt int, methods []method, inputs []input) io.Reader {
	t.Helper()
	var c claim
	c.Verb.Attempt, c.Verb.Brief.Methods, c.Inputs = attempt, methods, inputs
	return bytes.NewReader(marshal(t, c))
}

func TestAttemptTakesItsMethodFromTheBrief(t *testing.T) {
	t.Parallel()
	m := installed(t)
	inputs := claimInputs(t, []int64{0}, []byte(originalText))[1:]
	for i, want := range m {
		var out bytes.Buffer
		err := runAttempt(t.Context(), claimDocument(t, i+1, m, inputs), &out)
		if err != nil || !bytes.Equal(out.Bytes(), pack(t, want, originalText)) {
			t.Errorf("attempt %d: %v, or the output is not that of %s", i+1, err, want)
		}
	}
}

func TestAttemptRefusesWhatNoOtherCouldDo(t *testing.T) {
	t.Parallel()
	m := installed(t)
	inputs := claimInputs(t, []int64{0}, []byte(originalText))
	for name, in := range map[string]io.Reader{
		"no claim":         strings.NewReader("none"),
		"no attempt":       claimDocument(t, 0, m, inputs[1:]),
		"attempt too high": claimDocument(t, 4, m, inputs[1:]),
		"two inputs":       claimDocument(t, 1, m, inputs),
		"another program":  claimDocument(t, 1, []method{{"rm", 1}}, inputs[1:]),
		"another level":    claimDocument(t, 1, []method{{"gzip", 20}}, inputs[1:]),
	} {
		var out bytes.Buffer
		if err := runAttempt(t.Context(), in, &out); !errors.Is(err, errUnfit) || out.Len() > 0 {
			t.Errorf("%s: %v and %d bytes, want %v", name, err, out.Len(), errUnfit)
		}
	}
	gone := []input{{Path: inputs[1].Path + ".gone"}}
	if err := runAttempt(t.Context(), claimDocument(t, 1, m, gone), io.Discard); err == nil || errors.Is(err, errUnfit) {
		t.Errorf("an input that cannot be read: %v, want an error that another attempt may not meet", err)
	}
}
