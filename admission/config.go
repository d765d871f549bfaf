package admission

import "math"

// Config holds the settings of one Controller. All spans of time (Target,
// Interval, MaxWait, StaleAfter) and every now given to the controller count in
// one unit of the caller's choice; Second says how many of them make a second.
// Fields that say "zero means" have a default; the others must be set.
type Config struct {
	// Initial is the limit a new controller begins with: Min to Max.
	Initial int
	// Max is the highest limit: 1 to 2³¹−1.
	Max int
	// Min is the floor of the limit. Zero means 1.
	Min int
	// Pending bounds the queue. Zero means no queue: what cannot start is refused.
	Pending int
	// Target is the service time above which the average counts as unhealthy.
	Target int64
	// Interval is the least time between two changes of the limit. Zero means Target.
	Interval int64
	// MaxWait is how long a request may wait; at that instant it is refused.
	MaxWait int64
	// StaleAfter is the age of the last sample from which on the next one
	// replaces the average. Zero means 20 times Interval.
	StaleAfter int64
	// Second is the number of time units in a second. Zero means 1e9, so that
	// times count in nanoseconds.
	Second int64
	// Factor multiplies the limit when it falls: above 0, at most 1. Zero means 0.7.
	Factor float64
	// Increase is added to the limit when it rises. Zero means 1.
	Increase float64
	// Alpha is the weight of a new sample in the average: above 0, at most 1.
	// Zero means 0.2.
	Alpha float64
	// RetryMin and RetryMax bound Retry-After in seconds. Zero means 1 and 30.
	RetryMin, RetryMax int
}

const (
	maxCount = math.MaxInt32
	// maxSpan keeps the sum of an instant and a span inside an int64, for
	// instants whose distance from zero stays below it too.
	maxSpan = 1<<62 - 1

	nanosecondsPerSecond = 1e9
	staleIntervals       = 20
)

// A ConfigError says which setting of a Config or QuotaConfig has a value that
// means nothing.
type ConfigError struct {
	// Field names the setting: as operators know it where it is public
	// (claim_initial_concurrency), else the field's name in snake case.
	Field string
	// Rule is what the value broke, for example "must be at least 1".
	Rule string
	// Bound names the setting that Rule measured Field against, if there is one.
	Bound string
}

// Error describes the setting and the rule that it broke.
func (e *ConfigError) Error() string {
	if e.Bound == "" {
		return "admission: " + e.Field + " " + e.Rule
	}
	return "admission: " + e.Field + " " + e.Rule + " " + e.Bound
}

const (
	fieldInitial    = "claim_initial_concurrency"
	fieldMax        = "claim_max_concurrency"
	fieldMin        = "min"
	fieldPending    = "claim_max_pending"
	fieldTarget     = "claim_target_ms"
	fieldInterval   = "interval"
	fieldMaxWait    = "claim_max_wait_ms"
	fieldStaleAfter = "stale_after"
	fieldSecond     = "second"
	fieldFactor     = "factor"
	fieldIncrease   = "increase"
	fieldAlpha      = "alpha"
	fieldRetryMin   = "retry_min"
	fieldRetryMax   = "retry_max"

	ruleTooLow   = "must be at least"
	ruleTooHigh  = "must not be above"
	rulePositive = "must be at least 1"
	ruleNegative = "must not be negative"
	ruleTooLarge = "is too large"
	ruleWeight   = "must be above 0 and at most 1"
	ruleStep     = "must be above 0 and finite"
)

// Validate reports the first setting that is negative, zero where that means
// nothing, or on the wrong side of another, as a *ConfigError.
func (c Config) Validate() error {
	d := c.withDefaults()
	for _, f := range []struct {
		broken             bool
		field, rule, bound string
	}{
		{d.Initial < 1, fieldInitial, rulePositive, ""},
		{d.Max < 1, fieldMax, rulePositive, ""},
		{d.Max > maxCount, fieldMax, ruleTooLarge, ""},
		{d.Initial > d.Max, fieldInitial, ruleTooHigh, fieldMax},
		{d.Min < 1, fieldMin, ruleNegative, ""},
		{d.Min > d.Max, fieldMin, ruleTooHigh, fieldMax},
		{d.Initial < d.Min, fieldInitial, ruleTooLow, fieldMin},
		{d.Pending < 0, fieldPending, ruleNegative, ""},
		{d.Pending > maxCount, fieldPending, ruleTooLarge, ""},
		{d.Target < 1, fieldTarget, rulePositive, ""},
		{d.Target > maxSpan, fieldTarget, ruleTooLarge, ""},
		{d.Interval < 1, fieldInterval, ruleNegative, ""},
		{d.Interval > maxSpan, fieldInterval, ruleTooLarge, ""},
		{d.MaxWait < 1, fieldMaxWait, rulePositive, ""},
		{d.MaxWait > maxSpan, fieldMaxWait, ruleTooLarge, ""},
		{d.StaleAfter < 1, fieldStaleAfter, ruleNegative, ""},
		{d.StaleAfter > maxSpan, fieldStaleAfter, ruleTooLarge, ""},
		{d.Second < 1, fieldSecond, ruleNegative, ""},
		// Asked this way round, so that NaN breaks the rule as well.
		{!(d.Factor > 0 && d.Factor <= 1), fieldFactor, ruleWeight, ""},
		{!(d.Increase > 0 && d.Increase <= math.MaxFloat64), fieldIncrease, ruleStep, ""},
		{!(d.Alpha > 0 && d.Alpha <= 1), fieldAlpha, ruleWeight, ""},
		{d.RetryMin < 1, fieldRetryMin, ruleNegative, ""},
		{d.RetryMax < 1, fieldRetryMax, ruleNegative, ""},
		{d.RetryMin > d.RetryMax, fieldRetryMin, ruleTooHigh, fieldRetryMax},
	} {
		if f.broken {
			return &ConfigError{Field: f.field, Rule: f.rule, Bound: f.bound}
		}
	}
	return nil
}

// withDefaults returns c with every zero that stands for a default replaced.
func (c Config) withDefaults() Config {
	setDefault(&c.Min, 1)
	setDefault(&c.Interval, c.Target)
	setDefault(&c.StaleAfter, staleIntervals*min(c.Interval, maxSpan/staleIntervals))
	setDefault(&c.Second, nanosecondsPerSecond)
	setDefault(&c.Factor, 0.7)
	setDefault(&c.Increase, 1)
	setDefault(&c.Alpha, 0.2)
	setDefault(&c.RetryMin, 1)
	setDefault(&c.RetryMax, 30)
	return c
}

func setDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
