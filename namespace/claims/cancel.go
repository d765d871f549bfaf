package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// cancel ends a verb at once, whoever holds it.
type cancel struct{ verb string }

// Lane puts cancellations with submissions, so that neither waits for claims.
func (*cancel) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply cancels an open verb. One that is cancelled stays as it is.
func (c *cancel) Apply(t *namespace.Turn) (namespace.Answer, error) {
	ch := begin(t)
	b, err := ch.namedVerb(c.verb)
	if err != nil {
		return namespace.Answer{}, err
	}
	again := b.state == api.VerbCancelled
	if b.state.Ended() && !again {
		return namespace.Answer{}, errTerminal(b)
	}
	if !again {
		if err := ch.end(b, api.VerbCancelled, nil); err != nil {
			return namespace.Answer{}, err
		}
	}
	if err := ch.finish(); err != nil {
		return namespace.Answer{}, err
	}
	doc, err := newReader(&t.View).verbByID(b.id)
	return namespace.Answer{NoEffect: again, Body: doc}, err
}

// namedVerb reads the verb with an id. A lease that is over is ended first, as in
// hold.
func (c *change) namedVerb(id string) (*verb, error) {
	n, ok := parseID(verbPrefix, id)
	if !ok {
		return nil, errNoVerb()
	}
	b, err := c.heldVerb(n)
	if err == nil && b.state == api.VerbLeased && b.leaseUntil <= c.now {
		err = c.expire(b)
	}
	return b, err
}

// requeue gives a failed verb another chance.
type requeue struct{ verb string }

// Lane puts requeues with submissions.
func (*requeue) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply opens the verb again: its attempts start from nothing and its inputs are
// looked up anew. The verb takes a new fence that no claim has, so that a late
// submission cannot bring a receipt for inputs that it has not seen.
func (r *requeue) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	b, err := c.namedVerb(r.verb)
	if err != nil {
		return namespace.Answer{}, err
	}
	if b.state != api.VerbFailed {
		return namespace.Answer{}, api.Errorf(api.VerbNotFailed, "only a failed verb can be requeued").
			With("state", string(b.state))
	}
	// Ends that are still to be counted must be, before this one is taken back.
	if err := c.settleGroups(); err != nil {
		return namespace.Answer{}, err
	}
	if err := c.reopen(b); err != nil {
		return namespace.Answer{}, err
	}
	if err := c.finish(); err != nil {
		return namespace.Answer{}, err
	}
	doc, err := newReader(&t.View).verbByID(b.id)
	return namespace.Answer{Body: doc}, err
}

func (c *change) reopen(b *verb) error {
	if b.group != 0 {
		if _, err := c.Exec(sqlUncountEnd, b.group); err != nil {
			return fmt.Errorf("count attempt back: %w", err)
		}
	}
	if err := newReader(&c.View).readInputs(b); err != nil {
		return err
	}
	missing, possible, err := c.lookAll(b.inputs)
	if err != nil {
		return err
	}
	if _, err := c.Exec(sqlDropInputs, b.id); err != nil {
		return fmt.Errorf("drop inputs: %w", err)
	}
	if err := c.storeInputs(b.id, b.inputs); err != nil {
		return err
	}
	if b.fence, err = c.Fence(); err != nil {
		return err
	}
	b.missing, b.until, b.endedAt = missing, b.notBefore, 0
	if err := setFailure(b, nil); err != nil {
		return err
	}
	if possible {
		c.settle(b)
	} else if err := c.stillborn(b); err != nil {
		return err
	}
	_, err = c.Exec(sqlRequeue, b.id, string(b.state), b.missing, b.until, b.fence, b.endedAt, b.failure)
	if err != nil {
		return fmt.Errorf("requeue verb: %w", err)
	}
	c.changed(b)
	return nil
}
