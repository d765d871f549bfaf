package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/skerryhq/skerry/api"
)

// minRenewal keeps renewals apart where a lease has little left, as near the end
// of its longest lifetime, when renewing no longer prolongs it.
const minRenewal = 20 * time.Millisecond

// Lease keeps the lease of a claim or a quantum alive until it is stopped or lost.
// Make one with [Client.Keep] or [Client.KeepQuantum]. It is safe for concurrent
// use.
type Lease struct {
	sender *sender
	// beat is the heartbeat, and cancelled the cause that its cancel_requested is.
	beat      call
	cancelled error

	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}

	mu sync.Mutex
	// sent is when the request that last granted or renewed the lease left, and
	// ttl what it brought. The server decided later than sent, so the lease
	// lives at least until sent + ttl.
	sent time.Time
	ttl  time.Duration
}

// Keep renews the lease of a claim at a third of its time to live, until
// [Lease.Stop] is called, ctx ends or the lease is lost. The caller must call
// Stop.
//
// sent is [Claimed.Sent] or [Submitted.Sent]. Where little of the lease is left
// counting from there, as after a long poll that took most of a lease, or where
// sent is zero because the time is not known, Keep first confirms the lease with
// a heartbeat and blocks until that is answered, at most for the ttl.
func (c *Client) Keep(ctx context.Context, claim *api.Claim, sent time.Time) *Lease {
	l := &Lease{beat: heartbeat(onClaim, claim.ID, api.HeartbeatSpec{Fence: claim.Fence}), cancelled: ErrCancelRequested}
	return c.keep(ctx, l, claim.TTLMs, sent)
}

// KeepQuantum is [Client.Keep] for a quantum; sent is [ClaimedQuanta.Sent].
func (c *Client) KeepQuantum(ctx context.Context, quantum *api.Quantum, sent time.Time) *Lease {
	l := &Lease{beat: heartbeat(onQuantum, quantum.ID, api.HeartbeatSpec{Fence: quantum.Fence}), cancelled: ErrRunCancelled}
	return c.keep(ctx, l, quantum.TTLMs, sent)
}

func (c *Client) keep(ctx context.Context, l *Lease, ttlMs int64, sent time.Time) *Lease {
	ttl := time.Duration(ttlMs) * time.Millisecond
	l.sender, l.done, l.sent, l.ttl = c.sender, make(chan struct{}), sent, ttl
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	confirmed := l.Remaining() > ttl/3
	if !confirmed {
		// The answer is in hand, so the lease ended, if it has, no later than a ttl
		// from here: that bounds how long to ask.
		l.set(now(), ttl)
		l.confirm()
	}
	go l.keep()
	return l
}

// Context is the context of the work: a child of Keep's, cancelled when the lease
// is lost. Its cause, by [context.Cause], is then ErrLeaseLost, ErrCancelRequested
// or for a quantum ErrRunCancelled; the chain of a lost lease also holds the
// server's refusal if there was one.
func (l *Lease) Context() context.Context { return l.ctx }

// Remaining is how long the lease certainly lives on, as far as is known here; it
// is negative once it has lapsed.
func (l *Lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent.Add(l.ttl).Sub(now())
}

// Stop ends the renewals, cancels the context and waits for the goroutine. It
// releases nothing at the server. It may be called more than once.
func (l *Lease) Stop() {
	l.cancel(nil)
	<-l.done
}

// lose ends the lease because the server refused to go on with it.
func (l *Lease) lose(refusal error) { l.cancel(fmt.Errorf("%w: %w", ErrLeaseLost, refusal)) }

func (l *Lease) set(sent time.Time, ttl time.Duration) {
	l.mu.Lock()
	l.sent, l.ttl = sent, ttl
	l.mu.Unlock()
}

// nextRenewal is when a third of the lease will be over.
func (l *Lease) nextRenewal() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.sent.Add(l.ttl/3).Sub(now()), minRenewal)
}

// keep renews until the lease's context ends.
func (l *Lease) keep() {
	defer close(l.done)
	for l.ctx.Err() == nil {
		if sleep(l.ctx, min(l.nextRenewal(), max(l.Remaining(), 0))) != nil {
			return
		}
		l.confirm()
	}
}

// confirm renews the lease, trying as often as it takes while the lease lives. It
// cancels the context if the lease is lost.
func (l *Lease) confirm() {
	for failed := 1; ; failed++ {
		left := l.Remaining()
		if left <= 0 {
			l.cancel(fmt.Errorf("%w: it lapsed without a renewal", ErrLeaseLost))
			return
		}
		err := l.renew(left)
		if err == nil || l.ctx.Err() != nil {
			return
		}
		if definite(err) {
			l.lose(err)
			return
		}
		left = l.Remaining()
		pause := min(max(min(l.sender.backoff(failed, err), left/4), minRenewal), left)
		if sleep(l.ctx, pause) != nil {
			return
		}
	}
}

// renew sends one heartbeat. It takes no more than half of what is left of the
// lease, so that a connection that hangs leaves time for another try, and its
// answer never counts beyond the lease.
func (l *Lease) renew(left time.Duration) error {
	ctx, cancel := context.WithTimeout(l.ctx, max(left/2, min(left, minRenewal)))
	defer cancel()
	h := new(api.Heartbeat)
	a, err := l.sender.fetch(ctx, l.beat, h)
	if err != nil {
		return err
	}
	if h.CancelRequested {
		l.cancel(l.cancelled)
		return nil
	}
	l.set(a.sent, time.Duration(h.TTLMs)*time.Millisecond)
	return nil
}
