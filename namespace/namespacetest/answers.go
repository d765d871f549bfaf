package namespacetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// checkAnswers carries out every example and looks at what it answers.
func checkAnswers(t testing.TB, s Suite) (wrong []error) {
	g, err := newStage(t, s)
	if err != nil {
		return []error{err}
	}
	for _, e := range slices.Concat(s.Commands, s.Concurrent, s.Queries) {
		p, err := g.prepare(e)
		if err != nil {
			return append(wrong, err)
		}
		out, err := g.send(t.Context(), e, "")
		if err != nil {
			return append(wrong, err)
		}
		wrong = append(wrong, answerProblems(p, out.Answer)...)
	}
	return wrong
}

func answerProblems(p prepared, a namespace.Answer) (wrong []error) {
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("example "+p.Name+": "+format, args...))
	}
	if got := status(a); got < 200 || got > 299 {
		say("its status is %d, which is not one of success", got)
	}
	if r := p.route; r != nil {
		announced := max(r.Status, 0)
		if announced == 0 {
			announced = 200
		}
		if got := status(a); got != announced {
			say("its status is %d, and that of its route %d", got, announced)
		}
	}
	if a.Await {
		say("it waits, which an example must not")
	}
	encoded, err := document(a)
	switch {
	case err != nil:
		say("its answer does not encode: %w", err)
	case a.Raw == nil && p.route != nil && !strings.HasPrefix(string(encoded), "{"):
		say("its answer is no JSON document: %.40s", encoded)
	case a.Raw != nil && a.Raw.MediaType == "":
		say("its answer has no media type")
	case p.command != nil && a.Raw != nil:
		say("it answers with bytes, which are not stored for an idempotency key")
	}
	return wrong
}
