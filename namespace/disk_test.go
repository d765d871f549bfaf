package namespace_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/storage/storagetest"
)

// onFaultyDisk is a world on a disk that misbehaves at a test's will.
func onFaultyDisk(t *testing.T, edit ...func(*namespace.Options)) (*world, *storagetest.VFS) {
	t.Helper()
	vfs := storagetest.NewVFS(t, "faulty")
	w := newWorld(t, append(edit, func(o *namespace.Options) { o.VFS = vfs.Name() })...)
	return w, vfs
}

func TestNothingLeavesBeforeItIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, vfs := onFaultyDisk(t)
		waiting := w.park("k", 20*time.Second, "a")[0]
		seen := make(chan int, 1)
		go func() { seen <- len(w.watch("s", 20*time.Second, 0)) }()
		synctest.Wait()
		wal := vfs.Files("ns-a.sqlite-wal")
		wal.FailSyncs(true)
		_, err := w.Do(t.Context(), call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			if _, err := appendTo("s", 1)(t); err != nil {
				return namespace.Answer{}, err
			}
			return put("k", 1)(t)
		})))
		if e := wantCode(t, err, api.StorageUnavailable); e.RetryAfter == 0 {
			t.Error("no advice when to try again")
		}
		if _, err := waiting.outcome(); err == nil {
			t.Error("a parked command was told of work that is not durable")
		} else {
			wantCode(t, err, api.NamespaceUnavailable)
		}
		if got := <-seen; got != 0 {
			t.Errorf("a watching read got %d events that are not durable", got)
		}
		wal.FailSyncs(false)
		w.recovered()
		w.must(call(put("k", 1)))
	})
}

func TestAnswerWaitsForTheSync(t *testing.T) {
	t.Parallel()
	w, vfs := onFaultyDisk(t)
	w.must(call(put("k", 1)))
	const delay = 60 * time.Millisecond
	vfs.SyncDelay(delay)
	for _, tt := range []struct {
		name   string
		change func()
		synced bool
	}{
		{"by default", func() {}, true},
		{"relaxed", func() { w.patch(`{"durability": "relaxed"}`) }, false},
		{"relaxed, after a restart", func() { w.restart(true); w.status() }, false},
		{"full", func() { w.patch(`{"durability": "full"}`) }, true},
	} {
		tt.change()
		before, begin := vfs.Syncs(), time.Now()
		w.must(call(put("k", 1)))
		if took := time.Since(begin); (vfs.Syncs() > before) != tt.synced || (took >= delay) != tt.synced {
			t.Errorf("%s: answered after %v and %d syncs; want synced %v", tt.name, took, vfs.Syncs()-before, tt.synced)
		}
	}
	vfs.SyncDelay(0)
}

func TestWhatIsAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var (
		mu           sync.Mutex
		acknowledged = map[int64]bool{}
		writers      sync.WaitGroup
	)
	for range 8 {
		writers.Go(func() {
			for range 12 {
				out, err := w.Do(t.Context(), call(put("k", 1)))
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
				mu.Lock()
				acknowledged[out.Answer.Body.(int64)] = true
				mu.Unlock()
			}
		})
	}
	for range 6 {
		mu.Lock()
		before := make([]int64, 0, len(acknowledged))
		for id := range acknowledged {
			before = append(before, id)
		}
		mu.Unlock()
		copied := &world{t: t, dir: w.crashCopy(), options: w.options}
		copied.open()
		there := map[int64]bool{}
		for _, i := range copied.items() {
			there[i.ID] = true
		}
		for _, id := range before {
			if !there[id] {
				t.Errorf("item %d was acknowledged and is not in the file", id)
			}
		}
		if err := copied.runtime.Close(); err != nil {
			t.Error(err)
		}
	}
	writers.Wait()
}

func TestFailedSyncRestartsTheNamespaceAndLosesNothing(t *testing.T) {
	t.Parallel()
	w, vfs := onFaultyDisk(t)
	w.create("b")
	wal := vfs.Files("ns-a.sqlite-wal")
	elsewhere := w.runtime.Namespace("b")
	var acknowledged []int64
	for n := range 12 {
		if n%3 == 1 {
			wal.FailSync(1)
		}
		out, err := w.Do(t.Context(), call(put("k", 1)))
		if err == nil {
			acknowledged = append(acknowledged, out.Answer.Body.(int64))
		} else if !api.IsCode(err, api.StorageUnavailable) && !api.IsCode(err, api.NamespaceUnavailable) {
			t.Errorf("got error %v", err)
		}
		if _, err := elsewhere.Do(t.Context(), call(put("k", 1))); err != nil {
			t.Errorf("the other namespace: %v", err)
		}
	}
	w.recovered()
	there := map[int64]bool{}
	for _, i := range w.items() {
		there[i.ID] = true
	}
	for _, id := range acknowledged {
		if !there[id] {
			t.Errorf("item %d was acknowledged and is lost", id)
		}
	}
	if got := w.describe().Epoch; got < 4 || len(acknowledged) == 12 {
		t.Errorf("got epoch %d and %d acknowledged: no sync has failed", got, len(acknowledged))
	}
}

func TestFullDiskRefusesAndRecovers(t *testing.T) {
	t.Parallel()
	w, vfs := onFaultyDisk(t)
	w.must(call(put("k", 1)))
	vfs.Full(true)
	big := func(t *namespace.Turn) (namespace.Answer, error) {
		_, err := t.Exec(`INSERT INTO depot_item (kind) VALUES (hex(zeroblob(300000)))`)
		return namespace.Answer{}, err
	}
	e := w.fails(call(act(big)), api.StorageUnavailable)
	if e.Reason != "disk full" || e.RetryAfter == 0 {
		t.Errorf("got reason %q, retry after %v; want disk full and an advice", e.Reason, e.RetryAfter)
	}
	if got := len(w.items()); got != 1 {
		t.Errorf("a read got %d items, want 1", got)
	}
	// What ends work needs no room that is not there.
	w.must(call(laned{namespace.LaneFinish, func(t *namespace.Turn) (namespace.Answer, error) {
		_, err := t.Exec(`UPDATE depot_item SET holder = 'x'`)
		return namespace.Answer{}, err
	}}))
	vfs.Full(false)
	w.must(call(act(big)))
	if got := len(w.items()); got != 2 {
		t.Errorf("got %d items, want 2", got)
	}
	if got := w.describe().Epoch; got != 1 {
		t.Errorf("got epoch %d, want 1: a full disk is no reason to start again", got)
	}
}

func TestSlowStoreOfOneNamespaceDoesNotSlowAnother(t *testing.T) {
	t.Parallel()
	w, vfs := onFaultyDisk(t)
	w.create("b")
	w.must(call(put("k", 1)))
	elsewhere := w.runtime.Namespace("b")
	if _, err := elsewhere.Do(t.Context(), call(put("k", 1))); err != nil {
		t.Fatal(err)
	}
	vfs.Files("ns-a.sqlite-wal").SyncDelay(500 * time.Millisecond)
	slow := w.start(call(put("k", 1)))
	for range 5 {
		if _, err := elsewhere.Do(context.Background(), call(put("k", 1))); err != nil {
			t.Errorf("the other namespace: %v", err)
		}
	}
	w.status() // the actor does not wait for the disk
	if slow.over() {
		t.Error("five commits of the other namespace took as long as one of the slow")
	}
	slow.body()
}
