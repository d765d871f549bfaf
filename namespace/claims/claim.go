package claims

import (
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Bounds of claims.
const (
	minLeaseMs = 100
	maxLeaseMs = 3_600_000
	maxClaimed = 64
	maxKinds   = 64
	maxWaitMs  = 30_000
)

// claim grants ready verbs to the caller. It is the only command that passes
// admission.
type claim struct {
	kinds   []string // empty for any
	max     int
	leaseMs int64 // 0: the verb's own, or the setting
	wait    time.Duration
	// base is the path below which inputs can be read.
	base string

	// idle is set once the claim was counted as an empty one, so that being
	// parked and taken up again does not count again.
	idle *api.Idle
}

// newClaim checks a claim. Fields in errors begin with prefix.
func newClaim(prefix, base string, spec api.ClaimSpec) (*claim, error) {
	c := &claim{kinds: spec.Kinds, base: base}
	if len(spec.Kinds) > maxKinds {
		return nil, api.Invalid(prefix+"kinds", "too many kinds").With("limit", maxKinds).With("actual", len(spec.Kinds))
	}
	for i, kind := range spec.Kinds {
		if err := checkKind(fmt.Sprintf("%skinds[%d]", prefix, i), kind); err != nil {
			return nil, err
		}
	}
	var err error
	if c.max, err = optional(prefix+"max", spec.Max, 1, 1, maxClaimed); err != nil {
		return nil, err
	}
	if c.leaseMs, err = optional(prefix+"lease_ms", spec.LeaseMs, 0, minLeaseMs, maxLeaseMs); err != nil {
		return nil, err
	}
	waitMs, err := optional(prefix+"wait_ms", spec.WaitMs, 0, 0, maxWaitMs)
	c.wait = milliseconds(waitMs)
	return c, err
}

// Wait is how long the claim waits for work.
func (c *claim) Wait() time.Duration { return c.wait }

// PassesAdmission makes the claim a command that passes admission.
func (c *claim) PassesAdmission() {}

// Apply serves the claim alone.
func (c *claim) Apply(t *namespace.Turn) (namespace.Answer, error) {
	demands, err := serve([]*namespace.Turn{t})
	if err != nil {
		return namespace.Answer{}, err
	}
	return demands[0].answer, demands[0].err
}

// ApplyAll serves many claims with the same few statements.
func (c *claim) ApplyAll(turns []*namespace.Turn) error {
	demands, err := serve(turns)
	if err != nil {
		return err
	}
	for _, d := range demands {
		if d.err != nil {
			d.turn.Refuse(d.err)
		} else {
			d.turn.Answer(d.answer)
		}
	}
	return nil
}

// demand is one claim of those that are served together, and what it gets.
type demand struct {
	turn  *namespace.Turn
	claim *claim
	verbs []*verb
	// sated says that there is no more for it.
	sated  bool
	answer namespace.Answer
	err    error
}

// serve answers the claims of turns. They share the ready verbs one each in turn
// order until each has its max.
func serve(turns []*namespace.Turn) ([]*demand, error) {
	demands := make([]*demand, len(turns))
	for i, t := range turns {
		demands[i] = &demand{turn: t, claim: t.Command().(*claim)}
	}
	quota, err := newAnonymousQuota(turns[0])
	if err != nil {
		return nil, err
	}
	open := demands[:0:0]
	for _, d := range demands {
		if d.err = quota.admit(d.turn); d.err == nil {
			open = append(open, d)
		}
	}
	if len(open) == 0 {
		return demands, nil
	}
	c := begin(open[0].turn)
	if err := c.sweepDue(); err != nil {
		return nil, err
	}
	if err := deal(c, open, quota); err != nil {
		return nil, err
	}
	if err := grant(c, open); err != nil {
		return nil, err
	}
	for _, d := range open {
		if err := d.conclude(c.m); err != nil {
			return nil, err
		}
	}
	// A refused turn signals nothing, so what happened to all is signalled by one
	// that was not. There is one: only claims that others outran are refused here.
	for _, d := range open {
		if d.err == nil {
			c.Turn = d.turn
			break
		}
	}
	return demands, c.finish()
}

// conclude makes the answer out of what the claim was dealt.
func (d *demand) conclude(m *memory) error {
	caller := d.turn.Caller().Principal
	switch {
	case d.err != nil:
		return nil
	case len(d.verbs) > 0:
		m.pacing.granted(caller)
		docs := make([]api.Claim, len(d.verbs))
		out := newDelivery(&d.turn.View, d.claim.base)
		for i, b := range d.verbs {
			var err error
			if docs[i], err = out.claim(b); err != nil {
				return err
			}
		}
		d.answer = namespace.Answer{Body: api.Claims{Claims: docs}}
		return nil
	}
	if d.claim.idle == nil {
		d.claim.idle = &api.Idle{PollAfterMs: m.pacing.empty(caller, d.claim.kinds, millis(d.turn.Now()))}
	}
	topics := make([]string, len(d.claim.kinds))
	for i, kind := range d.claim.kinds {
		topics[i] = readyTopic(kind)
	}
	d.turn.Park(topics...)
	d.answer = namespace.Answer{NoEffect: true, Body: api.Claims{Claims: []api.Claim{}, Idle: d.claim.idle}}
	return nil
}
