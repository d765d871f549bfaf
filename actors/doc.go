// Package actors turns names into actors: at most one live instance per name,
// activated when it is first needed, passivated when it has been idle or when
// too many others are active, and activated again by the next request or by a
// wake-up that falls due.
//
// A [Directory] is a router. Its callers never hold an actor; they hold a
// [Pin], which keeps one activation from being passivated while they talk to
// it. The package knows nothing of what an instance does or where it keeps its
// state. Mailboxes and turns are those of protoactor-go, which is imported here
// and nowhere else.
//
// # Invariants
//
//   - Of one name there is never more than one instance between the start of
//     Activate and the return of Close. A successor is not begun before its
//     predecessor has released everything.
//   - Receive, Drain, Idle and Panicked of one instance run in its turn, never
//     two at a time; Close runs when no turn is running and none will.
//   - A message told through a pin is handed to Receive or to Refuse, to one of
//     them, once.
//   - An instance that drains is not closed while a pin is held. One that has
//     failed, or that a directory closes at once, is closed without waiting for
//     pins: whoever waits for an answer gets it from Refuse or from Close.
//   - A panic in an instance fails that instance alone.
//   - No lock is shared by the requests of two names that are active. An active
//     instance that has nothing to do costs no goroutine and no timer.
//
// # Life of an activation
//
//	absent → activating → active → draining → absent
//	                         └──────┴→ failed → absent
//
// While a name is activating, its callers wait for the one activation; its
// error reaches all of them, and the next caller tries again. While it drains
// or has failed, callers wait until it is closed and then activate it anew.
package actors
