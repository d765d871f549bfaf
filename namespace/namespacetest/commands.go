package namespacetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/api"
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

// spoiled is a command that is carried out and then fails.
type spoiled struct{ namespace.Command }

var errSpoiled = errors.New("the suite lets this fail")

// Apply carries out the command, and fails.
func (c spoiled) Apply(t *namespace.Turn) (namespace.Answer, error) {
	if _, err := c.Command.Apply(t); err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{}, errSpoiled
}

// checkRollback lets each command fail after it was carried out, before it is
// carried out for good: nothing of the first time may be left, in the file or in
// the class's memory, or the end is another than without it.
func checkRollback(t testing.TB, s Suite) (wrong []error) {
	g, err := newStage(t, s)
	if err != nil {
		return []error{err}
	}
	ctx := t.Context()
	for _, e := range s.Commands {
		before, err := g.dump(ctx, nil)
		if err != nil {
			return append(wrong, err)
		}
		p, err := g.prepare(e)
		if err != nil {
			return append(wrong, err)
		}
		p.command = spoiled{p.command}
		if _, err := g.sendPrepared(ctx, p, ""); !errors.Is(err, errSpoiled) {
			return append(wrong, fmt.Errorf("when it is to fail: %w", err))
		}
		after, err := g.dump(ctx, nil)
		if err != nil {
			return append(wrong, err)
		}
		if err := differ("example "+e.Name+" failed and has left something", after, before); err != nil {
			wrong = append(wrong, err)
		}
		if _, err := g.send(ctx, e, ""); err != nil {
			return append(wrong, fmt.Errorf("after it has failed once: %w", err))
		}
	}
	return append(wrong, g.likePlain(t, "commands that fail once change the end")...)
}

// likePlain compares with a stage on which the commands were simply carried out.
func (g *stage) likePlain(t testing.TB, what string) []error {
	plain, err := walked(t, g.suite)
	if err != nil {
		return []error{err}
	}
	return g.like(t.Context(), plain, what)
}

func (g *stage) like(ctx context.Context, other *stage, what string) []error {
	want, err := other.dump(ctx, g.suite.Volatile)
	if err != nil {
		return []error{err}
	}
	got, err := g.dump(ctx, g.suite.Volatile)
	if err != nil {
		return []error{err}
	}
	if err := differ(what, got, want); err != nil {
		return []error{err}
	}
	return nil
}

// checkReplay sends each command twice with an idempotency key, and once more
// with another body.
func checkReplay(t testing.TB, s Suite) (wrong []error) {
	g, err := newStage(t, s)
	if err != nil {
		return []error{err}
	}
	for n, e := range s.Commands {
		p, err := g.prepare(e)
		if err != nil {
			return append(wrong, err)
		}
		key := fmt.Sprintf("key-%d", n)
		if p.route != nil && p.route.IgnoreIdempotencyKey {
			key = ""
		}
		first, err := g.send(t.Context(), e, key)
		if err != nil {
			return append(wrong, err)
		}
		if key == "" || first.Answer.NoEffect {
			continue
		}
		if err := g.again(t.Context(), p, key, first.Answer); err != nil {
			wrong = append(wrong, fmt.Errorf("example %s: %w", e.Name, err))
		}
	}
	return append(wrong, g.likePlain(t, "commands that are sent twice change the end")...)
}

// again sends a command that has been answered. p was prepared when the first
// was, from what was answered until then.
func (g *stage) again(ctx context.Context, p prepared, key string, first namespace.Answer) error {
	second, err := g.sendPrepared(ctx, p, key)
	if err != nil {
		return fmt.Errorf("sent again: %w", err)
	}
	want, err := document(first)
	if err != nil {
		return err
	}
	got, err := document(second.Answer)
	if err != nil {
		return err
	}
	if !second.Replayed || string(got) != string(want) || status(second.Answer) != status(first) {
		return fmt.Errorf("sent again: got replayed %v, status %d, %.200s; want true, %d, %.200s",
			second.Replayed, status(second.Answer), got, status(first), want)
	}
	p.body = append(slices.Clone(p.body), ' ')
	if _, err := g.sendPrepared(ctx, p, key); !api.IsCode(err, api.IdempotencyConflict) {
		return fmt.Errorf("sent with another body: got error %w, want %s", err, api.IdempotencyConflict)
	}
	return nil
}

// checkConcurrency lets commands come at once, while the writer is held, so that
// they are gathered into one commit and, where they have a batch form, carried
// out together.
func checkConcurrency(t testing.TB, s Suite) []error {
	if len(s.Concurrent) == 0 {
		return nil
	}
	together, err := walked(t, s)
	if err != nil {
		return []error{err}
	}
	apart, err := walked(t, s)
	if err != nil {
		return []error{err}
	}
	if err := together.atOnce(t.Context(), s.Concurrent); err != nil {
		return []error{err}
	}
	for _, e := range s.Concurrent {
		if _, err := apart.send(t.Context(), e, ""); err != nil {
			return []error{err}
		}
	}
	return together.like(t.Context(), apart, "commands that come at once leave other tables than one by one")
}

// held is a command that keeps the writer until it is let go.
type held struct {
	reached func()
	free    <-chan struct{}
}

// Apply waits.
func (h held) Apply(*namespace.Turn) (namespace.Answer, error) {
	h.reached()
	<-h.free
	return namespace.Answer{NoEffect: true}, nil
}

// Lane is before all others.
func (held) Lane() namespace.Lane { return namespace.LaneUrgent }

func (g *stage) atOnce(ctx context.Context, examples []Example) error {
	calls := make([]prepared, len(examples))
	for n, e := range examples {
		var err error
		if calls[n], err = g.prepare(e); err != nil {
			return err
		}
	}
	reached, free := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		c := held{sync.OnceFunc(func() { close(reached) }), free}
		_, _ = g.Do(ctx, namespace.Call{Class: g.class().Name, Caller: namespace.Caller{Principal: "suite"}, Command: c})
	})
	<-reached
	errs := make([]error, len(calls))
	for n, p := range calls {
		wg.Go(func() { _, errs[n] = g.sendPrepared(ctx, p, "") })
	}
	// These pass through the same mailbox, which gives the others time to get
	// there. Whoever has not goes into a later commit, which must make no
	// difference either.
	var err error
	for range 8 * len(calls) {
		_, passed := g.Admission(ctx, namespace.Caller{Principal: "suite"})
		err = errors.Join(err, passed)
	}
	close(free)
	wg.Wait()
	return errors.Join(append(errs, err)...)
}
