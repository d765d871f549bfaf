package policy

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

func TestNamesBeginWithOursAndStayInOrder(t *testing.T) {
	t.Parallel()
	want := []string{"ours", "none", "fixed", "bucket", "aimd", "gradient2", "vegas", "apf", "codel"}
	got := Names()
	if !slices.Equal(got, want) {
		t.Fatalf("names %v, want %v", got, want)
	}
	got[0] = "changed"
	if again := Names(); !slices.Equal(again, want) {
		t.Fatalf("names %v after a caller has changed them, want %v", again, want)
	}
}

func TestEveryPolicySaysWhatItIs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range Names() {
		about := About(name)
		if about == "" || strings.ContainsAny(about, "\n") || strings.HasSuffix(about, ".") || seen[about] {
			t.Errorf("about %s: %q", name, about)
		}
		seen[about] = true
	}
	if about := About("fifo"); about != "" {
		t.Errorf("about a policy that does not exist: %q", about)
	}
}

func TestUnknownPolicyIsRefusedWithTheNamesThatExist(t *testing.T) {
	t.Parallel()
	_, err := New("fifo", scenario.Settings{}, 1)
	if err == nil || !strings.Contains(err.Error(), `"fifo"`) || !strings.Contains(err.Error(), "ours, none") {
		t.Fatalf("error %v", err)
	}
}

func TestZeroSettingsAreTheProductsDefaults(t *testing.T) {
	t.Parallel()
	got, err := boundsOf(scenario.Settings{})
	want := bounds{initial: 32, max: 1024, fixed: 32, pending: 2048, maxWait: 10_000 * millisecond, target: 500 * millisecond}
	if err != nil || got != want {
		t.Fatalf("bounds %+v, %v, want %+v", got, err, want)
	}
	for _, name := range Names() {
		limit := 32.0
		if name == "none" || name == "bucket" {
			limit = -1
		}
		if got := newPolicy(t, name, scenario.Settings{}, 1).Status(); got != (Status{Limit: limit}) {
			t.Errorf("%s begins as %+v, want limit %v", name, got, limit)
		}
	}
}

func TestPendingOfZeroIsNoQueue(t *testing.T) {
	t.Parallel()
	none := 0
	for _, name := range []string{"ours", "fixed", "aimd", "gradient2", "vegas", "apf", "codel"} {
		p := newPolicy(t, name, scenario.Settings{InitialConcurrency: 1, MaxPending: &none}, 1)
		play(t, p, `
			0 arrive 1 A: start 1
			1 arrive 2 B: refuse 2 (pending queue full, 1)
			2 finish 1 2: finished 1
			3 arrive 3 B: start 3`)
	}
}

func TestFixedLimitIsThatOfItsSetting(t *testing.T) {
	t.Parallel()
	if got := newPolicy(t, "fixed", scenario.Settings{Fixed: 7}, 1).Status().Limit; got != 7 {
		t.Errorf("limit %v, want 7", got)
	}
}

func TestSettingsThatTheControllerRefusesAreRefusedByAll(t *testing.T) {
	t.Parallel()
	negative := -1
	for field, s := range map[string]scenario.Settings{
		"claim_initial_concurrency": {InitialConcurrency: 2000},
		"claim_max_concurrency":     {MaxConcurrency: -1},
		"claim_max_pending":         {MaxPending: &negative},
		"claim_max_wait_ms":         {MaxWaitMs: -1},
		"claim_target_ms":           {TargetMs: math.MinInt32},
		"fixed":                     {Fixed: -1},
	} {
		for _, name := range Names() {
			_, err := New(name, s, 1)
			var bad *admission.ConfigError
			if !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s with a bad %s: %v", name, field, err)
			}
		}
	}
}
