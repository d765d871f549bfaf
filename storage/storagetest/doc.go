// Package storagetest makes the disk misbehave under SQLite.
//
// [NewVFS] registers a SQLite VFS that passes everything on to the default one,
// except for the faults that a test switches on: slow syncs, failing syncs and a
// full disk, for all files or for those whose path holds a pattern. It counts
// syncs. The shim is C, because SQLite calls it, and it is linked beside the
// driver without changing it.
package storagetest
