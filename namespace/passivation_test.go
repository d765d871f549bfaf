package namespace_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

func TestIdleNamespaceIsPassivatedAndComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = 1000 }))
		w.must(call(put("k", 1)))
		if _, active := w.active("a"); !active {
			t.Fatal("the namespace is not active")
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if listed, active := w.active("a"); !listed || active {
			t.Errorf("got listed %v, active %v; want true, false", listed, active)
		}
		if got := w.runtime.NodeStats(); got.Active != 0 || got.Passivations != 1 || got.Activations != 1 {
			t.Errorf("got %+v, want one activation and passivation", got)
		}
		if got := len(w.items()); got != 1 {
			t.Errorf("got %d items, want 1", got)
		}
	})
}

func TestShorterIdleTimeoutActsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = time.Hour.Milliseconds() }))
		w.patch(`{"idle_timeout_ms":1000}`)
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if _, active := w.active("a"); active {
			t.Error("the namespace is still active 1.1 s after its timeout became 1 s")
		}
	})
}

func TestWhoWaitsKeepsTheNamespaceActive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs = 1000 }))
		p := w.start(call(take("k", 30*time.Second)))
		if got := p.body(); got != nothing || p.took != 30*time.Second {
			t.Errorf("got %d after %v, want nothing after 30s", got, p.took)
		}
		begin := time.Now()
		w.watch("nothing", 20*time.Second, 0)
		if took := time.Since(begin); took != 20*time.Second {
			t.Errorf("the read took %v, want 20s", took)
		}
		if got := w.runtime.NodeStats().Activations; got != 1 {
			t.Errorf("got %d activations, want 1", got)
		}
	})
}

func TestEvictionAnswersWhoWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
		w.create("b")
		p := w.start(call(take("k", 30*time.Second)))
		read := make(chan time.Duration, 1)
		go func() {
			begin := time.Now()
			w.watch("nothing", 20*time.Second, 0)
			read <- time.Since(begin)
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
			t.Fatal(err)
		}
		if got := p.body(); got != nothing || p.took != time.Second {
			t.Errorf("got %d after %v, want nothing after 1s", got, p.took)
		}
		if took := <-read; took != time.Second {
			t.Errorf("the read ended after %v, want 1s", took)
		}
		synctest.Wait()
		if _, active := w.active("a"); active {
			t.Error("the namespace is still active")
		}
	})
}

func TestNobodyIsParkedInANamespaceThatDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
		w.create("b")
		b := w.hold()
		p := w.start(call(take("k", 30*time.Second)))
		synctest.Wait()
		if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // a drains
		b.lift()
		if got := p.body(); got != nothing || p.took != 0 {
			t.Errorf("got %d after %v, want nothing at once", got, p.took)
		}
	})
}

func TestEvictionFinishesWhatWaitsInAdmission(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 }, withSettings(func(s *namespace.Settings) {
			s.ClaimInitialConcurrency, s.ClaimMaxConcurrency = 1, 1
		}))
		w.create("b")
		w.must(call(put("k", 3)))
		free := w.occupy()
		var calls []*pending
		for _, p := range []string{"a", "b"} {
			calls = append(calls, w.start(callAs(p, take("k", 0))))
			synctest.Wait()
		}
		if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // a drains
		free()
		for n, p := range calls {
			if got := p.body(); got != int64(n+1) {
				t.Errorf("got item %d, want %d", got, n+1)
			}
		}
	})
}

// Requests that race with passivations, idle and by eviction, are carried out
// once each.
func TestNoRequestIsLostToAPassivation(t *testing.T) {
	t.Parallel()
	const names, callers, each = 6, 3, 25
	w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 2 },
		withSettings(func(s *namespace.Settings) { s.IdleTimeoutMs, s.Durability = 100, "relaxed" }))
	var wg sync.WaitGroup
	for n := range names {
		name := fmt.Sprintf("n%d", n)
		w.create(name)
		for c := range callers {
			wg.Go(func() {
				for k := range each {
					out, err := w.runtime.Namespace(name).Do(t.Context(), keyed(fmt.Sprintf("%d/%d", c, k), "body", put("k", 1)))
					if err != nil || out.Replayed {
						t.Errorf("%s: command %d of %d: %v, replayed %v", name, k, c, err, out.Replayed)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for n := range names {
		w.Namespace = w.runtime.Namespace(fmt.Sprintf("n%d", n))
		if got := len(w.items()); got != callers*each {
			t.Errorf("n%d: got %d items, want %d", n, got, callers*each)
		}
	}
	if got := w.runtime.NodeStats(); got.Activations < 2*names {
		t.Errorf("got %d activations of %d namespaces: nothing raced", got.Activations, names)
	}
}

func TestCreateOfWhatIsThereDisturbsNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		key := w.key("worker")
		caller, err := w.Authenticate(t.Context(), key.Secret)
		if err != nil {
			t.Fatal(err)
		}
		p := w.start(namespace.Call{Class: "depot", Caller: caller, Command: take("k", 10*time.Second)})
		synctest.Wait()
		if created, err := w.runtime.Create(t.Context(), "a"); created || err != nil {
			t.Errorf("got created %v, %v; want false and no error", created, err)
		}
		synctest.Wait()
		if p.over() {
			_, err := p.outcome()
			t.Fatalf("the parked command was answered (%v)", err)
		}
		w.must(call(put("k", 1)))
		if got := p.body(); got != 1 {
			t.Errorf("got item %d, want 1", got)
		}
		if got := w.describe().Epoch; got != 1 {
			t.Errorf("got epoch %d, want 1", got)
		}
	})
}

// many makes the same call from several goroutines at once.
func many(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(f)
	}
	wg.Wait()
}

func TestConcurrentCreatesMakeOneNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	made := 0
	many(8, func() {
		created, err := w.runtime.Create(t.Context(), "new")
		if err != nil {
			t.Errorf("create: %v", err)
			return
		}
		if created {
			mu.Lock()
			made++
			mu.Unlock()
		}
		if _, err := w.runtime.Namespace("new").Do(t.Context(), call(put("k", 1))); err != nil {
			t.Errorf("command: %v", err)
		}
	})
	if made != 1 {
		t.Errorf("%d calls say that they made it, want 1", made)
	}
	w.Namespace = w.runtime.Namespace("new")
	if got := len(w.items()); got != 8 {
		t.Errorf("got %d items, want 8", got)
	}
}
