package claims

import (
	"fmt"
	"math/bits"

	"github.com/skerryhq/skerry/api"
)

// grant leases the verbs that were dealt, each with a fence of its own.
func grant(c *change, demands []*demand) error {
	var granted []*verb
	for _, d := range demands {
		for _, b := range d.verbs {
			fence, err := d.turn.Fence()
			if err != nil {
				return err
			}
			lease(d, b, fence)
			granted = append(granted, b)
			c.changed(b)
		}
	}
	if len(granted) == 0 {
		return nil
	}
	first := granted[0].leaseUntil
	for _, b := range granted {
		first = min(first, b.leaseUntil)
	}
	c.wakeBy(first)
	return c.storeGrants(granted)
}

// lease marks a verb as granted to the demand's caller.
func lease(d *demand, b *verb, fence int64) {
	now := millis(d.turn.Now())
	b.state, b.over, b.until = api.VerbLeased, "", 0
	b.fence, b.principal = fence, d.turn.Caller().Principal
	b.grantedAt, b.leaseMs = now, leaseLength(d, b)
	b.spanMs, b.leaseUntil = b.leaseMs, now+b.leaseMs
}

// leaseLength is how long a verb is leased for: as the claim asks, else as the
// verb does, else as is set.
func leaseLength(d *demand, b *verb) int64 {
	settings := d.turn.Settings()
	length := d.claim.leaseMs
	if length == 0 {
		length = b.ownLeaseMs
	}
	if length == 0 {
		length = settings.LeaseMs
	}
	return min(length, settings.MaxLeaseLifetimeMs)
}

// storeGrants writes leases, many with one statement if there are many.
func (c *change) storeGrants(granted []*verb) error {
	for len(granted) > smallGrant {
		n := min(len(granted), largestGrant)
		if err := c.storeMany(granted[:n]); err != nil {
			return err
		}
		granted = granted[n:]
	}
	for _, b := range granted {
		_, err := c.Exec(sqlGrantTo, b.id, b.fence, b.principal, b.grantedAt, b.leaseMs, b.leaseUntil)
		if err != nil {
			return fmt.Errorf("store lease: %w", err)
		}
	}
	return nil
}

// storeMany writes up to largestGrant leases with one statement for the next
// power of two, whose last rows are NULL.
func (c *change) storeMany(granted []*verb) error {
	size := max(bits.Len(uint(len(granted)-1)), 3)
	args := make([]any, 1, 1+5<<size)
	args[0] = c.now
	for _, b := range granted {
		args = append(args, b.id, b.fence, b.principal, b.leaseMs, b.leaseUntil)
	}
	n, err := c.Exec(grantStatements[size-3], args[:cap(args)]...)
	if err == nil && n != int64(len(granted)) {
		err = fmt.Errorf("%d rows changed for %d leases", n, len(granted))
	}
	if err != nil {
		return fmt.Errorf("store leases: %w", err)
	}
	return nil
}
