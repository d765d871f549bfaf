package sim

import (
	"math"
	"slices"
	"time"

	"github.com/skerryhq/skerry/sim/scenario"
)

// never is later than any time of a simulation.
const never = math.MaxInt64

// slowness in thousandths: how much longer than planned everything takes.
const (
	normal  = 1_000
	stalled = 0
)

// leakSteps is into how many even steps a leak's growth is cut.
const leakSteps = 50

// pace is how fast a server works over time: a sequence of stretches with one slowness
// each, the last without an end.
type pace struct {
	begins   []int64
	slowness []int64 // in thousandths; stalled is nothing at all
}

// newPace lays the episodes of a scenario over each other: factors multiply, and a stall
// stops everything.
func newPace(episodes []scenario.Episode, until time.Duration) pace {
	var all []stretch
	borders := []int64{0}
	for _, e := range episodes {
		for from := int64(e.From); ; from += int64(e.Every) {
			to := from + int64(e.To-e.From)
			for _, s := range stretches(e, from, to) {
				all = append(all, s)
				borders = append(borders, s.from, s.to)
			}
			if e.Every <= 0 || from+int64(e.Every) >= int64(until) {
				break
			}
		}
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	p := pace{begins: borders, slowness: make([]int64, len(borders))}
	for i, begin := range borders {
		p.slowness[i] = normal
		for _, s := range all {
			if s.from > begin || begin >= s.to {
				continue
			}
			p.slowness[i] = p.slowness[i] * s.slowness / normal
		}
	}
	return p
}

// stretch is a time of one slowness.
type stretch struct{ from, to, slowness int64 }

// stretches are what one occurrence of an episode does.
func stretches(e scenario.Episode, from, to int64) []stretch {
	factor := int64(math.Round(e.Factor * normal))
	switch e.Kind {
	case "stall":
		return []stretch{{from, to, stalled}}
	case "leak":
		grown := make([]stretch, leakSteps)
		for i := range grown {
			n, next := int64(i), int64(i+1)
			grown[i] = stretch{from + (to-from)*n/leakSteps, from + (to-from)*next/leakSteps, normal + (factor-normal)*next/leakSteps}
		}
		return grown
	}
	return []stretch{{from, to, factor}}
}

// at is the index of the stretch in force.
func (p pace) at(now int64) int {
	i, found := slices.BinarySearch(p.begins, now)
	if !found {
		i--
	}
	return i
}

// end is when a stretch ends.
func (p pace) end(i int) int64 {
	if i+1 < len(p.begins) {
		return p.begins[i+1]
	}
	return never
}

// finish is when work that takes so long at normal pace and begins now is done.
func (p pace) finish(now, work int64) int64 {
	for i := p.at(now); ; i++ {
		slowness, end := p.slowness[i], p.end(i)
		if slowness != stalled {
			need := scale(work, slowness)
			if need <= end-now {
				return now + need
			}
			work -= (end - now) * normal / slowness
		}
		now = end
		if now == never {
			return never
		}
	}
}

// done is how much work at normal pace is done from one time to another.
func (p pace) done(from, to int64) int64 {
	var work int64
	for i := p.at(from); from < to; i++ {
		end := min(p.end(i), to)
		if p.slowness[i] != stalled {
			work += (end - from) * normal / p.slowness[i]
		}
		from = end
	}
	return work
}

// scale multiplies a span by a slowness, and rounds up: work that is cut at a border
// must not be done before it is.
func scale(work, slowness int64) int64 { return (work*slowness + normal - 1) / normal }
