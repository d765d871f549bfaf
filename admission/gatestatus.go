package admission

import "iter"

// Mode returns the mode in force.
func (g *Gate) Mode() Mode { return g.mode }

// Counters returns what has been counted so far.
func (g *Gate) Counters() Counters { return g.counters }

// Running returns the number of requests that were started and not yet
// reported finished, whatever the mode.
func (g *Gate) Running() int { return g.running }

// Limit returns the controller's exact limit.
func (g *Gate) Limit() float64 { return g.controller.Limit() }

// Concurrency returns the controller's limit in force.
func (g *Gate) Concurrency() int { return g.controller.Concurrency() }

// Average returns the controller's average service time in the caller's unit,
// or false before the first sample.
func (g *Gate) Average() (float64, bool) { return g.controller.Average() }

// InFlight returns the number of requests that hold a slot of the controller.
// Under Shadow, Running may be higher.
func (g *Gate) InFlight() int { return g.controller.InFlight() }

// Pending returns the length of the controller's queue. Under Shadow those
// requests would wait, and in truth run.
func (g *Gate) Pending() int { return g.controller.Pending() }

// OldestWait returns how long the oldest in the controller's queue has waited at
// now, as Controller.OldestWait.
func (g *Gate) OldestWait(now int64) int64 { return g.controller.OldestWait(now) }

// Standing returns what the named principal has in the controller at now.
func (g *Gate) Standing(now int64, name string) Standing { return g.controller.Standing(now, name) }

// Principals yields the standing of every principal in the controller, as
// Controller.Principals.
func (g *Gate) Principals(now int64) iter.Seq[Standing] { return g.controller.Principals(now) }

// NextDeadline returns the instant at which the caller should Tick, or false if
// no request really waits: under Shadow, deadlines that pass between two events
// change nothing before the second.
func (g *Gate) NextDeadline() (int64, bool) {
	if g.mode == Shadow {
		return 0, false
	}
	return g.controller.NextDeadline()
}
