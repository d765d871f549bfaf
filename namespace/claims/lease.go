package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
)

// standing is how a claim stands to its verb. Where several fit, the last one
// of this list counts.
type standing int

const (
	standLive       standing = iota
	standExpired             // its lease is over, nobody was granted the verb since, and the verb is open
	standStale               // the verb was granted again, or requeued
	standHandedBack          // this claim has released or failed
	standCancelled           // the verb was cancelled
	standEnded               // the verb has succeeded or failed
)

// hold finds the verb of a claim of the caller, and how the claim stands. A
// lease is held against the time at which the command came in, so that none runs
// out in the queue to the writer. One whose time was over then is ended here if
// the alarm has not done so yet, so
// that a command sees the same verb before and after; if the command is refused,
// that is undone with it. A claim of somebody else, or none, is not_found, and a
// fence that is not the claim's own stale_fence.
func (c *change) hold(id string, fence int64) (*verb, standing, error) {
	claim, err := openClaimID(&c.View, id)
	if err != nil {
		return nil, 0, err
	}
	if fence != claim.fence {
		return nil, 0, errStale()
	}
	b, err := c.heldVerb(claim.verb)
	if err != nil {
		return nil, 0, err
	}
	if b.state == api.VerbLeased && b.leaseUntil <= millis(c.Received()) {
		if err := c.expire(b); err != nil {
			return nil, 0, err
		}
	}
	s, err := c.judge(b, claim)
	return b, s, err
}

func (c *change) judge(b *verb, claim claimID) (standing, error) {
	switch {
	case b.state == api.VerbCancelled:
		return standCancelled, nil
	case b.state.Ended():
		return standEnded, nil
	case b.fence != claim.fence:
		var one int64
		handedBack, err := c.QueryRow(sqlHandedBack, []any{claim.verb, claim.fence}, &one)
		if err != nil {
			return 0, fmt.Errorf("read ended claim: %w", err)
		}
		if handedBack {
			return standHandedBack, nil
		}
		return standStale, nil
	case b.over == overReleased || b.over == overFailed:
		return standHandedBack, nil
	case b.over == overExpired:
		return standExpired, nil
	}
	return standLive, nil
}

// rememberOver notes that the verb's claim was handed back, which its row forgets
// with the next grant.
func (c *change) rememberOver(b *verb) error {
	if _, err := c.Exec(sqlHandBack, b.id, b.fence); err != nil {
		return fmt.Errorf("remember ended claim: %w", err)
	}
	return nil
}

func errStale() error {
	return api.Errorf(api.StaleFence, "the fence is not that of the verb's current claim")
}

func errExpired() error {
	return api.Errorf(api.LeaseExpired, "the lease has expired")
}

func errOver(b *verb) error {
	return api.Errorf(api.ClaimOver, "the claim is over").With("state", string(b.state))
}

func errTerminal(b *verb) error {
	return api.Errorf(api.VerbTerminal, "the verb has ended").With("state", string(b.state))
}

// refuse is the error of a submit or fail whose claim does not allow it.
func refuse(b *verb, s standing) error {
	switch s {
	case standStale:
		return errStale()
	case standHandedBack:
		return errOver(b)
	case standCancelled, standEnded:
		return errTerminal(b)
	}
	return errExpired()
}
