package claims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
)

// model says what the service must do, in the plainest way: it looks at every
// verb for everything.
type model struct {
	now    time.Time
	verbs  []*modelVerb
	claims []*modelClaim
	// receipts counts submissions.
	receipts int64
}

type modelVerb struct {
	id       string
	kind     string
	input    int // the verb whose artifact it needs, -1 for none
	state    api.VerbState
	attempts int
	max      int
	until    time.Time // not ready before
	lease    time.Time // leased until
	holder   *modelClaim
}

type modelClaim struct {
	id, principal string
	fence         int64
	verb          *modelVerb
	length        time.Duration
	over          string // "", expired, handed back
	stale         bool
}

// settle gives an open verb that nobody holds its state.
func (m *model) settle(v *modelVerb) {
	v.state = api.VerbReady
	if v.until.After(m.now) || v.input >= 0 && m.verbs[v.input].state != api.VerbSucceeded {
		v.state = api.VerbBlocked
	}
}

// pass lets time go by, and ends what it ends.
func (m *model) pass(d time.Duration) {
	m.now = m.now.Add(d)
	for _, v := range m.verbs {
		if v.state == api.VerbLeased && !v.lease.After(m.now) {
			v.holder.over = "expired"
			m.spend(v)
		}
		if v.state == api.VerbBlocked {
			m.settle(v)
		}
	}
}

func (m *model) spend(v *modelVerb) {
	if v.attempts++; v.attempts >= v.max {
		v.state = api.VerbFailed
		return
	}
	m.settle(v)
}

// standing is the row of the answers that applies to a claim.
func (m *model) standing(c *modelClaim) string {
	switch {
	case c.verb.state == api.VerbCancelled:
		return "cancelled"
	case c.verb.state.Ended():
		return "succeeded"
	case c.over == "handed back":
		return "released"
	case c.stale || c.verb.holder != c:
		return "granted again"
	case c.over == "expired":
		return "expired"
	}
	return "live"
}

// wanted are the verbs that a claim must get, in order.
func (m *model) wanted(kinds []string, most int) []*modelVerb {
	var got []*modelVerb
	for _, v := range m.verbs {
		if len(got) < most && v.state == api.VerbReady && (len(kinds) == 0 || slices.Contains(kinds, v.kind)) {
			got = append(got, v)
		}
	}
	return got
}

// machine carries out the same commands on the model and on the service.
type machine struct {
	*world
	rt *rapid.T
	m  model
}

func (x *machine) create() {
	v := &modelVerb{
		kind: rapid.SampledFrom([]string{"a", "b"}).Draw(x.rt, "kind"), max: rapid.IntRange(1, 3).Draw(x.rt, "max attempts"),
		input: rapid.IntRange(-1, len(x.m.verbs)-1).Draw(x.rt, "input"),
	}
	spec := api.VerbSpec{Kind: v.kind, Artifact: fmt.Sprintf("out/%d", len(x.m.verbs)), MaxAttempts: &v.max}
	if v.input >= 0 {
		spec.Inputs = keys(fmt.Sprintf("out/%d", v.input))
	}
	if rapid.Bool().Draw(x.rt, "later") {
		v.until = x.m.now.Add(3 * time.Second)
		spec.NotBefore = &v.until
	}
	got, err := x.as("producer").CreateVerb(x.ctx(), spec)
	x.must(err)
	v.id = got.ID
	x.m.verbs = append(x.m.verbs, v)
	x.m.settle(v)
}

func (x *machine) take() {
	who := rapid.SampledFrom([]string{"p", "q"}).Draw(x.rt, "principal")
	most := rapid.IntRange(1, 9).Draw(x.rt, "max")
	kinds := rapid.SampledFrom([][]string{nil, {"a"}, {"b", "a"}}).Draw(x.rt, "kinds")
	length := time.Duration(rapid.IntRange(1, 5).Draw(x.rt, "lease")) * time.Second
	got, err := x.as(who).Claim(x.ctx(), api.ClaimSpec{Kinds: kinds, Max: &most, LeaseMs: ptr(length.Milliseconds())})
	x.must(err)
	want := x.m.wanted(kinds, most)
	if len(got.Claims) != len(want) {
		x.rt.Fatalf("claim of %v: got %d verbs, want %d", kinds, len(got.Claims), len(want))
	}
	for i, c := range got.Claims {
		v := want[i]
		if c.Verb.ID != v.id {
			x.rt.Fatalf("claim of %v: got %s, want %s", kinds, c.Verb.ID, v.id)
		}
		for _, old := range x.m.claims {
			if old.fence >= c.Fence {
				x.rt.Fatalf("fence: got %d after %d", c.Fence, old.fence)
			}
		}
		v.holder = &modelClaim{id: c.ID, principal: who, fence: c.Fence, verb: v, length: length}
		v.state, v.lease, v.until = api.VerbLeased, x.m.now.Add(length), time.Time{}
	}
	for _, v := range want {
		x.m.claims = append(x.m.claims, v.holder)
	}
}

