package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
)

var (
	crashes   = flag.Int("crashes", 5, "how often the node is killed under load")
	crashSeed = flag.Uint64("crash-seed", 1, "seed of the load under which the node is killed")
)

// Concurrent clients create, claim and end work while the node is killed again
// and again. A ledger outside the node holds what was acknowledged. After each
// start all of it must be there, and a request whose answer was lost must be
// answered when it is sent again.
func TestCrashesUnderLoadLoseNothingAcknowledged(t *testing.T) {
	n := startNode(t)
	if _, err := n.operator(t).CreateNamespace(t.Context(), "storm"); err != nil {
		t.Fatal(err)
	}
	l := newLedger(n.key(t, "storm", "auditor", api.RoleAdmin))
	var crowd []*actor
	for i := range 8 {
		a := &actor{ledger: l, name: fmt.Sprintf("w%d", i), rng: rand.New(rand.NewPCG(*crashSeed, uint64(i)))}
		a.key = n.key(t, "storm", a.name, api.RoleWorker)
		a.step = a.work
		crowd = append(crowd, a)
	}
	for i := range 2 {
		a := &actor{ledger: l, name: fmt.Sprintf("p%d", i), rng: rand.New(rand.NewPCG(*crashSeed, uint64(100+i)))}
		a.key = n.key(t, "storm", a.name, api.RoleProducer)
		a.step = a.produce
		crowd = append(crowd, a)
	}
	moments := rand.New(rand.NewPCG(*crashSeed, 999))
	for crash := range *crashes {
		stormUntilKilled(t, n, crowd, time.Duration(100+moments.IntN(500))*time.Millisecond)
		n.start(t)
		for _, a := range crowd {
			a.sendAgain(t, n.url())
		}
		l.audit(t, n.url(), crowd)
		if t.Failed() {
			t.Fatalf("after crash %d of seed %d", crash+1, *crashSeed)
		}
	}
	n.stop(t)
	n.start(t)
	l.audit(t, n.url(), crowd)
	t.Log(l.summary())
}

// stormUntilKilled lets everybody work until the node dies under them.
func stormUntilKilled(t *testing.T, n *process, crowd []*actor, after time.Duration) {
	t.Helper()
	var wg sync.WaitGroup
	for _, a := range crowd {
		wg.Go(func() {
			for a.step(n.url()) {
			}
		})
	}
	time.AfterFunc(after, func() { n.cmd.Process.Kill() })
	n.cmd.Wait()
	wg.Wait()
	for _, a := range crowd {
		if a.err != nil {
			t.Errorf("%s: %v", a.name, a.err)
		}
	}
}
