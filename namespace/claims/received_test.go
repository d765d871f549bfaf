package claims_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// busy keeps the writer until it is let go.
type busy struct{ until chan struct{} }

func (b busy) Apply(*namespace.Turn) (namespace.Answer, error) {
	<-b.until
	return namespace.Answer{}, nil
}

// A command that came in while the lease held counts, however long it waited for
// the writer; one that came in later does not.
func TestLeaseDoesNotRunOutInTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.verb(api.VerbSpec{})
		w.verb(api.VerbSpec{})
		beating, submitting := w.claim("worker"), w.claim("worker")
		block := busy{make(chan struct{})}
		done := make(chan error, 3)
		go func() {
			_, err := w.ns.Do(w.ctx(), namespace.Call{Class: "claims", Command: block})
			done <- err
		}()
		synctest.Wait()
		go func() {
			_, err := w.as("worker").Heartbeat(w.ctx(), beating.ID, api.HeartbeatSpec{Fence: beating.Fence})
			done <- err
		}()
		receipts := make(chan api.Submitted, 1)
		go func() {
			r, err := w.as("worker").Submit(w.ctx(), submitting.ID, api.SubmitSpec{Fence: submitting.Fence, Output: text("x")}, "")
			receipts <- r
			done <- err
		}()
		synctest.Wait()
		w.clock.Advance(61 * time.Second)
		close(block.until)
		for range 3 {
			if err := <-done; err != nil {
				t.Errorf("a command that came in time was refused: %v", err)
			}
		}
		if r := <-receipts; r.Late {
			t.Error("a submission that came in time is late")
		}
		w.clock.Advance(61 * time.Second)
		_, err := w.as("worker").Heartbeat(w.ctx(), beating.ID, api.HeartbeatSpec{Fence: beating.Fence})
		wantCode(t, err, api.LeaseExpired)
	})
}
