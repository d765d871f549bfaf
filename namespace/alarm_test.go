package namespace_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// alarming is a class whose alarm notes when it goes off, after begin.
func alarming(j *journal, begin time.Time) *powers {
	return &powers{alarm: func(t *namespace.Turn) error {
		j.note("%v", t.Now().Sub(begin))
		return nil
	}}
}

func setAlarm(in time.Duration) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		t.SetAlarm(t.Now().Add(in))
		return namespace.Answer{}, nil
	}
}

func TestAlarmGoesOffOnceAtItsTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		w := newWorld(t, withPowers(alarming(j, time.Now())))
		w.must(call(setAlarm(5 * time.Second)))
		w.must(call(setAlarm(3 * time.Second))) // replaces it
		w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			t.AlarmBy(t.Now().Add(4 * time.Second)) // moves nothing
			return namespace.Answer{}, nil
		})))
		time.Sleep(time.Hour)
		if diff := cmp.Diff(j.all(), []string{"3s"}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
	})
}

func TestAlarmCanBeBroughtForwardAndCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := &journal{}
		w := newWorld(t, withPowers(alarming(j, time.Now())))
		w.must(call(setAlarm(time.Minute)))
		w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			t.AlarmBy(t.Now().Add(1500*time.Millisecond + 1)) // stored in whole ms, never early
			return namespace.Answer{}, nil
		})))
		time.Sleep(10 * time.Second)
		w.must(call(setAlarm(time.Minute)))
		w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			t.SetAlarm(time.Time{})
			return namespace.Answer{}, nil
		})))
		time.Sleep(time.Hour)
		if diff := cmp.Diff(j.all(), []string{"1.501s"}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
	})
}

func TestAlarmSetsTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j, begin := &journal{}, time.Now()
		w := newWorld(t, withPowers(&powers{alarm: func(t *namespace.Turn) error {
			j.note("%v", t.Now().Sub(begin))
			if len(j.all()) < 4 {
				t.SetAlarm(t.Now().Add(40 * time.Second)) // twice as long as it stays active
			}
			return nil
		}}), withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = 20_000 }))
		w.must(call(setAlarm(time.Second)))
		time.Sleep(10 * time.Minute)
		if diff := cmp.Diff(j.all(), []string{"1s", "41s", "1m21s", "2m1s"}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
		if got := w.runtime.NodeStats(); got.Activations < 4 || got.Active != 0 {
			t.Errorf("got %d activations, %d active; want it passivated in between and at the end", got.Activations, got.Active)
		}
	})
}

func TestAlarmSurvivesARestart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		properly bool
		down     time.Duration
		want     string
	}{
		{"proper, due later", true, 10 * time.Second, "30s"},
		{"proper, overdue", true, time.Minute, "1m0s"},
		{"unclean, due later", false, 10 * time.Second, "30s"},
		{"unclean, overdue", false, time.Minute, "1m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				j := &journal{}
				w := newWorld(t, withPowers(alarming(j, time.Now())))
				w.must(call(setAlarm(30 * time.Second)))
				if tt.properly {
					if err := w.runtime.Shutdown(t.Context()); err != nil {
						t.Fatal(err)
					}
				} else if err := w.runtime.Close(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.down)
				w.open() // and nobody asks for the namespace
				time.Sleep(time.Minute)
				if diff := cmp.Diff(j.all(), []string{tt.want}); diff != "" {
					t.Errorf("alarms (-got +want):\n%s", diff)
				}
			})
		})
	}
}

func TestAlarmThatFailsIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j, begin := &journal{}, time.Now()
		w := newWorld(t, withPowers(&powers{alarm: func(t *namespace.Turn) error {
			j.note("%v", t.Now().Sub(begin))
			switch len(j.all()) {
			case 1: // before it has written
				return api.Errorf(api.Conflict, "not yet")
			case 2: // after it has written, and moved the alarm
				t.SetAlarm(t.Now().Add(time.Hour))
				_, err := put("k", 1)(t)
				return errors.Join(err, errors.New("broken"))
			}
			return nil
		}}))
		w.must(call(setAlarm(time.Second)))
		time.Sleep(30 * time.Second)
		if diff := cmp.Diff(j.all(), []string{"1s", "2s", "3s"}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
		if got := len(w.items()); got != 0 {
			t.Errorf("got %d items of an alarm that failed, want 0", got)
		}
	})
}

func TestAlarmThatPanicsLeavesTheNamespaceUsable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j, begin := &journal{}, time.Now()
		var logged lines
		w := newWorld(t, withPowers(&powers{alarm: func(t *namespace.Turn) error {
			j.note("%v", t.Now().Sub(begin))
			if _, err := put("k", 1)(t); err != nil {
				return err
			}
			panic("secret")
		}}), func(o *namespace.Options) { o.Logger = logged.logger() })
		w.must(call(setAlarm(time.Second)))
		time.Sleep(3500 * time.Millisecond)
		if diff := cmp.Diff(j.all(), []string{"1s", "2s", "3s"}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
		w.must(call(put("k", 1)))
		w.restart(true)
		w.must(call(put("k", 1)))
		if got := len(w.items()); got != 2 {
			t.Errorf("got %d items, want 2", got)
		}
		if !logged.have("panicked", "namespace=a", "alarm_test.go") || logged.have("secret") {
			t.Errorf("want a log with the stack and without the value:\n%s", logged.String())
		}
	})
}

func TestAlarmsOfTwoClassesAreTheirOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b, begin := &journal{}, &journal{}, time.Now()
		other := depot(alarming(b, begin))
		other.Name, other.Migrations = "other", nil
		w := newWorld(t, func(o *namespace.Options) { o.Classes = []namespace.Class{depot(alarming(a, begin)), other} })
		w.must(call(setAlarm(2 * time.Second)))
		c := call(setAlarm(3 * time.Second))
		c.Class = "other"
		w.must(c)
		time.Sleep(time.Minute)
		if diff := cmp.Diff([][]string{a.all(), b.all()}, [][]string{{"2s"}, {"3s"}}); diff != "" {
			t.Errorf("alarms (-got +want):\n%s", diff)
		}
	})
}

func TestAlarmWakesWhoWaitsForItsWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withPowers(&powers{alarm: func(t *namespace.Turn) error { _, err := put("k", 1)(t); return err }}))
		w.must(call(setAlarm(2 * time.Second)))
		if p := w.start(call(take("k", 10*time.Second))); p.body() != 1 || p.took != 2*time.Second {
			t.Errorf("got an answer after %v, want item 1 after 2s", p.took)
		}
	})
}

func TestManyAlarmsDueAtOnceAllGoOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const many = 40
		j := &journal{}
		w := newWorld(t, withPowers(&powers{alarm: func(t *namespace.Turn) error { j.note("%s", t.Namespace()); return nil }}),
			func(o *namespace.Options) { o.MaxActive = 8 })
		for n := range many {
			name := fmt.Sprintf("n%02d", n)
			w.create(name)
			if _, err := w.runtime.Namespace(name).Do(t.Context(), call(setAlarm(time.Hour))); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		w.restart(true)
		time.Sleep(time.Hour + time.Minute)
		got := map[string]int{}
		for _, name := range j.all() {
			got[name]++
		}
		if len(got) != many || len(j.all()) != many {
			t.Errorf("got %d alarms of %d namespaces, want one of each of %d", len(j.all()), len(got), many)
		}
	})
}
