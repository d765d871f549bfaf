// Package storage keeps named SQLite files in one locked directory.
//
// A [Store] owns the directory: one process, one Store. Each name is one SQLite
// file, opened at most once as a [File]. A File has one writer goroutine, which
// commits whatever is queued as a group, and a few read-only connections for
// views. The package knows nothing of what the files hold.
//
// Invariants:
//
//   - An [Op] is settled exactly once. It is settled with nil only after the
//     commit that holds it is durable: synced, or, if the file is relaxed,
//     handed to the operating system.
//   - An Op runs in a savepoint of its own. Its error rolls back that Op and
//     nothing else.
//   - What a view sees is at least as new as every write settled before the
//     view began.
//   - A name exists with its whole schema or not at all: a new file is built
//     under another name and renamed once it is on the disk.
//   - A file that failed (input or output error, corruption, a panic in a
//     command) serves nothing more until it is closed and opened again, and is
//     then written out and checked before it serves.
//   - On a full disk what keeps things alive or ends work goes on, in room that
//     the directory keeps in reserve; nothing else is written until there is
//     room for the reserve again.
//   - A file that this program cannot understand is not changed by a byte.
//
// Constraints must be immediate. A deferred constraint is only checked by the
// commit, and would fail every Op of the group.
package storage
