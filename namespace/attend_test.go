package namespace_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// warden is what looks after the depots of a test.
type warden struct {
	mu    sync.Mutex
	calls map[string]int // by namespace
	stops int
	// work, if not nil, is done at every call.
	work func(ctx context.Context, n namespace.Namespace)
	// stop, if not nil, is what Stop does.
	stop func(ctx context.Context)
}

// attended gives the depot a warden who looks to the topics "k" and "deep/er".
func attended(d *warden) func(*namespace.Options) {
	return func(o *namespace.Options) {
		d.calls = map[string]int{}
		class := depot(nil)
		class.Topics = []string{"k", "deep/er"}
		class.Attend = func(ctx context.Context, n namespace.Namespace) {
			d.mu.Lock()
			d.calls[n.Name()]++
			d.mu.Unlock()
			if d.work != nil {
				d.work(ctx, n)
			}
		}
		class.Stop = func(ctx context.Context) {
			d.mu.Lock()
			d.stops++
			d.mu.Unlock()
			if d.stop != nil {
				d.stop(ctx)
			}
		}
		o.Classes = []namespace.Class{class}
	}
}

// called is how often the warden was called for a namespace.
func (d *warden) called(name string) int {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[name]
}

func TestAttendantIsCalledAtActivationAndAfterSignalsOfItsTopics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{}
		w := newWorld(t, attended(d))
		if got := d.called("a"); got != 0 {
			t.Fatalf("called %d times for a namespace that is not active, want never", got)
		}
		w.items()
		if got := d.called("a"); got != 1 {
			t.Fatalf("called %d times after the activation, want once", got)
		}
		for _, tt := range []struct {
			command act
			want    int
		}{
			{signal("k", 1), 1},
			{signal("k", 0), 1}, // a count is for those who are parked
			{signal("k/below", 1), 1},
			{signal("deep/er", 1), 1},
			{signal("deep", 1), 0},
			{signal("deep/est", 1), 0},
			{signal("kk", 1), 0},
			{ruling(func(*namespace.Turn) {}), 0},
			{ruling(func(t *namespace.Turn) { t.Signal("k", 1); t.Signal("k/x", 1); t.Signal("other", 1) }), 1},
		} {
			before := d.called("a")
			w.must(call(tt.command))
			if got := d.called("a") - before; got != tt.want {
				t.Errorf("called %d times, want %d", got, tt.want)
			}
		}
		before := d.called("a")
		w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) { // rolled back
			_, err := put("k", 1)(t)
			if err == nil {
				err = api.Errorf(api.Conflict, "no")
			}
			return namespace.Answer{}, err
		})), api.Conflict)
		if got := d.called("a") - before; got != 0 {
			t.Errorf("called %d times for what was rolled back, want never", got)
		}
	})
}

func TestSignalsOfAnotherClassDoNotCallTheAttendant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{}
		other := depot(nil)
		other.Name, other.Migrations = "other", nil
		w := newWorld(t, attended(d), func(o *namespace.Options) { o.Classes = append(o.Classes, other) })
		c := call(signal("k", 1))
		c.Class = "other"
		w.must(c)
		if got := d.called("a"); got != 1 {
			t.Errorf("called %d times, want once, for the activation", got)
		}
	})
}

func TestSignalsThatComeWhileTheAttendantRunsCallItOnceMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{work: func(context.Context, namespace.Namespace) { time.Sleep(10 * time.Second) }}
		w := newWorld(t, attended(d))
		w.must(call(signal("none", 1)))
		for range 5 {
			w.must(call(signal("k", 1)))
			time.Sleep(time.Second)
		}
		if got := d.called("a"); got != 1 {
			t.Fatalf("called %d times while the first runs, want once", got)
		}
		time.Sleep(6 * time.Second)
		if got := d.called("a"); got != 2 {
			t.Errorf("called %d times when the first had ended, want twice", got)
		}
		time.Sleep(30 * time.Second)
		if got := d.called("a"); got != 2 {
			t.Errorf("called %d times in the end, want twice", got)
		}
		// And it is as attentive as before.
		w.must(call(signal("k", 1)))
		if got := d.called("a"); got != 3 {
			t.Errorf("called %d times after another signal, want three times", got)
		}
	})
}

func TestAttendantActsLikeAnyCaller(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{}
		var got []int64
		d.work = func(ctx context.Context, n namespace.Namespace) {
			for {
				out, err := n.Do(ctx, callAs("warden", take("k", 0)))
				if err != nil {
					t.Errorf("take: %v", err)
					return
				}
				if out.Answer.Body == nothing {
					return
				}
				got = append(got, out.Answer.Body.(int64))
			}
		}
		w := newWorld(t, attended(d))
		w.must(call(put("k", 2)))
		synctest.Wait()
		w.must(call(put("k", 1)))
		synctest.Wait()
		if len(got) != 3 {
			t.Errorf("the warden took %v, want three items", got)
		}
	})
}

func TestAttendantIsCalledAgainAtTheNextActivation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{}
		w := newWorld(t, attended(d), withIdleTimeout(time.Second))
		w.items()
		time.Sleep(2 * time.Second)
		if _, active := w.active("a"); active {
			t.Fatal("an attendant that has come to its end keeps the namespace active")
		}
		w.items()
		w.create("b")
		if _, err := w.runtime.Namespace("b").Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, b := d.called("a"), d.called("b"); a != 2 || b != 1 {
			t.Errorf("called %d times for a and %d for b, want twice and once", a, b)
		}
	})
}

// What is signalled while the namespace makes room is left to its next activation,
// or the attendant would bring it back at once.
func TestAttendantIsNotCalledByANamespaceThatDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := &warden{}
		w := newWorld(t, attended(d), func(o *namespace.Options) { o.MaxActive = 1 })
		w.create("b")
		b := w.hold()
		p := w.start(call(put("k", 1)))
		synctest.Wait()
		if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("none", 1))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // a drains
		b.lift()
		if got := p.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		if got := d.called("a"); got != 1 {
			t.Errorf("called %d times, want once, for the activation", got)
		}
		w.items()
		if got := d.called("a"); got != 2 {
			t.Errorf("called %d times after the next activation, want twice", got)
		}
	})
}

func withIdleTimeout(d time.Duration) func(*namespace.Options) {
	return withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = d.Milliseconds() })
}
