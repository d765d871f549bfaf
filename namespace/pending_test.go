package namespace_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

// pending is a command under way.
type pending struct {
	t      testing.TB
	done   chan struct{}
	cancel context.CancelFunc
	out    namespace.Outcome
	err    error
	took   time.Duration
}

// start carries out a command in a goroutine of its own.
func (w *world) start(c namespace.Call) *pending {
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	p := &pending{t: w.t, done: make(chan struct{}), cancel: cancel}
	n, begin := w.Namespace, time.Now()
	go func() {
		defer close(p.done)
		p.out, p.err = n.Do(ctx, c)
		p.took = time.Since(begin)
		cancel()
	}()
	return p
}

// outcome waits for the command.
func (p *pending) outcome() (namespace.Outcome, error) {
	<-p.done
	return p.out, p.err
}

// body waits for the number that the command answers.
func (p *pending) body() int64 {
	p.t.Helper()
	<-p.done
	if p.err != nil {
		p.t.Fatalf("command: %v", p.err)
	}
	n, err := namespace.Document[int64](p.out.Answer)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// over reports whether the command has been answered.
func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// barrier holds the namespace's writer, so that a test decides what is queued
// behind it and goes into one commit.
type barrier struct {
	reached, open chan struct{}
	enter, leave  sync.Once
}

// hold stops the writer until the barrier is lifted.
func (w *world) hold() *barrier {
	b := &barrier{reached: make(chan struct{}), open: make(chan struct{})}
	w.start(call(laned{namespace.LaneUrgent, func(*namespace.Turn) (namespace.Answer, error) {
		b.enter.Do(func() { close(b.reached) })
		<-b.open
		return namespace.Answer{}, nil
	}}))
	<-b.reached
	w.t.Cleanup(b.lift)
	return b
}

// lift lets the writer go on.
func (b *barrier) lift() { b.leave.Do(func() { close(b.open) }) }

// bubble runs a test in virtual time: it passes when everybody waits.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// crowd starts so many commands that those of the lane of the admitted, of those
// that wait for the writer, do not go into the next commit.
func (w *world) crowd() {
	for range 128 {
		w.start(call(act(func(*namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, nil })))
	}
}
