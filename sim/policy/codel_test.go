package policy

import (
	"testing"

	"github.com/skerryhq/skerry/sim/scenario"
)

func TestCodelTurnsToTheNewestOnceTheQueueStands(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, "codel", scenario.Settings{Fixed: 1}, 1)
	play(t, p, `
		0 arrive 1 A: start 1
		0 arrive 2 A: enqueue 2
		50 arrive 3 A: enqueue 3
		60 arrive 4 A: enqueue 4
		60 finish 1 60: finished 1, start 2
		100 arrive 5 A: enqueue 5
		101 arrive 6 A: enqueue 6
		102 arrive 7 A: enqueue 7
		102 finish 2 42: finished 2, start 7
		105 tick: 
		106 tick: refuse 6 (wait deadline, 1)
		149 tick: 
		150 tick: refuse 3 (wait deadline, 1)
		159 finish 7 57: finished 7, start 5
		160 arrive 8 A: refuse 4 (wait deadline, 1), enqueue 8`)
	if at, ok := p.Next(); at != 260*millisecond || !ok {
		t.Errorf("next at %d, %v, want 260 ms: the queue was empty a moment ago", at, ok)
	}
	play(t, p, `
		200 arrive 9 A: enqueue 9
		260 finish 5 100: refuse 8 (wait deadline, 1), finished 5, start 9`)
}

func TestCodelServesABurstInOrder(t *testing.T) {
	t.Parallel()
	play(t, newPolicy(t, "codel", scenario.Settings{Fixed: 1}, 1), `
		0 arrive 1 A: start 1
		0 arrive 2 A: enqueue 2
		0 arrive 3 A: enqueue 3
		0 arrive 4 A: enqueue 4
		30 finish 1 30: finished 1, start 2
		60 finish 2 30: finished 2, start 3
		90 cancel 4: cancelled 4
		99 finish 3 39: finished 3`)
}

func TestCodelRefusesInOrderOfDeadlines(t *testing.T) {
	t.Parallel()
	play(t, newPolicy(t, "codel", scenario.Settings{Fixed: 1}, 1), `
		0 arrive 1 A: start 1
		0 arrive 2 A: enqueue 2
		99 arrive 3 A: enqueue 3
		99 finish 1 99: finished 1, start 2
		101 arrive 4 A: enqueue 4
		103 arrive 5 A: enqueue 5
		500 tick: refuse 4 (wait deadline, 1), refuse 5 (wait deadline, 1), refuse 3 (wait deadline, 1)`)
}

func TestCodelObeysAShorterMaximumWaitAndTheBoundOfTheQueue(t *testing.T) {
	t.Parallel()
	pending := 2
	play(t, newPolicy(t, "codel", scenario.Settings{Fixed: 1, MaxWaitMs: 4, MaxPending: &pending}, 1), `
		0 arrive 1 A: start 1
		0 arrive 2 A: enqueue 2
		1 arrive 3 A: enqueue 3
		2 arrive 4 A: refuse 4 (pending queue full, 1)
		4 tick: refuse 2 (wait deadline, 1)
		5 tick: refuse 3 (wait deadline, 1)`)
}
