package policy

// hand holds the numbers of the lanes that a principal may join.
type hand [apfHand]uint8

// choose returns the lane with the fewest waiters in the hand of r's principal. Each
// time it begins with another one, so that the lanes dealt first are not worn out.
func (q *apf) choose(r *request) *lane {
	h, known := q.hands[r.principal]
	if !known {
		deal(h[:q.hand], len(q.lanes), hash(q.seed, r.principal))
		q.hands[r.principal] = h
	}
	var best *lane
	at := q.arrivals % q.hand
	for range q.hand {
		if l := &q.lanes[h[at]]; best == nil || l.line.length < best.line.length {
			best = l
		}
		if at++; at == q.hand {
			at = 0
		}
	}
	q.arrivals++
	return best
}

// deal fills hand with different cards below deck, which is 64 at most. The digits of h in the mixed radix
// deck, deck − 1, … pick each card from those that are left, so that every hand is as
// likely as any other if h is.
func deal(hand []uint8, deck int, h uint64) []uint8 {
	var dealt [apfHand]uint8 // sorted
	for i := range hand {
		left := uint64(deck - i)
		card := uint8(h % left)
		h /= left
		at := 0
		for ; at < i && dealt[at] <= card; at++ {
			card++
		}
		copy(dealt[at+1:i+1], dealt[at:i])
		dealt[at] = card
		hand[i] = card
	}
	return hand
}

// hash is FNV-1a (Fowler, Noll and Vo, 1991) of seed and name, stirred by the last
// steps of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014): names that differ at their end only differ everywhere.
func hash(seed uint64, name string) uint64 {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3
	h := mix(seed ^ offset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	return mix(h)
}

func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
