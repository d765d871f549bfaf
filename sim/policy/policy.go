// Package policy holds the ways of admission that the simulator compares: the
// production controller, and others written from their publications. A policy is
// stepped like the controller: every event takes the time and returns what it decided.
// None has a clock, a goroutine or a source of chance that is not given to it.
package policy

import "github.com/skerryhq/skerry/admission"

// Policy admits the requests of one namespace. Times are virtual, in nanoseconds, and
// never run backwards. The slice returned by an event is valid until the next event. It
// is not safe for concurrent use.
type Policy interface {
	// Arrive asks for a slot. Every request is decided by one Start or one Refuse,
	// in this event or a later one; ids are never used again.
	Arrive(now int64, id admission.ID, principal string) []admission.Decision
	// Finish reports that the work of a request that was started has ended, after the
	// service time, in nanoseconds; ok is false if it failed.
	Finish(now int64, id admission.ID, service int64, ok bool) []admission.Decision
	// Cancel withdraws a request. One that runs goes on to its Finish.
	Cancel(now int64, id admission.ID) []admission.Decision
	// Next is when the policy must be told of the time, and false for never.
	Next() (at int64, ok bool)
	// Tick tells the policy the time.
	Tick(now int64) []admission.Decision
	// Status is how the policy stands.
	Status() Status
}

// Status is how a policy stands at one moment.
type Status struct {
	// Limit is how many requests it lets run at once; negative for no limit.
	Limit float64
	// InFlight and Pending count the requests that run and wait.
	InFlight, Pending int
	// Average is the moving average that the policy goes by, in nanoseconds, if it
	// has one.
	Average float64
}
