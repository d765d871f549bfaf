package namespace

import (
	"runtime/debug"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// chain takes up the command that a durable one carries, or answers.
func (i *instance) chain(c *call) {
	k, err := i.carried(c)
	if k == nil {
		i.answer(c, err)
		return
	}
	i.arrive(k)
}

// cutShort answers a settled call when there is no actor any more to take up the
// command that it may carry, for which why is the answer then.
func (i *instance) cutShort(c *call, why error) {
	if c.turn.err != nil || c.turn.replayed {
		i.answer(c, c.turn.err)
		return
	}
	k, err := i.carried(c)
	if k == nil {
		i.answer(c, err)
		return
	}
	i.answer(k, why)
}

// carried makes the call of the command that a durable one carries, or nil: c is
// answered when that is. There is none for a caller that has gone away.
func (i *instance) carried(c *call) (k *call, err error) {
	chained, ok := c.Command.(Chained)
	if !ok || c.gone.Load() {
		return nil, nil
	}
	err = i.guard(func() {
		if next := chained.Next(); next != nil {
			k = newCall(Call{Class: c.Class, Caller: c.Caller, Command: next})
		}
	})
	if k != nil {
		k.parent, c.child, c.stage = c, k, stageChained
	}
	return k, err
}

// join gives the one answer of a command and the one it carried.
func (i *instance) join(p, c *call) {
	var refused *api.Error
	if c.err != nil {
		refused = api.AsError(c.err)
	}
	// What is stored of the first one's answer is without the second's.
	own := p.outcome.Answer
	own.encoded = nil
	err := i.guard(func() {
		p.outcome.Answer = p.Command.(Chained).Join(own, c.outcome.Answer, refused)
	})
	p.outcome.Admission = c.outcome.Admission
	i.answer(p, err)
}

// guard runs what a class does in the actor's turn. A panic there would fail
// whichever command the turn is about, and leave unanswered those that the turn
// had yet to come to; so it fails the one command, and the namespace starts again
// from its file.
func (i *instance) guard(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &storage.PanicError{Value: v, Stack: debug.Stack()}
			i.fail(err)
		}
	}()
	f()
	return nil
}
