package namespacetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

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
