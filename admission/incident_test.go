package admission

import "testing"

// closedLoop keeps every slot of a controller in use, with one request waiting.
type closedLoop struct {
	c    *Controller
	now  int64
	last ID
	// running are the ids in the order of their start.
	running []ID
}

func (l *closedLoop) note(ds []Decision) {
	for _, d := range ds {
		if d.Kind == Start {
			l.running = append(l.running, d.ID)
		}
	}
}

func (l *closedLoop) fill() {
	for l.c.Pending() == 0 {
		l.last++
		l.note(l.c.Arrive(l.now, l.last, "A"))
	}
}

// work lets time pass in which requests end one after another, each after the
// given service time.
func (l *closedLoop) work(span, service int64) {
	for end := l.now + span; l.now < end; {
		l.fill()
		l.now += max(1, service/int64(len(l.running)))
		id := l.running[0]
		l.running = l.running[1:]
		l.note(l.c.FinishIn(l.now, id, service))
	}
}

// idle ends what runs and waits, and lets time pass.
func (l *closedLoop) idle(span int64) {
	for len(l.running) > 0 {
		id := l.running[0]
		l.running = l.running[1:]
		l.note(l.c.Discard(l.now, id))
	}
	l.now += span
}

// The settings are those that a server has if nobody sets them, in ms.
func defaultLoop(t *testing.T) *closedLoop {
	t.Helper()
	c, err := New(Config{
		Initial: 32, Max: 1024, Pending: 2048, Target: 500, MaxWait: 10_000, Second: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &closedLoop{c: c}
}

func TestLimitFallsInAnIncidentAndRecovers(t *testing.T) {
	t.Parallel()
	l := defaultLoop(t)
	l.work(60_000, 600)
	if got := l.c.Limit(); got != 1 {
		t.Fatalf("limit %v after a minute above the target, want 1", got)
	}
	// One a change, one change an interval, and a few samples until the
	// average is below the target.
	l.work(35*500, 5)
	if got, want := l.c.Limit(), 0.9*32; got < want {
		t.Errorf("limit %v 35 intervals after the incident, want %v", got, want)
	}
}

func TestOneAlwaysRunsHoweverSlow(t *testing.T) {
	t.Parallel()
	l := defaultLoop(t)
	l.work(600_000, 10_000)
	l.idle(1)
	l.note(l.c.Arrive(l.now, 1<<32, "A"))
	if got := l.c.InFlight(); got != 1 {
		t.Errorf("in flight %d on an idle controller, want 1", got)
	}
}

func TestLimitGrowsInBurstsAndNotBetweenThem(t *testing.T) {
	t.Parallel()
	l := defaultLoop(t)
	for range 5 {
		before := l.c.Limit()
		l.work(1000, 5)
		if got := l.c.Limit() - before; got < 2 {
			t.Errorf("limit grows by %v in a burst of two intervals, want 2", got)
		}
		before = l.c.Limit()
		l.idle(9000)
		l.c.Tick(l.now)
		if got := l.c.Limit(); got != before {
			t.Errorf("limit %v after a pause, %v before", got, before)
		}
	}
}

// A asks for a tenth of the throughput while B and C flood: A gets all of it,
// after waiting for one turn of each, and B and C share the rest alike.
func TestSmallDemandIsMetInFullAmongFloods(t *testing.T) {
	t.Parallel()
	c, err := New(Config{Initial: 1, Max: 1, Pending: 20, Target: 500, MaxWait: 10_000, Second: 1000})
	if err != nil {
		t.Fatal(err)
	}
	served := make(map[string]int)
	var last, running ID
	note := func(ds []Decision) {
		for _, d := range ds {
			switch {
			case d.Kind == Start:
				running = d.ID
				served[d.Principal]++
				if d.Principal == "A" && d.Waited > 20 {
					t.Errorf("A waits for %d ms, want 20 at most", d.Waited)
				}
			case d.Kind == Refuse && d.Principal == "A":
				t.Errorf("A is refused: %v", d.Reason)
			}
		}
	}
	arrive := func(now int64, principal string) {
		last++
		note(c.Arrive(now, last, principal))
	}
	for now := int64(0); now < 100_000; now += 10 {
		for range 3 {
			arrive(now, "B")
			arrive(now, "C")
		}
		if now%100 == 0 {
			arrive(now, "A")
		}
		note(c.Finish(now, running))
	}
	if served["A"] != 1000 || served["B"] < 4498 || served["C"] < 4498 {
		t.Errorf("served %v, want 1,000 of A and about 4,500 each of B and C", served)
	}
}
