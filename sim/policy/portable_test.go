package policy

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

// TestDecisionsAreTheSameOnEveryArchitecture compares a long run with what it was when
// this was written. A compiler that fuses a product into a sum shows here, and so does
// any change of a rule: then the digest below has to follow.
func TestDecisionsAreTheSameOnEveryArchitecture(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"ours":      "28b29f4722cdfa47",
		"none":      "ec4adbba0e65c9ac",
		"fixed":     "c318668100a11806",
		"bucket":    "72120675a34c622f",
		"aimd":      "a7b93bfe37a1a4cf",
		"gradient2": "dd253dcb95418259",
		"vegas":     "c395e46b1c5ad2c3",
		"apf":       "126f606aa6a2a44d",
		"codel":     "00deca27c5bed744",
	}
	for _, name := range Names() {
		if got := digest(t, name); got != want[name] {
			t.Errorf("%q: %q,", name, got)
		}
	}
}

// digest is a hash of every decision and status of a busy hour, in which the service
// gets slower the more of it runs, and of it for a while besides.
func digest(t *testing.T, name string) string {
	pending := 200
	p := newPolicy(t, name, scenario.Settings{
		InitialConcurrency: 16, MaxConcurrency: 100, MaxPending: &pending, MaxWaitMs: 2000, TargetMs: 80,
	}, 42)
	draw := rand.New(rand.NewPCG(1, 2))
	sum := fnv.New64a()
	var running []admission.ID
	now := int64(0)
	note := func(ds []admission.Decision) {
		for _, d := range ds {
			fmt.Fprintln(sum, d)
			if d.Kind == admission.Start {
				running = append(running, d.ID)
			}
		}
		fmt.Fprintln(sum, p.Status())
	}
	for id := range admission.ID(20_000) {
		now += draw.Int64N(10 * millisecond)
		if at, ok := p.Next(); ok && at <= now {
			note(p.Tick(now))
		}
		note(p.Arrive(now, id, fmt.Sprint("p", draw.IntN(1+draw.IntN(50)))))
		if len(running) > 0 && draw.IntN(10) > 0 {
			i := draw.IntN(len(running))
			service := int64(len(running)) * (millisecond + draw.Int64N(3*millisecond))
			if id%5000 < 500 {
				service *= 20
			}
			done := running[i]
			running[i] = running[len(running)-1]
			running = running[:len(running)-1]
			note(p.Finish(now, done, service, draw.IntN(20) > 0))
		}
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}
