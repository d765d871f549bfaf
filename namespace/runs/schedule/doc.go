// Package schedule decides which run's items the next free slot of a pool gets. It
// is pure: it steps on explicit times, holds no lock, starts nothing and draws no
// random number, so that a server and a simulator that call it with the same events
// get the same decisions.
//
// # The rules
//
// A slot asks for work of a pool, and perhaps of some kinds only. Candidates are the
// runs of the pool and kinds that have pending items.
//
//   - If the pool's last pick was not by aging, and a candidate has gone the aging
//     time or longer without a pick, the one that has waited longest goes first. So
//     no candidate loses every decision, and at least every second pick is by cost.
//   - Otherwise the tenant goes first that has attained the least cost, and of its
//     candidates the run that has. Tenants that are level go by who was picked
//     longest ago, runs by their numbers.
//   - A quantum is the run's lowest pending items, as many as the slot takes, ending
//     once their estimated cost has reached a bound.
//   - Run and tenant are charged the estimate at the pick, and what the work really
//     cost when it is settled. Items that come back give their charge back.
//   - Who had nothing pending and gets something starts no lower than the least among
//     those who have: absence earns no credit, and a newcomer does not starve the
//     rest.
//
// Attained cost, the order of picks and joining count over all pools; only
// candidates and the alternation of aging belong to one.
//
// The attained cost is a virtual time as in start-time fair queueing (Goyal, Vin and
// Cheng, 1996), and joining at the least of those that wait is what Linux's completely
// fair scheduler does with a task that wakes up. Between two tenants that always have
// pending items and are picked by cost, the attained costs therefore differ by no more
// than the dearest quantum.
//
// # Cost
//
// Every event costs the logarithm of the number of tenants and runs concerned, times
// the number of kinds that a request names; a pick allocates nothing. A tenant that
// was seen is kept, with its attained cost, as long as the scheduler.
package schedule
