package admission

import (
	"strconv"
	"testing"
)

const (
	benchPrincipals = 1000
	benchPending    = 2048
	benchRunning    = 32
	benchPause      = 1000 // nanoseconds between two arrivals
	longWait        = 1e15 // nanoseconds: nobody's deadline comes

	// hog is the principal that holds more than its share of a full queue.
	hog = 0
)

// load is a controller under the arrivals of 1,000 principals.
type load struct {
	*Controller
	names   []string
	now     int64
	last    ID // to arrive
	started ID // last to start
}

// newLoad makes the given number of requests wait: two for each principal, and
// the rest for one of them. If any do, every slot is in use.
func newLoad(tb testing.TB, waiting int, maxWait int64) *load {
	tb.Helper()
	c, err := New(Config{
		Initial: benchRunning, Max: benchRunning, Pending: benchPending, Target: 500e6, MaxWait: maxWait,
	})
	if err != nil {
		tb.Fatal(err)
	}
	l := &load{Controller: c}
	for i := range benchPrincipals {
		l.names = append(l.names, "principal-"+strconv.Itoa(i))
	}
	if waiting == 0 {
		return l
	}
	for i := range benchRunning {
		l.arrive(i)
	}
	for i := range waiting {
		if i >= 2*benchPrincipals {
			i = hog
		}
		l.arrive(i)
	}
	return l
}

func (l *load) arrive(i int) []Decision {
	l.now += benchPause
	l.last++
	return l.note(l.Arrive(l.now, l.last, l.names[i%benchPrincipals]))
}

func (l *load) note(ds []Decision) []Decision {
	for _, d := range ds {
		if d.Kind == Start {
			l.started = d.ID
		}
	}
	return ds
}

// scenarios are what is measured. A step causes the same decisions each time, so
// that the load stays as it is; check compares them with the first letters of
// the kinds it names, for which a string costs no allocation.
var scenarios = []struct {
	name    string
	waiting int
	maxWait int64
	step    func(l *load, check func(ds []Decision, want string))
}{
	{"fast path", 0, longWait, func(l *load, check func([]Decision, string)) {
		check(l.arrive(int(l.last)), "s")
		check(l.Finish(l.now, l.last), "f")
	}},
	{"enqueue and dispatch", benchPending - 1, longWait, func(l *load, check func([]Decision, string)) {
		check(l.arrive(int(l.last)), "e")
		check(l.note(l.Finish(l.now, l.started)), "fs")
	}},
	{"full queue refuses", benchPending, longWait, func(l *load, check func([]Decision, string)) {
		check(l.arrive(hog), "r")
	}},
	// A principal with two waiters pushes out one of the hog's, leaves again,
	// and the hog fills the gap.
	{"full queue displaces", benchPending, longWait, func(l *load, check func([]Decision, string)) {
		check(l.arrive(1+int(l.last)%(benchPrincipals-1)), "re")
		check(l.Cancel(l.now, l.last), "c")
		check(l.arrive(hog), "e")
	}},
	{"cancel", benchPending - 1, longWait, func(l *load, check func([]Decision, string)) {
		check(l.arrive(int(l.last)), "e")
		check(l.Cancel(l.now, l.last), "c")
	}},
	// With 2,000 arrivals in a maximum wait, each arrival finds one overdue.
	{"expiry", 2 * benchPrincipals, 2 * benchPrincipals * benchPause, func(l *load, check func([]Decision, string)) {
		check(l.arrive(int(l.last)), "re")
	}},
}

// BenchmarkDecision reports, besides the cost of a step, that of each decision in it.
func BenchmarkDecision(b *testing.B) {
	for _, s := range scenarios {
		b.Run(s.name, func(b *testing.B) {
			l := newLoad(b, s.waiting, s.maxWait)
			decisions := 0
			check := func(ds []Decision, want string) {
				checkKinds(b, ds, want)
				decisions += len(ds)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.step(l, check)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(decisions), "ns/decision")
		})
	}
}

// TestSteadyLoadDoesNotAllocate runs alone: AllocsPerRun counts what the whole
// process allocates.
func TestSteadyLoadDoesNotAllocate(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			l := newLoad(t, s.waiting, s.maxWait)
			check := func(ds []Decision, want string) { checkKinds(t, ds, want) }
			for range 2 * benchPending { // free records and maps reach their size
				s.step(l, check)
			}
			if got := testing.AllocsPerRun(benchPending, func() { s.step(l, check) }); got != 0 {
				t.Errorf("%v allocations a step, want 0", got)
			}
		})
	}
}

func checkKinds(tb testing.TB, ds []Decision, want string) {
	same := len(ds) == len(want)
	for i := 0; same && i < len(ds); i++ {
		same = ds[i].Kind.String()[0] == want[i]
	}
	if !same {
		tb.Fatalf("decisions %+v, want %s", ds, want)
	}
}
