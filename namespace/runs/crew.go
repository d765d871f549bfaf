package runs

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const (
	// handlerGrace is how long a handler may take to obey the end of its context
	// before its item is judged without it.
	handlerGrace = 100 * time.Millisecond
	// crewRetry is when a namespace that could not be asked for work is asked again.
	crewRetry = time.Second
)

// crew works with handlers inside the process, on all namespaces of a runtime. Each
// pool has its slots, and the namespaces that may have work for it stand in a line:
// one that gave a quantum goes to the end, so that none keeps the slots from others.
// Nothing runs where there is nothing to do.
type crew struct {
	handlers map[string]Handler
	kinds    []string
	// node tells the quanta of this process from those of one before.
	node string
	log  *slog.Logger

	mu       sync.Mutex
	benches  map[string]*bench
	stopping chan struct{}
	stopped  bool
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// bench is the slots of one pool and the line of namespaces.
type bench struct {
	slots, busy int
	line        []place
	standing    map[namespace.Namespace]bool // in line
}

// place is a namespace in line, and how to end the hold on it.
type place struct {
	namespace.Namespace
	release func()
}

func newBench(slots int) *bench {
	return &bench{slots: slots, standing: map[namespace.Namespace]bool{}}
}

func newCrew(o Options) *crew {
	c := &crew{
		handlers: o.Handlers, kinds: slices.Sorted(maps.Keys(o.Handlers)), node: rand.Text(), log: o.Logger,
		stopping: make(chan struct{}),
		benches:  map[string]*bench{api.PoolDefault: newBench(1), api.PoolSlow: newBench(1), api.PoolDurable: newBench(max(o.Slots, 1))},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// works reports whether there are handlers.
func (c *crew) works() bool { return len(c.handlers) > 0 }

// topics are those at which there may be work for handlers.
func (c *crew) topics() []string {
	var topics []string
	for _, pool := range pools() {
		for _, kind := range c.kinds {
			topics = append(topics, workTopic(pool, kind))
		}
	}
	slices.Sort(topics)
	return topics
}

// attend puts a namespace into the lines of the pools in which there is work for
// handlers. One without is not asked: that would activate it again when it has had to
// make room for others, which would be attended to, and so for ever.
func (c *crew) attend(ctx context.Context, n namespace.Namespace) {
	v := &survey{handlers: c.handlers, kinds: c.kinds}
	if _, err := n.Do(ctx, namespace.Call{Class: className, Caller: operator(), Command: v}); err != nil {
		c.retry(err, func() { c.attend(c.ctx, n) })
		return
	}
	for _, pool := range v.pools {
		c.queue(pool, n)
	}
}

// operator is who the handlers of a process are to a namespace: nobody's key can bear
// the name.
func operator() namespace.Caller { return namespace.Caller{Principal: namespace.Operator} }

// queue puts a namespace at the end of a pool's line, unless it stands there, and puts
// a slot to work if one is free.
func (c *crew) queue(pool string, n namespace.Namespace) {
	release, err := n.Hold(c.ctx)
	if err != nil {
		c.retry(err, func() { c.queue(pool, n) })
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.benches[pool]
	if c.stopped || b.standing[n] {
		release()
		return
	}
	b.standing[n] = true
	b.line = append(b.line, place{n, release})
	if b.busy < b.slots {
		b.busy++
		c.wg.Go(func() { c.serve(pool) })
	}
}

// next takes the first namespace of a pool's line. Without one the slot is free again.
func (c *crew) next(pool string) (place, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.benches[pool]
	if c.stopped || len(b.line) == 0 {
		b.busy--
		return place{}, false
	}
	first := b.line[0]
	b.line = slices.Delete(b.line, 0, 1)
	delete(b.standing, first.Namespace)
	return first, true
}

// serve is one slot at work.
func (c *crew) serve(pool string) {
	for {
		first, ok := c.next(pool)
		if !ok {
			return
		}
		c.serveOne(pool, first)
	}
}

// serveOne works on what the namespace gives for one slot.
func (c *crew) serveOne(pool string, p place) {
	defer p.release()
	s := Of(p.Namespace, operator())
	ask := &claimQuanta{base: s.base(), pool: pool, kinds: c.kinds, node: c.node}
	quanta, err := do[api.Quanta](c.ctx, s, ask)
	switch {
	case err != nil:
		c.retry(err, func() { c.queue(pool, p.Namespace) })
		return
	case quanta.Quantum == nil:
		return
	}
	c.queue(pool, p.Namespace) // there may be more, for this slot or another
	c.take(s, *quanta.Quantum, ask.batch).do()
}

// retry does again what a namespace could not be asked for, unless there is no such
// namespace any more. Work that waits there gives no second signal.
func (c *crew) retry(err error, again func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || api.AsError(err).Code.Status() < 500 && !api.AsError(err).Code.Retryable() {
		return
	}
	c.wg.Go(func() {
		wait, cancel := context.WithTimeout(c.ctx, crewRetry)
		defer cancel()
		select {
		case <-wait.Done():
		case <-c.stopping:
			return
		}
		again()
	})
}

// pause lets time go by, or ctx end. What the crew waits for is its own pace, not a
// time that anything is judged by.
func pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// stop begins no further item, lets those that are worked on go on until the end of
// ctx, and gives the rest back. A handler that does not obey its context is left
// behind.
func (c *crew) stop(ctx context.Context) {
	c.mu.Lock()
	if !c.stopped {
		c.stopped = true
		close(c.stopping)
		c.clear()
	}
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.wg.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		c.cancel()
		left, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*handlerGrace)
		defer cancel()
		select {
		case <-done:
		case <-left.Done():
		}
	}
	c.cancel()
}

// clear lets go of the namespaces in line.
func (c *crew) clear() {
	for _, b := range c.benches {
		for _, p := range b.line {
			p.release()
		}
		b.line = nil
		clear(b.standing)
	}
}

// describe adds to the catalog what is in force for the tenant.
func (c *crew) describe(s *namespace.Settings, tenant string, doc *api.Catalog) {
	one := 1
	inProcess := func(pool string) int {
		if !c.works() {
			return 0
		}
		return c.benches[pool].slots
	}
	maps.Copy(doc.Kinds, s.Kinds)
	doc.Budgets = s.BudgetsOf(tenant)
	doc.Pools = map[string]api.Pool{
		api.PoolDefault: {SlotsPerWorker: &one, InProcess: inProcess(api.PoolDefault)},
		api.PoolSlow:    {SlotsPerWorker: &one, InProcess: inProcess(api.PoolSlow)},
		api.PoolDurable: {InProcess: inProcess(api.PoolDurable)},
	}
	doc.QuantumItems, doc.QuantumCost, doc.BatchItems = s.QuantumItems, s.QuantumCost, s.BatchItems
}