// command carries out a command on some claim, and what it does to the model.
func (x *machine) use() {
	if len(x.m.claims) == 0 {
		return
	}
	c := rapid.SampledFrom(x.m.claims).Draw(x.rt, "claim")
	i := rapid.IntRange(0, len(commandNames)-1).Draw(x.rt, "command")
	standing := x.m.standing(c)
	want := answers[standing][i]
	if got := x.command(commandNames[i], c.principal, c.id, c.fence); got != want {
		x.rt.Fatalf("%s of a claim that is %s: got %s, want %s", commandNames[i], standing, got, want)
	}
	v := c.verb
	switch want {
	case "renewed":
		if until := x.m.now.Add(c.length); until.After(v.lease) {
			v.lease = until
		}
	case "receipt", "late receipt":
		if want == "receipt" {
			v.attempts++
		}
		v.state = api.VerbSucceeded
		x.m.receipts++
		for _, dependant := range x.m.verbs {
			if dependant.state == api.VerbBlocked {
				x.m.settle(dependant)
			}
		}
	case "verb":
		x.handBack(c, commandNames[i], standing)
	}
}

func (x *machine) handBack(c *modelClaim, command, standing string) {
	if standing != "live" {
		return
	}
	c.over = "handed back"
	if command == "release" {
		x.m.settle(c.verb)
		return
	}
	c.verb.until = x.m.now.Add(time.Second << c.verb.attempts)
	x.m.spend(c.verb)
}

func (x *machine) cancelOne() {
	if len(x.m.verbs) == 0 {
		return
	}
	v := rapid.SampledFrom(x.m.verbs).Draw(x.rt, "verb")
	_, err := x.as("producer").Cancel(x.ctx(), v.id)
	if v.state.Ended() && v.state != api.VerbCancelled {
		if !api.IsCode(err, api.VerbTerminal) {
			x.rt.Fatalf("cancel of a verb that is %s: got %v", v.state, err)
		}
		return
	}
	x.must(err)
	v.state = api.VerbCancelled
}

func (x *machine) requeueOne() {
	if len(x.m.verbs) == 0 {
		return
	}
	v := rapid.SampledFrom(x.m.verbs).Draw(x.rt, "verb")
	_, err := x.as("producer").Requeue(x.ctx(), v.id)
	if v.state != api.VerbFailed {
		if !api.IsCode(err, api.VerbNotFailed) {
			x.rt.Fatalf("requeue of a verb that is %s: got %v", v.state, err)
		}
		return
	}
	x.must(err)
	for _, c := range x.m.claims {
		c.stale = c.stale || c.verb == v
	}
	v.attempts, v.until = 0, time.Time{}
	x.m.settle(v)
}

func (x *machine) advance() {
	d := time.Duration(rapid.IntRange(1, 4000).Draw(x.rt, "ms")) * time.Millisecond
	x.clock.Advance(d)
	x.m.pass(d)
}

// check compares every verb with the model. A claim that can get nothing comes
// first: it sweeps what is due, as the alarm does at its own pace.
func (x *machine) check() {
	if got := x.claims("nobody", api.ClaimSpec{Kinds: []string{"none"}}); len(got.Claims) != 0 {
		x.rt.Fatalf("claim of no kind: got %v", verbsOf(got))
	}
	page, err := x.as("x").Verbs(x.ctx(), claims.VerbFilter{}, claims.Page{Limit: 1000})
	x.must(err)
	for i, v := range page.Data {
		want := x.m.verbs[i]
		if v.State != want.state || v.AttemptCount != want.attempts {
			x.rt.Fatalf("verb %d: got %s after %d attempts, want %s after %d", i, v.State, v.AttemptCount, want.state, want.attempts)
		}
	}
	if n := x.number(`SELECT coalesce(max(sequence), 0) FROM claims_receipt`); n != x.m.receipts {
		x.rt.Fatalf("receipts: got %d, want %d", n, x.m.receipts)
	}
}

func (x *machine) must(err error) {
	if err != nil {
		x.rt.Fatal(err)
	}
}

func TestServiceDoesWhatTheModelSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *namespace.Settings) { s.Durability = "relaxed" })
	spaces := 0
	rapid.Check(t, func(rt *rapid.T) {
		spaces++
		name := fmt.Sprintf("model%d", spaces)
		if _, err := w.rt.Create(w.ctx(), name); err != nil {
			rt.Fatal(err)
		}
		own := *w
		own.ns = w.rt.Namespace(name)
		x := &machine{world: &own, rt: rt, m: model{now: w.clock.Now()}}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(*rapid.T) { x.create() }, "claim": func(*rapid.T) { x.take() },
			"use": func(*rapid.T) { x.use() }, "use again": func(*rapid.T) { x.use() },
			"cancel": func(*rapid.T) { x.cancelOne() }, "requeue": func(*rapid.T) { x.requeueOne() },
			"advance": func(*rapid.T) { x.advance() }, "": func(*rapid.T) { x.check() },
		})
		if err := w.rt.Delete(w.ctx(), name); err != nil {
			rt.Fatal(err)
		}
	})
}
