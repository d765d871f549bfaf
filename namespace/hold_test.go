package namespace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestHoldKeepsTheNamespaceActive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withIdleTimeout(time.Second))
		release, err := w.Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if _, active := w.active("a"); !active {
			t.Fatal("the namespace is not active while it is held")
		}
		other, err := w.Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
		release() // as often as one likes
		time.Sleep(10 * time.Second)
		if _, active := w.active("a"); !active {
			t.Fatal("the namespace is not active while another holds it")
		}
		other()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if _, active := w.active("a"); active {
			t.Error("the namespace is active after it was released")
		}
		if got := w.runtime.NodeStats().Activations; got != 1 {
			t.Errorf("got %d activations, want 1", got)
		}
	})
}

// Who holds a namespace and works for it must not wait for itself when room is
// needed for others.
func TestHeldNamespaceMakesRoomForOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
		w.create("b")
		release, err := w.Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, active := w.active("a"); active {
				t.Error("the namespace did not make room")
			}
			w.must(call(put("k", 1)))
			synctest.Wait()
		}
		release()
		if got := w.describe().Epoch; got != 3 {
			t.Errorf("got epoch %d, want 3: the first and one after each time it made room", got)
		}
	})
}

func TestShutdownDoesNotWaitForAHold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.Hold(t.Context()); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := w.runtime.Shutdown(t.Context()); err != nil || time.Since(begin) != 0 {
			t.Errorf("shut down after %v, %v; want at once", time.Since(begin), err)
		}
	})
}

func TestHoldOfWhatIsNotThereFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, code := range map[string]api.Code{"absent": api.NotFound, "Not A Name": api.InvalidNamespace} {
		_, err := w.runtime.Namespace(name).Hold(t.Context())
		wantCode(t, err, code)
	}
	if err := w.runtime.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := w.Hold(t.Context())
	wantCode(t, err, api.ShuttingDown)
}
