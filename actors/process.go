package actors

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// turnsBeforeYield is how many messages a mailbox handles before it lets other
// goroutines run.
const turnsBeforeYield = 300

// newSystem returns the actor system of one directory. Its own logger would
// print to standard error.
func newSystem() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
}

// letter carries a message through the mailbox. Unwrapped, protoactor-go would
// take some messages apart (batches, envelopes), obey others (poison) and lose a
// nil.
type letter struct{ msg any }

// process is the protoactor-go actor of one activation. It is also the
// dispatcher of its mailbox, so that the goroutine a mailbox runs in has an
// owner that can wait for it: the default dispatcher's has none.
//
// send and stop must not be called at the same time, nor send after stop: what
// reaches a stopped actor becomes a dead letter, whose throttle leaves a
// goroutine behind for a second.
type process struct {
	system *actor.ActorSystem
	pid    *actor.PID
	turns  sync.WaitGroup
	loop   func() // the mailbox's loop, always the same one
	run    func() // runLoop, bound once: scheduling allocates nothing
}

// start makes the actor; receive is called in its turns with letters and
// signals.
func (p *process) start(system *actor.ActorSystem, receive func(any)) error {
	p.system, p.run = system, p.runLoop
	props := actor.PropsFromFunc(func(c actor.Context) { receive(c.Message()) }, actor.WithDispatcher(p))
	// The identifier is a sequence number: a name chosen by a client could be
	// that of one of protoactor-go's own processes.
	pid, err := system.Root.SpawnNamed(props, system.ProcessRegistry.NextId())
	if err != nil {
		return fmt.Errorf("spawn actor: %w", err)
	}
	p.pid = pid
	return nil
}

func (p *process) send(m any) { p.system.Root.Send(p.pid, m) }

// stop ends the actor and returns when its last turn is over. It must not be
// called in a turn.
func (p *process) stop() {
	p.system.Root.Stop(p.pid)
	p.turns.Wait()
}

// Schedule implements actor.Dispatcher.
func (p *process) Schedule(loop func()) {
	if p.loop == nil { // in start, before anybody else can send
		p.loop = loop
	}
	p.turns.Add(1)
	go p.run()
}

// Throughput implements actor.Dispatcher.
func (p *process) Throughput() int { return turnsBeforeYield }

// runLoop runs the mailbox until it is empty. If a turn ends its goroutine
// (runtime.Goexit, as by a testing.T's FailNow), the mailbox still counts as
// running and would never be scheduled again: another goroutine takes over.
func (p *process) runLoop() {
	returned := false
	defer func() {
		if returned {
			p.turns.Done()
		} else {
			go p.run()
		}
	}()
	p.loop()
	returned = true
}
