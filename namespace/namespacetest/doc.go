// Package namespacetest holds the tests that every class of namespaces must
// pass. A class's author describes the class to it by example requests and calls
// [Run]; the runtime and its files are real, the clock stands still.
//
// What is tested is what the contract of package namespace promises to others on
// the class's behalf, and what its own tests easily leave out:
//
//   - Routes are unique, whole and documented, and each has an example.
//   - Tables, indexes, triggers and views bear the class's name, no constraint is
//     deferred, and each migration is recorded once.
//   - A command that fails leaves nothing behind, in rows or in memory.
//   - A command sent again with its idempotency key has its effect once and gets
//     the same bytes.
//   - Commands that are gathered in one commit leave the tables that they leave
//     one by one.
//   - Rows, events, the alarm and the answers of queries survive a restart, after
//     a shutdown and after a kill.
//   - Answers have the status that their route announces, and encode.
//   - A query that can be followed gives frames that can be sent, and goes on behind
//     each of them.
package namespacetest
