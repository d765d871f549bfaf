package namespace_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// step is one command of a scenario, as data.
type step struct {
	op   string
	kind string
	n    int
	key  string
}

// steps draws scenarios, in which a step may be sent again.
func steps() *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		var all []step
		for range rapid.IntRange(1, 16).Draw(t, "steps") {
			if len(all) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
				all = append(all, rapid.SampledFrom(all).Draw(t, "which"))
				continue
			}
			all = append(all, step{
				op:   rapid.SampledFrom([]string{"put", "take", "bulk", "bulk", "bulk", "refused", "spoilt", "note", "drop"}).Draw(t, "op"),
				kind: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "kind"),
				n:    rapid.IntRange(1, 3).Draw(t, "n"),
				key:  rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "key"),
			})
		}
		return all
	})
}

// arriving is a command that tells when it has come to the writer's queue, which
// is when it is asked for its lane.
type arriving struct {
	act
	arrived func()
}

func (a arriving) Lane() namespace.Lane {
	a.arrived()
	return namespace.LaneNormal
}

// call is the command of a step. All are in one lane, so that a commit keeps
// their order.
func (s step) call(j *journal, arrived func()) namespace.Call {
	var c namespace.Command
	switch s.op {
	case "put":
		c = put(s.kind, s.n)
	case "take":
		c = act(take(s.kind, 0).act)
	case "bulk":
		c = bulk{kind: s.kind, journal: j, spoil: s.n == 2 && s.kind == "x", refuse: s.n == 3 && s.kind == "x", arrived: arrived}
	case "refused":
		c = act(func(*namespace.Turn) (namespace.Answer, error) {
			return namespace.Answer{}, api.Errorf(api.Conflict, "refused")
		})
	case "spoilt":
		c = act(spoilt)
	case "note":
		c = appendTo(s.kind, s.n)
	case "drop":
		c = act(func(t *namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, t.DropEvents(s.kind) })
	}
	if a, ok := c.(act); ok {
		c = arriving{a, arrived}
	}
	if s.key == "" {
		return call(c)
	}
	return keyed(s.key+s.op+s.kind+fmt.Sprint(s.n), "body", c)
}

// tables is what the class's and the runtime's tables hold, without what differs
// by design: times, and fences, of which only the order counts.
func (w *world) tables() []string {
	var dump []string
	_, err := w.Read(context.Background(), "depot", me, ask(func(_ context.Context, v *namespace.View) (namespace.Answer, error) {
		for _, sql := range []string{
			`SELECT printf('item %d %s %s %d', id, kind, coalesce(holder, ''), dense_rank() OVER (ORDER BY fence)) FROM depot_item ORDER BY id`,
			`SELECT printf('event %s %d %s', stream, sequence, body) FROM ns_event ORDER BY stream, sequence`,
			`SELECT printf('record %s %d %s', key, status, body) FROM ns_idempotency ORDER BY key`,
		} {
			rows, err := v.Query(sql)
			if err != nil {
				return namespace.Answer{}, err
			}
			for rows.Next() {
				var line string
				if err := rows.Scan(&line); err != nil {
					return namespace.Answer{}, err
				}
				dump = append(dump, line)
			}
			if err := rows.Close(); err != nil {
				return namespace.Answer{}, err
			}
		}
		return namespace.Answer{}, nil
	}))
	if err != nil {
		w.t.Errorf("dump: %v", err)
	}
	return dump
}

// The same commands leave the same tables, and get the same answers, in one
// commit, each in its own, and with the namespace passivated or killed between
// two of them.
func TestTablesDoNotDependOnHowCommandsAreGathered(t *testing.T) {
	t.Parallel()
	relaxed := withSettings(func(s *namespace.Settings) { s.Durability = "relaxed" })
	together, alone, apart := newWorld(t, relaxed), newWorld(t, relaxed), newWorld(t, relaxed)
	j := &journal{}
	rapid.Check(t, func(t *rapid.T) {
		scenario := steps().Draw(t, "steps")
		restart := rapid.IntRange(0, len(scenario)-1).Draw(t, "restart after")
		properly := rapid.Bool().Draw(t, "properly")
		for _, w := range []*world{together, alone, apart} {
			w.must(call(act(empty)))
		}
		results := map[*world][]string{
			together: together.atOnce(scenario, j),
			alone:    alone.oneByOne(scenario, j, func(int) {}),
			apart: apart.oneByOne(scenario, j, func(n int) {
				if n == restart {
					apart.restart(properly)
				}
			}),
		}
		for what, w := range map[string]*world{"each alone": alone, "with restarts": apart} {
			if diff := cmp.Diff(w.tables(), together.tables()); diff != "" {
				t.Errorf("%s, against one commit: tables (-got +want):\n%s", what, diff)
			}
			if diff := cmp.Diff(results[w], results[together]); diff != "" {
				t.Errorf("%s, against one commit: answers (-got +want):\n%s", what, diff)
			}
		}
	})
}

// empty takes everything out of the tables.
func empty(t *namespace.Turn) (namespace.Answer, error) {
	for _, sql := range []string{`DELETE FROM depot_item`, `DELETE FROM ns_event`, `DELETE FROM ns_idempotency`} {
		if _, err := t.Exec(sql); err != nil {
			return namespace.Answer{}, err
		}
	}
	return namespace.Answer{}, nil
}

// shown is an outcome as it is compared.
func shown(out namespace.Outcome, err error) string {
	if err != nil {
		return string(api.AsError(err).Code)
	}
	document, ok := out.Answer.Encoded()
	if !ok {
		var err error
		if document, err = namespace.Encode(out.Answer.Body); err != nil {
			return err.Error()
		}
	}
	return fmt.Sprintf("%s replayed %v", document, out.Replayed)
}

func (w *world) oneByOne(scenario []step, j *journal, between func(n int)) []string {
	results := make([]string, len(scenario))
	for n, s := range scenario {
		results[n] = shown(w.Do(context.Background(), s.call(j, func() {})))
		between(n)
	}
	return results
}

// atOnce lets the commands arrive one after another while the writer is held, so
// that they go into one commit, or, where a key comes again, which would be in
// progress, into as few as that allows.
func (w *world) atOnce(scenario []step, j *journal) []string {
	results := []string{}
	for len(scenario) > 0 {
		n := distinct(scenario)
		b := w.hold()
		calls := make([]*pending, n)
		for k, s := range scenario[:n] {
			arrived := make(chan struct{})
			calls[k] = w.start(s.call(j, sync.OnceFunc(func() { close(arrived) })))
			<-arrived
		}
		b.lift()
		for _, p := range calls {
			results = append(results, shown(p.outcome()))
		}
		scenario = scenario[n:]
	}
	return results
}

// distinct is how many steps, from the first on, bear no key twice.
func distinct(scenario []step) int {
	seen := map[string]bool{}
	for n, s := range scenario {
		if key := s.call(nil, nil).Idempotency.Key; key != "" {
			if seen[key] {
				return n
			}
			seen[key] = true
		}
	}
	return len(scenario)
}
