package policy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

// play steps p through a script. A line is an event and what it must decide, for
// example "20 finish 1 15: finished 1, start 2". Times and service times count in
// milliseconds; "fail" is a finish without success.
func play(t *testing.T, p Policy, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		event, want, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("%q: no colon", line)
		}
		if got := describe(step(t, p, strings.Fields(event))); got != strings.TrimSpace(want) {
			t.Fatalf("%s: got %s", line, got)
		}
	}
}

func step(t *testing.T, p Policy, f []string) []admission.Decision {
	t.Helper()
	number := func(i int) int64 {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		return n
	}
	now := number(0) * millisecond
	switch f[1] {
	case "arrive":
		return p.Arrive(now, admission.ID(number(2)), f[3])
	case "finish", "fail":
		return p.Finish(now, admission.ID(number(2)), number(3)*millisecond, f[1] == "finish")
	case "cancel":
		return p.Cancel(now, admission.ID(number(2)))
	case "tick":
		return p.Tick(now)
	}
	t.Fatalf("%v: unknown event", f)
	return nil
}

// describe writes decisions as scripts do: a refusal has its reason and the seconds
// of Retry-After.
func describe(ds []admission.Decision) string {
	var all []string
	for _, d := range ds {
		one := fmt.Sprintf("%v %d", d.Kind, d.ID)
		if d.Kind == admission.Refuse {
			one += fmt.Sprintf(" (%v, %d)", d.Reason, d.RetryAfter)
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

func newPolicy(t testing.TB, name string, s scenario.Settings, seed uint64) Policy {
	t.Helper()
	p, err := New(name, s, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// small settings run two at once, and let three wait for a second.
func small() scenario.Settings {
	pending := 3
	return scenario.Settings{
		InitialConcurrency: 2, MaxConcurrency: 8, MaxPending: &pending, MaxWaitMs: 1000, TargetMs: 100,
	}
}
