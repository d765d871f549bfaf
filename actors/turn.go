package actors

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// signal is what the directory, rather than a message's sender, asks of a turn.
type signal int

const (
	signalDrain  signal = iota // call Drain
	signalProbe                // drain if idle and without use for long enough
	signalSettle               // see whether the activation has come to its end
)

// receive is one turn. protoactor-go calls it; no panic may leave it, because
// a supervisor would restart or stop the actor behind the directory's back.
func (a *activation) receive(m any) {
	switch m := m.(type) {
	case letter:
		a.inTurn.Store(a.router.stamp())
		defer a.endLetter()
		a.deliver(m.msg)
	case signal:
		a.inTurn.Store(a.router.stamp())
		defer a.endTurn()
		a.heed(m)
	}
	// What is left are protoactor-go's own notices of the actor's life.
}

func (a *activation) deliver(msg any) {
	if f := a.failure.Load(); f != nil {
		a.refuse(msg, f.refusal)
		return
	}
	returned := false
	defer func() {
		if !returned {
			a.panicked(msg, recover(), debug.Stack())
		}
	}()
	a.instance.Receive(msg)
	returned = true
}

func (a *activation) endLetter() {
	a.queued.Add(-1)
	a.endTurn()
}

func (a *activation) endTurn() {
	if a.leaving.Load() {
		a.settle()
	}
	a.inTurn.Store(0)
}

func (a *activation) heed(s signal) {
	if a.failure.Load() != nil {
		return
	}
	switch s {
	case signalDrain:
		a.callDrain()
	case signalProbe:
		if a.passivate() {
			a.callDrain()
		}
	case signalSettle: // endTurn does
	}
}

func (a *activation) callDrain() {
	a.mu.Lock()
	why := a.why
	a.mu.Unlock()
	a.drained = true
	if err := a.guard("Drain", func() { a.instance.Drain(why) }); err != nil {
		a.fail(err, a.restarted())
	}
}

// passivate begins a drain if the instance is idle and has been without use for
// its idle timeout. Deciding it in the turn means that an instance found busy
// was never asked to drain.
func (a *activation) passivate() bool {
	lastUse := a.lastUse.Load()
	if !a.unused() || !a.idle() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	// Anybody who pinned the activation meanwhile either holds the pin still or
	// has moved lastUse.
	if a.state != active || a.pins > 0 || a.queued.Load() > 0 || a.lastUse.Load() != lastUse {
		return false
	}
	a.drainLocked(ReasonIdle)
	return true
}

// settle ends a leaving activation as soon as it can end. It runs in a turn.
func (a *activation) settle() {
	if a.failure.Load() != nil {
		a.endIf(failed)
		return
	}
	if !a.drained {
		return
	}
	a.mu.Lock()
	quiet := a.pins == 0 && a.queued.Load() == 0
	a.mu.Unlock()
	// No pin is taken any more, so quiet can only be undone by what the
	// instance tells itself; endIf looks again.
	if quiet && a.idle() {
		a.endIf(draining)
	}
}

// endIf decides the end if the activation is in state s and its mailbox is
// empty. After that nothing is sent to the process, so that no message can be
// lost behind its stop.
func (a *activation) endIf(s state) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || a.state != s || a.queued.Load() > 0 {
		return
	}
	a.ended = true
	go a.router.finish(a) // the crew counts the activation until finish is done
}

// idle calls Idle. A panic in it fails the instance.
func (a *activation) idle() (idle bool) {
	if err := a.guard("Idle", func() { idle = a.instance.Idle() }); err != nil {
		a.fail(err, a.restarted())
		return false
	}
	return idle
}

// panicked handles a panic with v in Receive(msg); v is nil if the goroutine is
// exiting instead.
func (a *activation) panicked(msg, v any, stack []byte) {
	if v == nil {
		v = errGoexit
	}
	err := panicError(fmt.Sprintf("Receive of %T", msg), v)
	a.logPanic(err, stack)
	_ = a.guard("Panicked", func() { a.instance.Panicked(msg, v, stack) }) // logged; the instance fails anyway
	a.fail(err, a.restarted())
}

// refuse calls Refuse. It does not depend on the instance's state, so that a
// panic in it is logged and no more.
func (a *activation) refuse(msg any, refusal error) {
	_ = a.guard("Refuse", func() { a.instance.Refuse(msg, refusal) })
}

// guard calls f and returns an error, logged already, if f panics or ends its
// goroutine.
func (a *activation) guard(method string, f func()) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v == nil {
			v = errGoexit
		}
		err = panicError(method, v)
		a.logPanic(err, debug.Stack())
	}()
	f()
	returned = true
	return nil
}

func (a *activation) restarted() error {
	return fmt.Errorf("actor %q: %w", a.name, ErrRestarted)
}

func (a *activation) logPanic(err error, stack []byte) {
	a.router.logger.Error("actor panicked",
		slog.String("name", a.name), slog.Any("error", err), slog.String("stack", string(stack)))
}
