// Package namespace is the heart of Skerry: it composes an actor, a SQLite file
// and an admission controller into a namespace, and gives classes (plug-ins such
// as claims) a contract by which they run in it.
//
// # The path of a command
//
// A caller's goroutine pins the namespace (which activates it if need be) and
// tells its actor the command. In its turn the actor sees to idempotency keys
// in use, to the operator's quotas and, for commands that are [Admitted], to the
// admission controller. What may start goes to the namespace's writer, which
// gathers whatever is queued into one transaction, carries out each command in
// a savepoint, commits once and then tells the actor. In a later turn the actor
// gives the slot back to the controller with the measured service time, wakes
// what waited for the change, and answers the caller.
//
// # Invariants
//
//   - No answer leaves before the commit it depends on is durable.
//   - The actor never blocks on the disk; the writer never waits for the actor.
//   - What the actor owns (controller, queue, parked commands) changes only in
//     its turn. What the writer owns (fences, alarms, the memory of classes)
//     changes only on the writer's goroutine. The two meet in messages.
//   - Every command is answered exactly once, also when the namespace fails,
//     is passivated or deleted under it.
//   - Everything in memory can be thrown away: it is a hint, or it mirrors rows.
//
// Reads do not pass the actor: they run on the caller's goroutine against a
// snapshot that holds every acknowledged write.
package namespace
