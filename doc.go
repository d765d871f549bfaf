// Package skerry embeds the Skerry runtime: namespaces that are actors, each with
// its own SQLite file and its own adaptive admission controller, and services
// that run in them.
//
// A program opens a runtime on a data directory, creates namespaces, and calls
// their services in process or over HTTP:
//
//	rt, err := skerry.Open(ctx, "data", skerry.Options{})
//	...
//	defer rt.Close()
//	rt.Create(ctx, "acme")
//	work := claims.Of(rt.Namespace("acme"), skerry.Caller{Principal: "me"})
//
// Every namespace has the claims service (package namespace/claims). An embedder
// adds services of its own as classes; package namespace says how.
package skerry
