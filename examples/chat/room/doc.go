// Package room is a class of Skerry's, written by hand to show the whole
// contract: chat rooms, in which messages are posted, read and waited for, and
// which close when nobody has spoken for a while.
//
// A class brings tables (migrations), commands that change them, queries that
// read them, memory with the powers it needs (here the one to be woken), and HTTP
// routes as plain data. It opens no file, locks nothing, starts no goroutine and
// knows no clock but that of the turn: the runtime does the rest, durably.
//
// The numbers of a room's messages begin at 1 and have no gap. A room that was
// closed and is spoken in again begins anew.
package room
