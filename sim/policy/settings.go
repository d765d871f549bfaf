package policy

import (
	"fmt"
	"math"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/sim/scenario"
)

const (
	millisecond = 1e6 // nanoseconds
	second      = 1e9 // nanoseconds

	// What a server goes by that is told nothing.
	defaultInitial   = 32
	defaultMax       = 1024
	defaultPending   = 2048
	defaultMaxWaitMs = 10_000
	defaultTargetMs  = 500
)

// bounds are the settings that every policy goes by, with the defaults of the
// product where the scenario says nothing.
type bounds struct {
	initial, max, fixed, pending int
	maxWait, target              int64 // nanoseconds
}

// boundsOf reads s, and refuses what the controller would refuse, whether or not
// the policy at hand looks at it: a scenario runs under all policies or under none.
func boundsOf(s scenario.Settings) (bounds, error) {
	waitMs, targetMs := or(s.MaxWaitMs, defaultMaxWaitMs), or(s.TargetMs, defaultTargetMs)
	b := bounds{
		initial: or(s.InitialConcurrency, defaultInitial),
		max:     or(s.MaxConcurrency, defaultMax),
		pending: defaultPending,
		maxWait: int64(min(waitMs, math.MaxInt32)) * millisecond,
		target:  int64(min(targetMs, math.MaxInt32)) * millisecond,
	}
	if s.MaxPending != nil {
		b.pending = *s.MaxPending
	}
	if err := b.config().Validate(); err != nil {
		return bounds{}, fmt.Errorf("check settings: %w", err)
	}
	b.fixed = or(s.Fixed, b.initial)
	if b.fixed < 1 || b.fixed > math.MaxInt32 {
		return bounds{}, fmt.Errorf("check settings: %w",
			&admission.ConfigError{Field: "fixed", Rule: "must be at least 1 and at most 2147483647"})
	}
	return b, nil
}

// config is what the production controller makes of b.
func (b bounds) config() admission.Config {
	return admission.Config{
		Initial: b.initial, Max: b.max, Pending: b.pending, Target: b.target, MaxWait: b.maxWait, Second: second,
	}
}

// or is v, or what stands for it if it is zero.
func or(v, zero int) int {
	if v == 0 {
		return zero
	}
	return v
}
