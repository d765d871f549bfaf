package policy

import "github.com/skerryhq/skerry/admission"

// bucket gives each principal a bucket of 60 tokens that fills by one a second, and
// starts a request at once if it finds one (Turner, "New Directions in Communications
// (or Which Way to the Information Age?)", 1986). It is the quota that the product had
// before it had admission control: it looks at who asks and never at the server, has
// no queue, and no limit of how many run at once.
//
// Simplified: it is written as the generic cell rate algorithm (ITU-T Recommendation
// I.371, 1993), which decides alike and stores one instant per principal. The product's
// quota counted the requests of a sliding minute, of which a full bucket lets through
// up to twice as many.
type bucket struct {
	unlimited
	full map[string]int64 // when the principal's bucket is full; looked up by key only
}

const (
	tokenPeriod = second // between two tokens of one principal
	tokens      = 60     // in a full bucket
)

func newBucket() Policy {
	return &bucket{
		unlimited: unlimited{live: make(map[admission.ID]string)},
		full:      make(map[string]int64),
	}
}

// Arrive implements Policy.
func (b *bucket) Arrive(now int64, id admission.ID, principal string) []admission.Decision {
	if _, live := b.live[id]; live {
		return nil
	}
	full := max(now, b.full[principal])
	// A token is there as long as the bucket lacks less than all of them.
	if lacking := full - now - (tokens-1)*tokenPeriod; lacking > 0 {
		return b.decide(admission.Decision{
			Kind: admission.Refuse, Reason: admission.LegacyQuota, ID: id, Principal: principal,
			RetryAfter: int((lacking + second - 1) / second),
		})
	}
	b.full[principal] = full + tokenPeriod
	return b.unlimited.Arrive(now, id, principal)
}
