package report

import "github.com/skerryhq/skerry/sim/figure"

// Input is what a page is made of.
type Input struct {
	Summary figure.Summary
	// Series are drawn over time. Of several seeds, the one that comes first is.
	Series []figure.PolicySeries
	// Waits are drawn as distributions, over all seeds.
	Waits []Waits
	// Episodes are shaded where something is drawn over time.
	Episodes []Episode
}

// Waits are the times that requests of a namespace, or of one principal, waited before
// they were started.
type Waits struct {
	Policy, Namespace string
	// Principal is empty for all of the namespace.
	Principal string
	Histogram *figure.Histogram
}

// Episode is a time in which something was wrong with a namespace's service.
type Episode struct {
	Namespace, Kind string
	// From and To are virtual times in nanoseconds.
	From, To int64
}

// Request is what became of one request. Times are virtual, in nanoseconds.
type Request struct {
	Seed              uint64
	Policy, Namespace string
	Principal         string
	ID                uint64
	// Attempt counts from 1 how often the client sent it.
	Attempt int
	Arrived int64
	// Started is negative if it never was.
	Started int64
	Ended   int64
	// Outcome says how it ended, and Reason why it was refused.
	Outcome, Reason string
}
