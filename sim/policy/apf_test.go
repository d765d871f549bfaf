package policy

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

// twoLanes is a queue of two lanes and hands of one card, with a name that belongs to
// each of them.
func twoLanes(length int) (q *apf, p Policy, names [2]string) {
	q = &apf{length: length, hand: 1, limit: 1, maxWait: second}
	q.open(2)
	for i := 0; names[0] == "" || names[1] == ""; i++ {
		name := strconv.Itoa(i)
		names[hash(q.seed, name)%2] = name
	}
	return q, newDesk(bounds{target: 100 * millisecond}, constant(1), q), names
}

func checkVirtual(t *testing.T, q *apf, r, first, other float64) {
	t.Helper()
	got := [3]float64{q.r, q.lanes[0].next, q.lanes[1].next}
	if want := [3]float64{r * millisecond, first * millisecond, other * millisecond}; got != want {
		t.Fatalf("virtual time and starts of the lanes %v, want %v", got, want)
	}
}

func TestAPFServesWhoseVirtualStartIsLeast(t *testing.T) {
	t.Parallel()
	q, p, names := twoLanes(10)
	hog, mouse := names[0], names[1]
	play(t, p, `
		0 arrive 1 `+hog+`: start 1
		0 arrive 2 `+hog+`: enqueue 2
		0 arrive 3 `+hog+`: enqueue 3`)
	checkVirtual(t, q, 0, 3, 0) // the guess is 3 ms
	play(t, p, `10 arrive 4 `+mouse+`: enqueue 4`)
	checkVirtual(t, q, 10, 3, 10) // one lane had all of the one slot
	play(t, p, `20 finish 1 20: finished 1, start 4`)
	checkVirtual(t, q, 15, 20, 13) // two lanes share it; 3 + 20 − 3, and 10 + 3
	play(t, p, `20 arrive 5 `+mouse+`: enqueue 5`)
	checkVirtual(t, q, 15, 20, 15) // no start before the arrival
	play(t, p, `30 finish 4 10: finished 4, start 2`)
	checkVirtual(t, q, 20, 23, 22)
	play(t, p, `
		40 finish 2 10: finished 2, start 5
		50 finish 5 10: finished 5, start 3`)
	checkVirtual(t, q, 30, 33, 32)
	play(t, p, `60 fail 3 10: finished 3`)
	checkVirtual(t, q, 40, 40, 32)
	if q.active != 0 || q.executing != 0 {
		t.Errorf("%d lanes active, %d requests run after the end", q.active, q.executing)
	}
	// Nothing goes on, so that the virtual time stands still; and absence has neither
	// credit nor debt.
	play(t, p, `90 arrive 6 `+mouse+`: start 6`)
	checkVirtual(t, q, 40, 40, 43)
}

func TestAPFSavesUpNothingWhileSlotsAreFree(t *testing.T) {
	t.Parallel()
	q, p, names := twoLanes(10)
	q.limit = 2
	p.(*desk).limiter = constant(2)
	play(t, p, `
		0 arrive 1 `+names[0]+`: start 1
		10 arrive 2 `+names[0]+`: start 2`)
	// Its lane had one of two slots for 10 ms, and would have started at 3.
	checkVirtual(t, q, 10, 13, 0)
}

func TestAPFTakesTurnsBetweenEqualLanes(t *testing.T) {
	t.Parallel()
	for served, want := range []string{"start 3", "start 2"} {
		q, p, names := twoLanes(10)
		play(t, p, `
			0 arrive 1 `+names[0]+`: start 1
			0 arrive 2 `+names[0]+`: enqueue 2
			0 arrive 3 `+names[1]+`: enqueue 3`)
		// The finish takes the guess but 1 ns from lane 0, so that both are level.
		q.lanes[0].next = q.lanes[1].next + apfGuess - 1
		q.robin = served
		play(t, p, `0 finish 1 0: finished 1, `+want)
	}
}

func TestAPFRefusesWhenTheLaneIsFull(t *testing.T) {
	t.Parallel()
	_, p, names := twoLanes(1)
	play(t, p, `
		0 arrive 1 `+names[0]+`: start 1
		0 arrive 2 `+names[0]+`: enqueue 2
		0 arrive 3 `+names[0]+`: refuse 3 (pending queue full, 1)
		0 arrive 4 `+names[1]+`: enqueue 4
		1 cancel 2: cancelled 2
		2 arrive 5 `+names[0]+`: enqueue 5
		1000 tick: refuse 4 (wait deadline, 1)
		1002 tick: refuse 5 (wait deadline, 1)`)
}

func TestAPFKeepsAFloodInItsHand(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, "apf", scenario.Settings{}, 7)
	outcomes := map[admission.Kind]int{}
	for id := range admission.ID(400) {
		outcomes[p.Arrive(0, id, "flood")[0].Kind]++
	}
	// 32 run; 2048 waiters over 64 lanes are 32 each, in 8 lanes.
	if outcomes[admission.Start] != 32 || outcomes[admission.Enqueue] != 256 || outcomes[admission.Refuse] != 112 {
		t.Fatalf("outcomes %v", outcomes)
	}
	for i := range admission.ID(50) {
		name := "other-" + strconv.Itoa(int(i))
		if ds := p.Arrive(0, 1000+i, name); ds[0].Kind != admission.Enqueue {
			t.Errorf("%s: %s", name, describe(ds))
		}
	}
}

func TestHandsAreDealtFromTheCardsThatAreLeft(t *testing.T) {
	t.Parallel()
	for h, want := range map[uint64][]uint8{
		0:  {0, 1}, // the first, and the first of 1, 2, 3
		7:  {3, 1}, // 7 is 3 + 4 × 1
		11: {3, 2},
		10: {2, 3}, // the third of 0, 1, 3
	} {
		if got := deal(make([]uint8, 2), 4, h); !slices.Equal(got, want) {
			t.Errorf("hand of %d: %v, want %v", h, got, want)
		}
	}
	hands := map[[2]uint8]bool{}
	for h := range uint64(12) {
		hands[[2]uint8(deal(make([]uint8, 2), 4, h))] = true
	}
	if len(hands) != 12 {
		t.Errorf("%d different hands of two out of four cards, want 12", len(hands))
	}
}

func TestHandsHoldDifferentCards(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		deck := rapid.IntRange(1, apfQueues).Draw(t, "deck")
		hand := deal(make([]uint8, rapid.IntRange(1, min(deck, apfHand)).Draw(t, "hand")), deck, rapid.Uint64().Draw(t, "hash"))
		slices.Sort(hand)
		if int(hand[len(hand)-1]) >= deck || len(slices.Compact(hand)) != len(hand) {
			t.Fatalf("hand %v of %d", hand, deck)
		}
	})
}

func TestHandsHangOnNameAndSeed(t *testing.T) {
	t.Parallel()
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		for i := range 100 {
			seen[hash(seed, "principal-"+strconv.Itoa(i))] = true
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d different hashes of 1000", len(seen))
	}
}
