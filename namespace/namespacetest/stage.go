package namespacetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/actors/actorstest"
	"github.com/skerryhq/skerry/namespace"
)

// stageName is the namespace on which everything is played.
const stageName = "stage"

// patience is how long a request may take, in real time.
const patience = 30 * time.Second

// stage is one namespace with the class under test, on real files.
type stage struct {
	suite   Suite
	dir     string
	classes []namespace.Class
	runtime *namespace.Runtime
	namespace.Namespace
	answers Answers
}

// newStage opens a runtime in a directory of its own with one namespace. It is
// closed when the test ends.
func newStage(t testing.TB, s Suite) (*stage, error) {
	return stageWith(t, s, append(append([]namespace.Class{}, s.Needs...), s.Class()))
}

func stageWith(t testing.TB, s Suite, classes []namespace.Class) (*stage, error) {
	g := &stage{suite: s, dir: t.TempDir(), classes: classes, answers: Answers{}}
	if err := g.open(t.Context()); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = g.runtime.Close() }) // what matters is durable already
	_, err := g.runtime.Create(t.Context(), stageName)
	return g, err
}

func (g *stage) open(ctx context.Context) error {
	clock := actorstest.NewClock(time.Date(2030, time.January, 2, 3, 4, 5, 0, time.UTC))
	r, err := namespace.Open(ctx, g.dir, namespace.Options{Classes: g.classes, Clock: clock})
	if err != nil {
		return fmt.Errorf("open runtime: %w", err)
	}
	g.runtime, g.Namespace = r, r.Namespace(stageName)
	return nil
}

// restart ends the runtime and opens another one.
func (g *stage) restart(ctx context.Context, end func(*namespace.Runtime) error) error {
	if err := end(g.runtime); err != nil {
		return fmt.Errorf("end runtime: %w", err)
	}
	return g.open(ctx)
}

// class is the class under test.
func (g *stage) class() namespace.Class { return g.classes[len(g.classes)-1] }

// prepared is an example made into what is sent.
type prepared struct {
	Example
	route   *namespace.Route
	command namespace.Command
	query   namespace.Query
	scope   string
	body    []byte
}

// prepare makes a new command or query of an example.
func (g *stage) prepare(e Example) (p prepared, err error) {
	p = prepared{Example: e, scope: e.Name, body: []byte(e.Name)}
	answers := maps.Clone(g.answers)
	switch {
	case e.Route != "":
		err = p.byRoute(g.class(), answers)
	case e.Command != nil:
		p.command, err = e.Command(answers)
	case e.Query != nil:
		p.query, err = e.Query(answers)
	}
	if err == nil && p.command == nil && p.query == nil {
		err = errors.New("it is neither a command nor a query")
	}
	if err != nil {
		return p, fmt.Errorf("make example %s: %w", e.Name, err)
	}
	return p, nil
}

func (p *prepared) byRoute(c namespace.Class, answers Answers) (err error) {
	if p.route, err = routeOf(c, p.Route); err != nil {
		return err
	}
	var r namespace.Request
	if p.Request != nil {
		if r, err = p.Request(answers); err != nil {
			return err
		}
	}
	r.Caller, r.Namespace, r.Base = p.caller(), stageName, "/ns/"+stageName+"/api/v2"
	p.scope, p.body = p.Route, r.Body
	for name, value := range r.Path {
		p.scope = strings.NewReplacer("{"+name+"}", value, "{"+name+"...}", value).Replace(p.scope)
	}
	switch {
	case p.route.Command != nil:
		p.command, err = p.route.Command(&r)
	case p.route.Query != nil:
		p.query, err = p.route.Query(&r)
	}
	return err
}

// call is a command as the runtime takes it. key is its idempotency key, empty
// for none.
func (p prepared) call(class, key string) namespace.Call {
	c := namespace.Call{Class: class, Caller: p.caller(), Command: p.command}
	if key != "" {
		c.Idempotency = namespace.Idempotency{Key: key, Scope: p.scope, BodySHA256: sha256.Sum256(p.body)}
	}
	return c
}

// send carries out an example, and keeps the answer to a command.
func (g *stage) send(ctx context.Context, e Example, key string) (namespace.Outcome, error) {
	p, err := g.prepare(e)
	if err != nil {
		return namespace.Outcome{}, err
	}
	out, err := g.sendPrepared(ctx, p, key)
	if err == nil && p.command != nil {
		g.answers[e.Name] = out.Answer
	}
	return out, err
}

func (g *stage) sendPrepared(ctx context.Context, p prepared, key string) (out namespace.Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if p.command != nil {
		out, err = g.Do(ctx, p.call(g.class().Name, key))
	} else {
		out.Answer, err = g.Read(ctx, g.class().Name, p.caller(), p.query)
	}
	if err != nil {
		return out, fmt.Errorf("example %s: %w", p.Name, err)
	}
	return out, nil
}

// walk carries out the suite's commands.
func (g *stage) walk(ctx context.Context) error {
	for _, e := range g.suite.Commands {
		if _, err := g.send(ctx, e, ""); err != nil {
			return err
		}
	}
	return nil
}

// walked is a stage on which the suite's commands have been carried out.
func walked(t testing.TB, s Suite) (*stage, error) {
	g, err := newStage(t, s)
	if err != nil {
		return nil, err
	}
	return g, g.walk(t.Context())
}

// document is an answer as it is sent.
func document(a namespace.Answer) ([]byte, error) {
	if a.Raw != nil {
		return a.Raw.Bytes, nil
	}
	if stored, ok := a.Encoded(); ok {
		return stored, nil
	}
	return namespace.Encode(a.Body)
}

// status is an answer's HTTP status.
func status(a namespace.Answer) int {
	if a.Status == 0 {
		return 200
	}
	return a.Status
}
