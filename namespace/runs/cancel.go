package runs

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// cancel ends a run.
type cancel struct {
	base string
	run  string
}

// Lane puts cancellations with commits.
func (*cancel) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply ends the pending items at once. What workers hold ends when they report or
// are lost.
func (k *cancel) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	r, err := c.ownRun(k.run)
	if err != nil {
		return namespace.Answer{}, err
	}
	if r.status.Ended() && r.status != api.RunCancelled {
		return namespace.Answer{}, api.Errorf(api.RunTerminal, "the run has ended").With("status", string(r.status))
	}
	effect := !r.cancelling && !r.status.Ended()
	if effect {
		if err := c.cancel(r); err != nil {
			return namespace.Answer{}, err
		}
	}
	doc, err := c.documentOf(r, k.base)
	if err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{Body: doc, NoEffect: !effect}, c.finish()
}

// ownRun finds a run of the caller's tenant.
func (c *change) ownRun(id string) (*run, error) {
	number, err := openRunID(&c.View, id)
	if err != nil {
		return nil, err
	}
	if r := c.m.runs[number]; r != nil {
		return r, nil
	}
	r, _, err := findRun(&c.View, number)
	return r, err
}

func (c *change) cancel(r *run) error {
	r.cancelling = true
	if _, err := c.log(r, event{kind: "run.cancel_requested", Status: string(r.status)}); err != nil {
		return err
	}
	pending, err := c.items(sqlPendingWork, row(r.id, 0), row(r.id+1, 0))
	if err != nil {
		return fmt.Errorf("cancel run: %w", err)
	}
	for _, i := range pending {
		if err := c.end(r, i, api.ItemCancelled, outcome{}); err != nil {
			return err
		}
	}
	c.m.schedule.Cancel(r.id)
	return c.conclude(r)
}
