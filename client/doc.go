// Package client talks to a Skerry server over HTTP.
//
// A [Client] works in one namespace: it creates nouns and verbs, claims work,
// renews leases, submits artifacts and reads receipts. It submits durable runs,
// follows their events and reads their results, and as a worker computes their
// items. An [Operator] has the routes of the node: namespaces, their settings and their keys. Both are safe
// for concurrent use. Documents are those of package api, and every refusal of
// the server is an *api.Error, so that errors.Is and api.IsCode ask for a code.
//
// The package holds to these rules:
//
//   - A request is sent again only if that is safe: the server refused it and
//     said that it may be retried, or it never left, or it is harmless twice (a
//     read, a heartbeat, a request with an Idempotency-Key). The bytes of every
//     try are the same.
//   - The server's advice of when to come back is honoured within sane bounds,
//     with up to a fifth added so that clients that were refused together do not
//     return together.
//   - A lease is counted on the local monotonic clock from when the request that
//     granted or renewed it was sent. Work stops when it lapses by that count,
//     whatever the wall clocks say. A refusal by the server ends a lease at once;
//     trouble on the way does not.
//   - The events of a run come without gap or repetition, over however many
//     connections.
//   - Every goroutine that a call starts has ended when its owner says so:
//     [Lease.Stop], [Client.Work] and [Client.WorkRuns] wait.
//
// The package imports the standard library and package api only.
package client
