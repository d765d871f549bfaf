package client

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/skerryhq/skerry/api"
)

// maxWait is how long a server lets a request wait for work or for news.
const maxWait = 30 * time.Second

// waitOrMost is a wait that the server accepts, by default the longest.
func waitOrMost(wait time.Duration) time.Duration {
	if wait <= 0 || wait > maxWait {
		return maxWait
	}
	return wait
}

// slots are the places of a worker in which grants are worked on.
type slots struct {
	// free holds a token for each slot that works on nothing.
	free chan struct{}
	busy sync.WaitGroup
}

func newSlots(n int) *slots {
	s := &slots{free: make(chan struct{}, n)}
	s.giveBack(n)
	return s
}

// acquire takes the tokens of the slots that are free, at least one and at most
// the given number. It waits for the first, and returns 0 once ctx has ended or
// none may be taken.
func (s *slots) acquire(ctx context.Context, most int) int {
	if most <= 0 || ctx.Err() != nil {
		return 0
	}
	select {
	case <-s.free:
	case <-ctx.Done():
		return 0
	}
	for n := 1; n < most; n++ {
		select {
		case <-s.free:
		default:
			return n
		}
	}
	return most
}

func (s *slots) giveBack(n int) {
	for range n {
		s.free <- struct{}{}
	}
}

// start works in a slot whose token has been taken.
func (s *slots) start(work func()) {
	s.busy.Go(func() {
		defer s.giveBack(1)
		work()
	})
}

// drain waits for the handlers, and when ctx has ended and the grace period is
// over ends their contexts. A grace of 0 is 10 s.
func (s *slots) drain(ctx context.Context, grace time.Duration, force <-chan struct{}, end context.CancelCauseFunc) {
	done := make(chan struct{})
	go func() {
		s.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	case <-force:
	}
	if grace <= 0 {
		grace = 10 * time.Second
	}
	limit := time.NewTimer(grace)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	case <-force:
	}
	end(ErrStopping)
	<-done
}

// insist sends one claim command until it is answered, always under the same key
// and with the same body, so that an answer that was lost comes again. It returns
// too when the first try began.
func insist[T any](ctx context.Context, c *Client, delayed func(error), send func(keyed *Client) (T, error)) (T, time.Time, error) {
	first := now()
	keyed := c.WithIdempotencyKey(rand.Text())
	for failed := 1; ; failed++ {
		answer, err := send(keyed)
		if err == nil || ctx.Err() != nil || hopeless(err) {
			return answer, first, err
		}
		if delayed != nil {
			delayed(err)
		}
		if err := sleep(ctx, c.sender.backoff(failed, err)); err != nil {
			return answer, first, err
		}
	}
}

// pace is how long to stay away after a claim that found nothing and was sent at
// the given time: what it waited at the server counts.
func pace(idle *api.Idle, sent time.Time) time.Duration {
	if idle == nil {
		return firstBackoff
	}
	after := time.Duration(min(max(idle.PollAfterMs, 0), maxRetryAfter.Milliseconds())) * time.Millisecond
	return sent.Add(after).Sub(now())
}
