package runs

import (
	"fmt"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// invoke makes one singular call.
type invoke struct {
	kind   string
	scorer string
	input  []byte
}

func newInvoke(spec api.InvokeSpec) (*invoke, error) {
	v := &invoke{kind: spec.Kind, scorer: spec.Scorer, input: []byte("{}")}
	if spec.Kind == "" {
		return nil, api.Invalid("kind", "a call must name its kind")
	}
	if len(spec.Scorer) > maxScorerBytes || !utf8.ValidString(spec.Scorer) {
		return nil, api.Invalid("scorer", "a scorer is UTF-8 of at most %d bytes", maxScorerBytes)
	}
	if len(spec.Input) == 0 || string(spec.Input) == "null" {
		return v, nil
	}
	input, ok := compactObject(spec.Input)
	if !ok {
		e := api.Errorf(api.BadRequest, "input must be a JSON object")
		e.Field = "input"
		return nil, e
	}
	v.input = input
	return v, nil
}

// Apply offers the call to workers and keeps the caller waiting.
func (v *invoke) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	call, err := v.call(c)
	if err != nil {
		return namespace.Answer{}, err
	}
	c.dropGone(call.pool)
	s := c.Settings()
	if c.m.calls.line(call.pool).Len() >= maxCallsWaiting {
		return namespace.Answer{}, errNoSlot(s)
	}
	call.caller = c.Defer(moment(c.now+s.InvokeWaitMs), namespace.Answer{}, errNoSlot(s))
	if err := c.admitCall(call); err != nil {
		return namespace.Answer{}, fmt.Errorf("admit call: %w", err)
	}
	return namespace.Answer{NoEffect: true}, c.finish()
}

// call is what the kind makes of the request.
func (v *invoke) call(c *change) (*call, error) {
	kind, ok := c.Settings().Kinds[v.kind]
	if !ok {
		return nil, errUnknownKind()
	}
	if kind.Pool.Durable {
		return nil, api.Invalid("kind", "the kind is for runs, not for singular calls")
	}
	pool, ok := kind.Pool.Of(v.scorer)
	if !ok {
		return nil, api.Invalid("scorer", "the kind has no pool for the scorer")
	}
	cost, err := costOfCall(kind.Cost, v.input)
	if err != nil {
		return nil, err
	}
	return &call{
		pool: pool, kind: v.kind, scorer: v.scorer, input: v.input, cost: cost,
		timeoutMs: timeoutOf(kind), maxAttempts: attemptsOf(kind),
	}, nil
}
