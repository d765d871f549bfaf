package namespacetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// checkRestart compares what the class has, and what its queries say, before and
// after the runtime has ended: properly, and without a drain, as a kill does.
func checkRestart(t testing.TB, s Suite) (wrong []error) {
	g, err := walked(t, s)
	if err != nil {
		return []error{err}
	}
	ctx := t.Context()
	before, said, err := g.state(ctx)
	if err != nil {
		return []error{err}
	}
	for _, end := range []struct {
		name string
		end  func(*namespace.Runtime) error
	}{
		{"a shutdown", func(r *namespace.Runtime) error { return r.Shutdown(ctx) }},
		{"a kill", (*namespace.Runtime).Close},
	} {
		if err := g.restart(ctx, end.end); err != nil {
			return append(wrong, err)
		}
		after, says, err := g.state(ctx)
		if err != nil {
			return append(wrong, fmt.Errorf("after %s: %w", end.name, err))
		}
		if err := differ("rows after "+end.name, after, before); err != nil {
			wrong = append(wrong, err)
		}
		if err := differ("answers after "+end.name, says, said); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// state is what the class has in the file, and what its queries answer. Asking
// must not change the file.
func (g *stage) state(ctx context.Context) (rows, answers []string, err error) {
	if rows, err = g.dump(ctx, nil); err != nil {
		return nil, nil, err
	}
	for _, e := range g.suite.Queries {
		out, err := g.send(ctx, e, "")
		if err != nil {
			return nil, nil, err
		}
		encoded, err := document(out.Answer)
		if err != nil {
			return nil, nil, fmt.Errorf("encode answer to %s: %w", e.Name, err)
		}
		answers = append(answers, fmt.Sprintf("%s: %d %s", e.Name, status(out.Answer), encoded))
	}
	again, err := g.dump(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	return rows, answers, differ("rows after the queries", again, rows)
}
