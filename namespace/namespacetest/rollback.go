package namespacetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// errSpoiled is why a command fails that is to fail.
var errSpoiled = errors.New("the suite lets this fail")

// spoilKey is the idempotency key whose record cannot be stored.
const spoilKey = "spoil"

// spoiling sees to it that commands with that key fail once they have been
// carried out, when the runtime stores their answer.
type spoiling struct{}

// Apply makes the trigger that does it.
func (spoiling) Apply(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Exec(`CREATE TRIGGER suite_spoil BEFORE INSERT ON ns_idempotency WHEN new.key = '` + spoilKey + `'
		BEGIN SELECT raise(ABORT, '` + errSpoiled.Error() + `'); END`)
	return namespace.Answer{}, err
}

// spoiled is a command that is carried out and then fails by itself: one that
// keeps the record of its idempotency key, so that the runtime stores none.
type spoiled struct{ namespace.Command }

// Apply carries out the command, and fails.
func (c spoiled) Apply(t *namespace.Turn) (namespace.Answer, error) {
	if _, err := c.Command.Apply(t); err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{}, errSpoiled
}

// spoil carries out a command that then fails. One without an effect does not.
func (g *stage) spoil(ctx context.Context, p prepared) error {
	key := spoilKey
	if _, records := p.command.(namespace.Recorder); records {
		p.command, key = spoiled{p.command}, ""
	}
	out, err := g.sendPrepared(ctx, p, key)
	switch {
	case err == nil && !out.Answer.NoEffect:
		return fmt.Errorf("example %s succeeds when it is to fail", p.Name)
	case err != nil && !strings.Contains(err.Error(), errSpoiled.Error()):
		return fmt.Errorf("when it is to fail: %w", err)
	}
	return nil
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
	if _, err := g.Do(ctx, namespace.Call{Class: g.class().Name, Caller: namespace.Caller{Principal: "suite"}, Command: spoiling{}}); err != nil {
		return []error{fmt.Errorf("prepare to let commands fail: %w", err)}
	}
	for _, e := range s.Commands {
		before, err := g.dump(ctx, nil)
		if err != nil {
			return append(wrong, err)
		}
		p, err := g.prepare(e)
		if err != nil {
			return append(wrong, err)
		}
		if err := g.spoil(ctx, p); err != nil {
			return append(wrong, err)
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
