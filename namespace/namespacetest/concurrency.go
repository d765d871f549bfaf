package namespacetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

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
