// Package httpapi gives a runtime its HTTP form: routing, identity, limits, and
// the one place where errors become answers.
//
// All routes, those that classes bring and those of the node, are rows of one
// table. The router is mounted from it, and the description of the API is
// generated from it, so neither can know a route that the other does not.
//
// A request is judged in a fixed order, and the first thing wrong is what its
// client is told: the namespace's name, the route and method, the identity, the
// roles, the path and headers, the body's size, the body. Nothing of a body is
// read for a request that is not authorized, and a name that is not valid
// reaches no path of the file system.
//
// The invariants:
//
//   - every answer that is not 2xx or 304 is an [api.ErrorBody] with the request
//     id that stands in the log; the text of an internal error is logged and
//     never sent;
//   - every 429 and 503 carries Retry-After in whole seconds, at least 1, and
//     the same time in the document;
//   - no secret, query value or body is logged;
//   - reading a request is bounded in bytes and in time, answering it only by
//     what it asked to wait for;
//   - a stream of events is never silent for long, and a client that does not read
//     it is cut off, at once if it would keep a namespace from its end.
package httpapi
