// Package claims is the class of the claims service: workers claim units of work
// under leases and submit artifacts for receipts.
//
// A noun is an immutable, versioned input or artifact. A verb is a unit of work
// that reads nouns and makes one; attempts at the same brief form a group. A
// claim grants one ready verb to one principal under a lease with a fencing
// token, and a receipt is the permanent record of one accepted submission.
//
// Invariants, each held by the transaction that could break it:
//
//   - A verb has at most one live claim, and each claim's fence is greater than
//     every earlier one of the namespace.
//   - A lease whose time is over is over, whether or not it has been swept.
//   - A verb ends once. What ended it cannot be overwritten, except that a failed
//     verb can be requeued, which makes every earlier claim of it stale.
//   - An artifact, its receipt, the idempotency record, the end of the verb and
//     the unblocking of its dependants are one transaction.
//   - Receipts are numbered from 1 without gaps and never change.
//
// [Class] is what a runtime is opened with; its routes serve HTTP, and [Of] gives
// the same operations in process. The class's memory holds hints only: whatever
// is promised stands in the file.
package claims
