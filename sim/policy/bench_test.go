package policy

import (
	"strconv"
	"testing"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

// load drives a policy with the arrivals of 1,000 principals.
type load struct {
	p       Policy
	names   []string
	now     int64
	last    admission.ID   // to arrive
	running []admission.ID // in a ring
	first   int
	started int
}

const (
	loadPrincipals = 1000
	// loadPause is long enough for a principal to have a token whenever it asks.
	loadPause = second / loadPrincipals * 2
)

// newLoad makes the given number of requests wait, if the policy has a queue.
func newLoad(tb testing.TB, name string, waiting int) *load {
	l := &load{
		p:       newPolicy(tb, name, scenario.Settings{MaxConcurrency: 32, MaxWaitMs: 1 << 30, TargetMs: 1 << 30}, 1),
		running: make([]admission.ID, 1<<14),
	}
	for i := range loadPrincipals {
		l.names = append(l.names, "principal-"+strconv.Itoa(i))
	}
	if waiting > 0 {
		for range 32 + waiting {
			l.arrive()
		}
	}
	return l
}

func (l *load) arrive() {
	l.now += loadPause
	l.last++
	l.note(l.p.Arrive(l.now, l.last, l.names[l.last%loadPrincipals]))
}

func (l *load) finish() {
	id := l.running[l.first%len(l.running)]
	l.first++
	l.note(l.p.Finish(l.now, id, millisecond, true))
}

func (l *load) note(ds []admission.Decision) {
	for i := range ds {
		if ds[i].Kind == admission.Start {
			l.running[l.started%len(l.running)] = ds[i].ID
			l.started++
		}
	}
}

// BenchmarkArriveAndFinish measures a pair of events with an empty queue, and with one
// of 1,000 waiters. CoDel has no standing queue: its waiters go at once.
func BenchmarkArriveAndFinish(b *testing.B) {
	for _, name := range Names() {
		for _, waiting := range []int{0, 1000} {
			b.Run(name+"/"+strconv.Itoa(waiting), func(b *testing.B) {
				l := newLoad(b, name, waiting)
				b.ReportAllocs()
				for b.Loop() {
					l.arrive()
					l.finish()
				}
			})
		}
	}
}

// TestSteadyLoadDoesNotAllocate runs alone: AllocsPerRun counts what the whole process
// allocates.
func TestSteadyLoadDoesNotAllocate(t *testing.T) {
	for _, name := range Names() {
		for _, waiting := range []int{0, 1000} {
			l := newLoad(t, name, waiting)
			step := func() {
				l.arrive()
				l.finish()
			}
			for range 2 * loadPrincipals { // records and maps reach their size
				step()
			}
			if got := testing.AllocsPerRun(loadPrincipals, step); got != 0 {
				t.Errorf("%s with %d waiting: %v allocations a step, want 0", name, waiting, got)
			}
		}
	}
}
