package namespacetest

import (
	"fmt"
	"testing"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Suite describes a class to its conformance tests. Class and Commands are
// required.
type Suite struct {
	// Class makes the class under test. It is called for every runtime.
	Class func() namespace.Class
	// Needs are classes that must be in the same namespace.
	Needs []namespace.Class
	// Commands are requests in the order in which a client sends them. Each must
	// succeed. The more tables they fill, the more is tested.
	Commands []Example
	// Concurrent are commands that succeed behind Commands in any order, and
	// leave the same tables in any.
	Concurrent []Example
	// Queries are asked behind Commands. They must not wait. Those that can be
	// followed are, until they have no more to tell.
	Queries []Example
	// Volatile names the columns, as "table.column", whose values may differ from
	// one namespace to another that has had the same commands: signed ids,
	// fencing tokens, idempotency keys in the rows of a [namespace.Recorder].
	// "ns_event.body" stands for the bodies of the class's events.
	Volatile []string
}

// Example is one request: by a route of the class, or, where it has none, as the
// command or query itself.
type Example struct {
	// Name is unique among the examples of a suite.
	Name string
	// Caller is who asks. Without a Principal it is one called "example", with the
	// role of an admin.
	Caller namespace.Caller
	// Route is the route's method and path, as in "POST /rooms/{room}/messages".
	// Request is what it is given, which may depend on what the commands before
	// have answered; nil is an empty request.
	Route   string
	Request func(Answers) (namespace.Request, error)
	// Command and Query make what is sent if there is no Route.
	Command func(Answers) (namespace.Command, error)
	Query   func(Answers) (namespace.Query, error)
}

// Answers are the answers to the commands so far, by the name of the example;
// [namespace.Document] reads them.
type Answers map[string]namespace.Answer

// Run tests a class. Its subtests run in parallel with each other.
func Run(t *testing.T, s Suite) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, err := range c.run(t, s) {
				t.Error(err)
			}
		})
	}
}

// check is one test. It returns what it finds wrong, so that this package's own
// tests can see it.
type check struct {
	name string
	run  func(testing.TB, Suite) []error
}

func checks() []check {
	return []check{
		{"routes", checkRoutes},
		{"schema", checkSchema},
		{"answers", checkAnswers},
		{"rollback", checkRollback},
		{"idempotency", checkReplay},
		{"concurrency", checkConcurrency},
		{"restart", checkRestart},
		{"streams", checkStreams},
	}
}

// examples are all examples of the suite.
func (s Suite) examples() []Example {
	var all []Example
	for _, some := range [][]Example{s.Commands, s.Concurrent, s.Queries} {
		all = append(all, some...)
	}
	return all
}

// caller is who asks.
func (e Example) caller() namespace.Caller {
	if e.Caller.Principal != "" {
		return e.Caller
	}
	return namespace.Caller{Principal: "example", Roles: []api.Role{api.RoleAdmin}}
}

// routeOf finds a route of the class by method and path.
func routeOf(c namespace.Class, name string) (*namespace.Route, error) {
	for n := range c.Routes {
		if r := &c.Routes[n]; r.Method+" "+r.Path == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the class has no route %q", name)
}
