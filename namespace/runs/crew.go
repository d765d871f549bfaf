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
	line        []namespace.Namespace
	standing    map[namespace.Namespace]bool // in line
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
	for pool := range c.benches {
		for _, kind := range c.kinds {
			topics = append(topics, workTopic(pool, kind))
		}
	}
	slices.Sort(topics)
	return topics
}

// attend puts a namespace that may have work into the lines.
func (c *crew) attend(_ context.Context, n namespace.Namespace) {
	for pool := range c.benches {
		c.queue(pool, n)
	}
}

// queue puts a namespace at the end of a pool's line, unless it stands there, and puts
// a slot to work if one is free.
func (c *crew) queue(pool string, n namespace.Namespace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.benches[pool]
	if c.stopped {
		return
	}
	if !b.standing[n] {
		b.standing[n] = true
		b.line = append(b.line, n)
	}
	if b.busy < b.slots {
		b.busy++
		c.wg.Go(func() { c.serve(pool) })
	}
}

// next takes the first namespace of a pool's line. Without one the slot is free again.
func (c *crew) next(pool string) (namespace.Namespace, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.benches[pool]
	if c.stopped || len(b.line) == 0 {
		b.busy--
		return namespace.Namespace{}, false
	}
	n := b.line[0]
	b.line = slices.Delete(b.line, 0, 1)
	delete(b.standing, n)
	return n, true
}

// serve is one slot at work.
func (c *crew) serve(pool string) {
	for {
		n, ok := c.next(pool)
		if !ok {
			return
		}
		c.serveOne(pool, n)
	}
}

// serveOne works on what the namespace gives for one slot.
func (c *crew) serveOne(pool string, n namespace.Namespace) {
	release, err := n.Hold(c.ctx)
	if err != nil {
		c.retry(pool, n, err)
		return
	}
	defer release()
	s := Of(n, namespace.Caller{Principal: namespace.Operator})
	ask := &claimQuanta{base: s.base(), pool: pool, kinds: c.kinds, node: c.node}
	quanta, err := do[api.Quanta](c.ctx, s, ask)
	switch {
	case err != nil:
		c.retry(pool, n, err)
		return
	case quanta.Quantum == nil:
		return
	}
	c.queue(pool, n) // there may be more, for this slot or another
	hands := make([]*hand, 0, 1+len(quanta.Also))
	for _, q := range append([]api.Quantum{*quanta.Quantum}, quanta.Also...) {
		hands = append(hands, c.take(s, q, ask.batch))
	}
	for _, h := range hands {
		h.do()
	}
}

// retry asks a namespace again that could not be asked, if that may help.
func (c *crew) retry(pool string, n namespace.Namespace, err error) {
	if c.ctx.Err() != nil || !api.AsError(err).Code.Retryable() {
		return
	}
	go func() {
		pause(c.ctx, crewRetry)
		c.queue(pool, n)
	}()
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

// describe adds to the catalog what is in force for the tenant.
func (c *crew) describe(s *namespace.Settings, tenant string, doc *api.Catalog) {
	one := 1
	inProcess := func(pool string) int {
		if !c.works() {
			return 0
		}
		return c.benches[pool].slots
	}
	doc.Kinds, doc.Budgets = s.Kinds, s.BudgetsOf(tenant)
	doc.Pools = map[string]api.Pool{
		api.PoolDefault: {SlotsPerWorker: &one, InProcess: inProcess(api.PoolDefault)},
		api.PoolSlow:    {SlotsPerWorker: &one, InProcess: inProcess(api.PoolSlow)},
		api.PoolDurable: {InProcess: inProcess(api.PoolDurable)},
	}
	doc.QuantumItems, doc.QuantumCost, doc.BatchItems = s.QuantumItems, s.QuantumCost, s.BatchItems
}
