package policy

import (
	"fmt"
	"strings"

	"github.com/skerryhq/skerry/sim/scenario"
)

// entry is one policy that can be asked for by name.
type entry struct {
	name, about string
	make        func(b bounds, seed uint64) (Policy, error)
}

// entries returns every policy, in the order of reports.
func entries() []entry {
	plain := func(f func(bounds) Policy) func(bounds, uint64) (Policy, error) {
		return func(b bounds, _ uint64) (Policy, error) { return f(b), nil }
	}
	seeded := func(f func(bounds, uint64) Policy) func(bounds, uint64) (Policy, error) {
		return func(b bounds, seed uint64) (Policy, error) { return f(b, seed), nil }
	}
	return []entry{
		{
			"ours", "the production controller: AIMD by average service time, principals in turn, fair shares of the queue",
			func(b bounds, _ uint64) (Policy, error) { return newOurs(b) },
		},
		{
			"none", "no admission: everything starts at once",
			plain(func(bounds) Policy { return newNone() }),
		},
		{"fixed", "a fixed limit and one queue, first come first served", plain(newFixed)},
		{
			"bucket", "a token bucket of 60 a minute for each principal, without limit or queue",
			plain(func(bounds) Policy { return newBucket() }),
		},
		{"aimd", "Netflix's AIMD limit by a threshold of the service time, one queue without fairness", plain(newAIMD)},
		{"gradient2", "Netflix's Gradient2 limit by long and short service times, one queue without fairness", plain(newGradient2)},
		{"vegas", "Netflix's Vegas limit by the least service time, one queue without fairness", seeded(newVegas)},
		{"apf", "Kubernetes' API Priority and Fairness: a fixed limit, shuffle-sharded fair queues", seeded(newAPF)},
		{"codel", "Facebook's CoDel with adaptive LIFO, and a fixed limit", plain(newCodel)},
	}
}

// Names returns the names of all policies, the production controller's first, in the
// order of reports. The caller owns the slice.
func Names() []string {
	all := entries()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return names
}

// About says in one line, without a full stop, what the policy of that name is. It is
// empty if there is none.
func About(name string) string {
	e, _ := find(name)
	return e.about
}

// New returns the policy of that name with nothing in it. A zero of s stands for the
// product's default, and settings that the production controller would refuse are an
// error of every policy. The same seed gives the same policy; most draw nothing.
func New(name string, s scenario.Settings, seed uint64) (Policy, error) {
	e, ok := find(name)
	if !ok {
		return nil, fmt.Errorf("no policy %q: there are %s", name, strings.Join(Names(), ", "))
	}
	b, err := boundsOf(s)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	p, err := e.make(b, seed)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	return p, nil
}

func find(name string) (entry, bool) {
	for _, e := range entries() {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}
