// Package api is the vocabulary that a Skerry server and its clients share: the
// JSON documents on the wire, the error codes with their HTTP statuses, and the
// header names.
//
// It imports the standard library only, so that a client which links it links
// no database and no actor system. Every document is a plain struct; none has
// behaviour beyond encoding. Times are in UTC with millisecond precision and
// appear as RFC 3339; durations are integers in milliseconds whose names end in
// _ms.
package api
