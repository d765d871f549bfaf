package runs

import (
	"sync"

	"github.com/skerryhq/skerry/api"
)

// seenMs is how long a worker that has asked is taken to be there.
const seenMs = 60_000

// maxSeen bounds the pairs of pool and kind that are remembered of those who do not
// ask any more.
const maxSeen = 4_096

// seen remembers who has asked for work, so that a run that waits can say for what.
// It is safe for concurrent use; times are in ms.
type seen struct {
	mu sync.Mutex
	// asked holds when work of a kind was asked for last, by pool and kind; under
	// the empty kind when work of any kind was.
	asked map[[2]string]int64
	// picked holds when a pool's quantum of a kind was granted last.
	picked map[[2]string]int64
}

func newSeen() *seen {
	return &seen{asked: map[[2]string]int64{}, picked: map[[2]string]int64{}}
}

// ask notes that a worker of the pool asks for kinds, or for any, and goes on asking
// until the given time.
func (s *seen) ask(pool string, kinds []string, until int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(kinds) == 0 {
		kinds = []string{""}
	}
	for _, kind := range kinds {
		key := [2]string{pool, kind}
		s.asked[key] = max(s.asked[key], until)
	}
	if len(s.asked) > maxSeen {
		s.prune(until)
	}
}

// prune forgets who has not asked for long; if everybody has, it begins anew.
func (s *seen) prune(now int64) {
	for key, until := range s.asked {
		if until < now-2*seenMs {
			delete(s.asked, key)
			delete(s.picked, key)
		}
	}
	if len(s.asked) > maxSeen {
		clear(s.asked)
		clear(s.picked)
	}
}

// pick notes that a worker who offers the kinds was given something to do until the
// given time.
func (s *seen) pick(pool string, kinds []string, now, until int64) {
	s.ask(pool, kinds, until)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(kinds) == 0 {
		kinds = []string{""}
	}
	for _, kind := range kinds {
		s.picked[[2]string{pool, kind}] = now
	}
}

// waiting says what a run waits for of which no item is being worked on.
func (s *seen) waiting(kind string, since, now int64) *api.RunWaiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, any := [2]string{api.PoolDurable, kind}, [2]string{api.PoolDurable, ""}
	w := &api.RunWaiting{Reason: "slot", ForMs: max(now-since, 0)}
	switch {
	case max(s.asked[own], s.asked[any]) <= now-seenMs:
		w.Reason = "worker"
	case max(s.picked[own], s.picked[any]) > since:
		w.Reason = "turn"
	}
	return w
}
