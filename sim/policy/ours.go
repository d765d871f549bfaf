package policy

import (
	"fmt"

	"github.com/skerryhq/skerry/admission"
)

// ours is the production controller itself, as a server runs it: additive increase and
// multiplicative decrease of the limit by the average service time, turns of
// principals in a ring, and fair shares of a full queue. Nothing is simplified.
type ours struct{ controller *admission.Controller }

func newOurs(b bounds) (Policy, error) {
	c, err := admission.New(b.config())
	if err != nil {
		return nil, fmt.Errorf("make controller: %w", err)
	}
	return ours{c}, nil
}

// Arrive implements Policy.
func (o ours) Arrive(now int64, id admission.ID, principal string) []admission.Decision {
	return o.controller.Arrive(now, id, principal)
}

// Finish implements Policy.
func (o ours) Finish(now int64, id admission.ID, service int64, ok bool) []admission.Decision {
	if !ok {
		return o.controller.Discard(now, id)
	}
	return o.controller.FinishIn(now, id, service)
}

// Cancel implements Policy.
func (o ours) Cancel(now int64, id admission.ID) []admission.Decision {
	return o.controller.Cancel(now, id)
}

// Next implements Policy.
func (o ours) Next() (int64, bool) { return o.controller.NextDeadline() }

// Tick implements Policy.
func (o ours) Tick(now int64) []admission.Decision { return o.controller.Tick(now) }

// Status implements Policy.
func (o ours) Status() Status {
	average, _ := o.controller.Average()
	return Status{
		Limit: o.controller.Limit(), InFlight: o.controller.InFlight(), Pending: o.controller.Pending(), Average: average,
	}
}
