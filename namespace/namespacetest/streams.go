package namespacetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// checkStreams follows every query that can be followed as far as it goes, and
// takes it up again behind each of its frames.
func checkStreams(t testing.TB, s Suite) (wrong []error) {
	g, err := walked(t, s)
	if err != nil {
		return []error{err}
	}
	for _, e := range s.Queries {
		frames, problems, err := g.follow(t.Context(), e, "")
		if err != nil {
			return append(wrong, fmt.Errorf("example %s: %w", e.Name, err))
		}
		for _, problem := range problems {
			wrong = append(wrong, fmt.Errorf("example %s: %s", e.Name, problem))
		}
		if e.Route == "" || len(problems) > 0 {
			continue // it cannot be told where to go on
		}
		lines := told(frames)
		for n, f := range frames {
			rest, _, err := g.follow(t.Context(), e, f.ID)
			if err != nil {
				return append(wrong, fmt.Errorf("example %s, behind frame %s: %w", e.Name, f.ID, err))
			}
			if err := differ("example "+e.Name+" goes on behind frame "+f.ID, told(rest), lines[n+1:]); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	return wrong
}

// follow reads all that an example has to tell behind a frame, and says what is
// wrong with it. An example that cannot be followed has nothing to tell.
func (g *stage) follow(ctx context.Context, e Example, after string) (frames []namespace.Frame, problems []string, err error) {
	request := e.Request
	e.Request = func(done Answers) (r namespace.Request, err error) {
		if request != nil {
			r, err = request(done)
		}
		r.Stream, r.LastEventID = true, after
		return r, err
	}
	p, err := g.prepare(e)
	if err != nil {
		return nil, nil, err
	}
	q, ok := p.query.(namespace.Streaming)
	if !ok {
		if p.route != nil && p.route.Streams {
			problems = append(problems, "its route streams, and its query cannot be followed")
		}
		return nil, problems, nil
	}
	if len(q.Topics()) == 0 {
		problems = append(problems, "it has no topics, so that whoever follows it hears nothing more")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		step := &step{of: q}
		if _, err := g.Read(ctx, g.class().Name, p.caller(), step); err != nil {
			return nil, nil, err
		}
		frames = append(frames, step.frames...)
		if step.end || len(step.frames) == 0 {
			return frames, append(problems, frameProblems(frames)...), nil
		}
	}
}

// step is one step of a stream, as a query.
type step struct {
	of     namespace.Streaming
	frames []namespace.Frame
	end    bool
}

// Read takes the step.
func (s *step) Read(ctx context.Context, v *namespace.View) (a namespace.Answer, err error) {
	s.frames, s.end, err = s.of.Next(ctx, v)
	return a, err
}

func frameProblems(frames []namespace.Frame) (problems []string) {
	seen := map[string]bool{}
	for n, f := range frames {
		unprintable := func(r rune) bool { return r < ' ' || r > '~' }
		if f.ID == "" || len(f.ID) > 255 || seen[f.ID] || strings.ContainsFunc(f.ID, unprintable) {
			problems = append(problems, fmt.Sprintf("the id %q of its frame %d is not 1 to 255 printable ASCII characters, or is taken", f.ID, n))
		}
		seen[f.ID] = true
		if f.Event == "" || strings.ContainsFunc(f.Event, unprintable) {
			problems = append(problems, fmt.Sprintf("the type %q of its frame %d is not one line of printable ASCII", f.Event, n))
		}
		if _, err := namespace.Encode(f.Data); err != nil {
			problems = append(problems, fmt.Sprintf("its frame %d does not encode: %v", n, err))
		}
	}
	return problems
}

// told are frames as they are compared.
func told(frames []namespace.Frame) []string {
	lines := slices.Grow([]string{}, len(frames))
	for _, f := range frames {
		data, err := namespace.Encode(f.Data)
		lines = append(lines, fmt.Sprintf("%s %s %s %v", f.ID, f.Event, data, err))
	}
	return lines
}
