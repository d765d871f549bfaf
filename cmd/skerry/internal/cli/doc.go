// Package cli is the command line of skerry: one file per command, on top of
// package client.
//
// What a program reads goes to standard output: tables for people, and with
// --json the documents of the API, one per line. Everything else, errors,
// progress and notes, goes to standard error. An error is one line that says what
// failed and what to do about it, and the exit code tells its kind (see
// [Main]). Keys are never printed, except once by the command that makes one.
package cli
