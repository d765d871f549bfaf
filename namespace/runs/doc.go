// Package runs is the service of durable runs as a class of namespaces: batches of
// items that are admitted whole, cut into quanta, scheduled fairly across tenants
// and worked on by whoever holds a slot.
//
// A run is admitted in one transaction with its items, its reservation of its
// tenant's budget and the record of its idempotency key. Whenever a slot of a pool
// becomes free, a worker asks for a quantum; which run it is cut from is decided by
// package schedule alone. A quantum is a lease on a few items under one fencing
// token. An item takes a result only under the token of its newest grant, so that of
// two workers that believe they hold it one is right. When the last item of a run
// has ended, the run ends in the same transaction, and its reservation is released.
//
// What a restart must not forget is in the file: how each run, item and quantum
// stands, what tenants have reserved and attained. The scheduler mirrors it in
// memory, is filled from it at activation and again after any rollback. Singular
// calls (invoke) are offered to the same workers through the same scheduler and are
// in memory alone.
//
// The invariants, each held by the transaction that could break it:
//
//   - A run that has not ended has at least one item that has not, and a run that
//     has ended has none.
//   - A tenant's reservation is the sum over its runs that have not ended.
//   - A run's events are numbered from 1 without gaps, in the order of commits, and
//     the event of an item's or run's end is in the transaction of that end.
//   - An item's result is in the file if and only if its event says so.
package runs
