// Package sim runs scenarios on virtual time: it puts the production controller, and
// the policies that it is compared with, before the same arrivals and the same server,
// and tells what became of every request. Runs of tenants go through the production
// scheduler.
//
// A simulation is single-threaded and steps from event to event, ordered by time and
// then by the order in which they were made. Every source of chance has a stream of its
// own, split off the seed by what it is for, so that adding one principal changes no
// draw of another, and all policies see the same arrivals and the same work. The same
// scenario and seed therefore give the same bytes, on every machine.
//
// After each step the invariants of the policy are checked; a violation is an error that
// names seed and step.
package sim
