// Package admission decides when a request may start, for one namespace: at
// once, after waiting its turn, or not at all. It is pure. Nothing in it reads a
// clock, takes a lock, starts a goroutine or draws a random number: every event
// is a call with its time, and the same events give the same decisions. A server
// and a simulation can therefore drive the same code.
//
// # Algorithm
//
// A [Controller] lets as many requests run as its limit says, and moves the
// limit by what it measures. The measure is an exponential average of service
// time: from the start of a request to the durable completion of its work,
// without its time in the queue. Above the target the limit is multiplied by a
// factor below 1; at or below it, and only if every slot was in use, the limit
// is raised by a constant. Chiu and Jain ("Analysis of the Increase and Decrease
// Algorithms for Congestion Avoidance in Computer Networks", 1989) show that of
// the linear rules this pair converges to a fair and efficient use. It changes
// at most once in an interval, so that a change shows in the average before the
// next is judged.
//
// What cannot start waits in a bounded queue. Principals with waiters stand in a
// ring and take turns, and each is served first come first served: fair queueing
// as Nagle ("On Packet Switches with Infinite Storage", 1985) proposed it, with
// requests that count alike, which Demers, Keshav and Shenker ("Analysis and
// Simulation of a Fair Queueing Algorithm", 1989) refined for packets that do
// not. A principal that asks for less than an equal share of the throughput gets
// all it asks for, and the others share the rest: max-min fairness.
//
// The slots of a full queue are shared likewise. An arriver that holds less than
// its share takes the place of the newest waiter of whoever holds the most, if
// that is more than the share. Nothing is taken from anybody before the queue is
// full, so that a principal alone may use every slot.
//
// # Promises
//
//   - Within an event, waiters at their deadline are refused first, then the
//     event is judged, then free slots are given away. Nobody starts at or after
//     its deadline, even if a slot is freed at that very instant.
//   - After an event, either nobody waits or every slot is in use. One request
//     may always run. An arrival never overtakes a waiter.
//   - Of two principals that have waited without a break, neither is granted
//     two more than the other.
//   - Each request is refused, cancelled or finished exactly once.
//   - A lower limit stops nothing that runs.
//   - No event costs more than O(log n) in the number of live requests, but for
//     the requests that it decides on. At a steady load none allocates.
//
// A [Gate] puts a controller behind an operator's switch: enforce, observe only,
// or refuse all. A [Quota] is the plain alternative, a number of passes in a
// sliding window, for those who need one besides.
package admission
