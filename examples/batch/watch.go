package main

import (
	"context"
	"errors"
	"fmt"
)

// watch lets two workers work on the run of A, submits that of B once an item of A has
// ended, kills a worker while both have work, and returns when both runs have ended.
func (d *demo) watch(ctx context.Context) error {
	large, small := d.tenants[0], d.tenants[1]
	if err := large.submit(ctx); err != nil {
		return err
	}
	if err := d.hireAll(); err != nil {
		return err
	}
	ctx, release := d.guard(ctx)
	defer release()
	ended := 0
	for e, err := range large.client.FollowRun(ctx, large.run.ID, 0) {
		if err != nil {
			return reason(ctx, err)
		}
		if e.Type != eventSucceeded {
			continue
		}
		ended++
		if small.run == nil {
			err = small.submit(ctx)
		} else if d.victim != nil && ended >= len(large.rows)/10 {
			err = d.strike(ctx, ended)
		}
		if err != nil {
			return reason(ctx, err)
		}
	}
	if small.run == nil {
		return fmt.Errorf("run of %s: no item has succeeded", large.name)
	}
	_, err := small.client.WaitRun(ctx, small.run.ID)
	return reason(ctx, err)
}

// guard gives a context that ends, with what has happened as its cause, when the node or
// the worker that is not to be killed ends by itself: the client would wait for it.
func (d *demo) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	node, worker := d.node.process, d.crew[0]
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-node.done:
			cancel(fmt.Errorf("the node ended by itself: %v", node.err))
		case <-worker.done:
			cancel(fmt.Errorf("%s ended by itself: %v", worker.name, worker.err))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-over
	}
}

// reason is why the context ended, if that is why there is an error.
func reason(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}
