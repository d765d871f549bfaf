package sim

import (
	"math"
	"testing"
	"time"

	"github.com/skerryhq/skerry/sim/random"
	"github.com/skerryhq/skerry/sim/scenario"
)

const ms = int64(time.Millisecond)

// drain gives the requests in the order in which they are done, and when.
func drain(s server) (ids []int64, at []int64) {
	for s.next() != never {
		now := s.next()
		ids, at = append(ids, s.done(now)), append(at, now)
	}
	return ids, at
}

func same(t *testing.T, what string, got, want []int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 2 { // nanoseconds of rounding
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
	}
}

func TestEveryModelOfAServerTakesTheTimeThatItShould(t *testing.T) {
	t.Parallel()
	sync := func() int64 { return 10 * ms }
	for _, c := range []struct {
		name    string
		service scenario.Service
		ids, at []int64
	}{
		{"delay", scenario.Service{Model: "delay"}, []int64{3, 2, 1}, []int64{10 * ms, 20 * ms, 30 * ms}},
		{"two servers", scenario.Service{Model: "servers", Servers: 2}, []int64{2, 1, 3}, []int64{20 * ms, 30 * ms, 30 * ms}},
		{"sharing", scenario.Service{Model: "sharing"}, []int64{3, 2, 1}, []int64{30 * ms, 50 * ms, 60 * ms}},
		{"sharing two", scenario.Service{Model: "sharing", Servers: 2}, []int64{3, 2, 1}, []int64{15 * ms, 25 * ms, 35 * ms}},
		// The first makes a group of its own; the others are there when it is committed.
		{"writer", scenario.Service{Model: "writer"}, []int64{1, 2, 3}, []int64{40 * ms, 80 * ms, 80 * ms}},
		{"writer in groups of one", scenario.Service{Model: "writer", MaxGroup: 1}, []int64{1, 2, 3}, []int64{40 * ms, 70 * ms, 90 * ms}},
	} {
		s := newServer(c.service, newPace(nil, time.Hour), sync)
		for id, work := range []int64{30 * ms, 20 * ms, 10 * ms} {
			s.start(0, int64(id+1), work)
		}
		ids, at := drain(s)
		same(t, c.name, at, c.at)
		if c.name != "two servers" { // two are done at one time
			same(t, c.name, ids, c.ids)
		}
	}
}

func TestEpisodesSlowAndStopTheServer(t *testing.T) {
	t.Parallel()
	span := func(d time.Duration) scenario.Span { return scenario.Span(d) }
	for _, c := range []struct {
		name     string
		episodes []scenario.Episode
		want     int64
	}{
		{"none", nil, 100 * ms},
		{"stall", []scenario.Episode{{Kind: "stall", From: span(50 * time.Millisecond), To: span(250 * time.Millisecond)}}, 300 * ms},
		{"slow", []scenario.Episode{{Kind: "slow", From: span(50 * time.Millisecond), To: span(time.Hour), Factor: 3}}, 200 * ms},
		{"slow for a time", []scenario.Episode{{Kind: "slow", From: 0, To: span(100 * time.Millisecond), Factor: 2}}, 150 * ms},
		{"both at once", []scenario.Episode{
			{Kind: "slow", From: 0, To: span(time.Hour), Factor: 2},
			{Kind: "stall", From: span(20 * time.Millisecond), To: span(30 * time.Millisecond)},
		}, 210 * ms},
		{"again and again", []scenario.Episode{
			{Kind: "stall", From: 0, To: span(10 * time.Millisecond), Every: span(20 * time.Millisecond)},
		}, 200 * ms},
	} {
		s := newServer(scenario.Service{Model: "delay"}, newPace(c.episodes, time.Second), nil)
		s.start(0, 1, 100*ms)
		_, at := drain(s)
		same(t, c.name, at, []int64{c.want})
	}
}

// In processor sharing with Poisson arrivals the mean response is the mean work over
// what is idle, whatever the distribution of the work.
func TestProcessorSharingAgreesWithTheory(t *testing.T) {
	t.Parallel()
	stream := random.New(7, "sharing")
	work := random.Hyper(50e6, 550e6, 0.1) // mean 100 ms
	s := newServer(scenario.Service{Model: "sharing"}, newPace(nil, time.Hour), nil)
	began := map[int64]int64{}
	var sum float64
	var n int64
	now, next := int64(0), int64(0)
	for id := int64(0); id < 200_000; {
		if at := s.next(); at <= next {
			now = at
			done := s.done(now)
			sum += float64(now - began[done])
			delete(began, done)
			n++
			continue
		}
		now = next
		began[id] = now
		s.start(now, id, work.Draw(stream))
		id++
		next = now + int64(stream.Exp()*second/6) // a load of 0.6
	}
	got, want := sum/float64(n)/1e6, 100/(1-0.6)
	if math.Abs(got-want) > 0.03*want {
		t.Errorf("mean response %.1f ms, theory says %.1f", got, want)
	}
}

func TestArrivalsHaveTheRatesThatTheyShould(t *testing.T) {
	t.Parallel()
	minute := scenario.Span(time.Minute)
	for _, c := range []struct {
		name string
		a    scenario.Arrivals
		want float64 // in ten minutes
	}{
		{"even", scenario.Arrivals{Kind: "even", Rate: 10}, 6000},
		{"poisson", scenario.Arrivals{Kind: "poisson", Rate: 100}, 60_000},
		{"poisson for a time", scenario.Arrivals{Kind: "poisson", Rate: 100, From: minute, To: 3 * minute}, 12_000},
		{"ramp", scenario.Arrivals{Kind: "ramp", Rate: 0, Peak: 200}, 60_000},
		{"on and off", scenario.Arrivals{Kind: "onoff", Peak: 200, On: scenario.Span(5 * time.Second), Off: scenario.Span(15 * time.Second)}, 30_000},
		{"flash", scenario.Arrivals{Kind: "flash", Rate: 10, Peak: 500, From: minute, To: 2 * minute}, 30_000 + 5_400},
		{"bursty", scenario.Arrivals{Kind: "bursty", Rate: 20, Peak: 180, Quiet: scenario.Span(100 * time.Millisecond), Burst: scenario.Span(100 * time.Millisecond)}, 60_000},
	} {
		end := int64(10 * time.Minute)
		a := newArrivals(&c.a, end, random.New(11, c.name))
		n, last := 0, int64(-1)
		for at := a.next(-1); at != never; at = a.next(at) {
			if at <= last || at >= end {
				t.Fatalf("%s: an arrival at %d after one at %d", c.name, at, last)
			}
			n, last = n+1, at
		}
		if math.Abs(float64(n)-c.want) > 0.05*c.want {
			t.Errorf("%s: %d arrivals, want about %.0f", c.name, n, c.want)
		}
	}
}
