package admission

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func validConfig() Config {
	return Config{Initial: 2, Max: 4, Pending: 8, Target: 100, MaxWait: 1000}
}

func TestConfigIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"initial zero", func(c *Config) { c.Initial = 0 }, "claim_initial_concurrency must be at least 1"},
		{"initial negative", func(c *Config) { c.Initial = -1 }, "claim_initial_concurrency must be at least 1"},
		{"initial above max", func(c *Config) { c.Initial = 5 }, "claim_initial_concurrency must not be above claim_max_concurrency"},
		{"initial below min", func(c *Config) { c.Min = 3 }, "claim_initial_concurrency must be at least min"},
		{"max zero", func(c *Config) { c.Max = 0 }, "claim_max_concurrency must be at least 1"},
		{"max too large", func(c *Config) { c.Max = math.MaxInt32 + 1 }, "claim_max_concurrency is too large"},
		{"min negative", func(c *Config) { c.Min = -1 }, "min must not be negative"},
		{"min above max", func(c *Config) { c.Min = 5 }, "min must not be above claim_max_concurrency"},
		{"pending negative", func(c *Config) { c.Pending = -1 }, "claim_max_pending must not be negative"},
		{"pending too large", func(c *Config) { c.Pending = math.MaxInt32 + 1 }, "claim_max_pending is too large"},
		{"target zero", func(c *Config) { c.Target = 0 }, "claim_target_ms must be at least 1"},
		{"target too large", func(c *Config) { c.Target = maxSpan + 1 }, "claim_target_ms is too large"},
		{"interval negative", func(c *Config) { c.Interval = -1 }, "interval must not be negative"},
		{"interval too large", func(c *Config) { c.Interval = maxSpan + 1 }, "interval is too large"},
		{"wait zero", func(c *Config) { c.MaxWait = 0 }, "claim_max_wait_ms must be at least 1"},
		{"wait negative", func(c *Config) { c.MaxWait = -1 }, "claim_max_wait_ms must be at least 1"},
		{"wait too large", func(c *Config) { c.MaxWait = maxSpan + 1 }, "claim_max_wait_ms is too large"},
		{"stale negative", func(c *Config) { c.StaleAfter = -1 }, "stale_after must not be negative"},
		{"stale too large", func(c *Config) { c.StaleAfter = maxSpan + 1 }, "stale_after is too large"},
		{"second negative", func(c *Config) { c.Second = -1 }, "second must not be negative"},
		{"factor above 1", func(c *Config) { c.Factor = 1.1 }, "factor must be above 0 and at most 1"},
		{"factor NaN", func(c *Config) { c.Factor = math.NaN() }, "factor must be above 0 and at most 1"},
		{"increase negative", func(c *Config) { c.Increase = -1 }, "increase must be above 0 and finite"},
		{"increase infinite", func(c *Config) { c.Increase = math.Inf(1) }, "increase must be above 0 and finite"},
		{"alpha above 1", func(c *Config) { c.Alpha = 1.1 }, "alpha must be above 0 and at most 1"},
		{"retry min negative", func(c *Config) { c.RetryMin = -1 }, "retry_min must not be negative"},
		{"retry max negative", func(c *Config) { c.RetryMax = -1 }, "retry_max must not be negative"},
		{"retry min above max", func(c *Config) { c.RetryMin = 31 }, "retry_min must not be above retry_max"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := validConfig()
			c.change(&cfg)
			_, err := New(cfg)
			var field *ConfigError
			if !errors.As(err, &field) {
				t.Fatalf("error %v, want a *ConfigError", err)
			}
			if diff := cmp.Diff(err.Error(), "admission: "+c.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfigZeroesMeanDefaults(t *testing.T) {
	t.Parallel()
	got := validConfig().withDefaults()
	want := Config{
		Initial: 2, Max: 4, Min: 1, Pending: 8,
		Target: 100, Interval: 100, MaxWait: 1000, StaleAfter: 2000, Second: 1e9,
		Factor: 0.7, Increase: 1, Alpha: 0.2, RetryMin: 1, RetryMax: 30,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
}

// TestConfigBoundsDoNotOverflow runs with the largest times that are allowed.
func TestConfigBoundsDoNotOverflow(t *testing.T) {
	t.Parallel()
	cfg := Config{Initial: 1, Max: math.MaxInt32, Pending: math.MaxInt32, Target: maxSpan, MaxWait: maxSpan}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Arrive(-maxSpan, 1, "A")
	c.Arrive(maxSpan, 2, "A")
	if got, _ := c.NextDeadline(); got != 2*maxSpan {
		t.Errorf("deadline %d, want %d", got, int64(2*maxSpan))
	}
	c.Finish(maxSpan, 1)
	if got, _ := c.Average(); got != 2*maxSpan {
		t.Errorf("average %g, want %g", got, float64(2*maxSpan))
	}
	if got := c.Limit(); got != 1 {
		t.Errorf("limit %g, want 1: the average is above the target", got)
	}
}
