package policy

import "github.com/skerryhq/skerry/admission"

// unlimited starts everything at once: a server without any admission, against which
// the rest is measured. It refuses nothing, and knows no average.
type unlimited struct {
	live      map[admission.ID]string // looked up by key only
	decisions []admission.Decision
}

func newNone() Policy { return &unlimited{live: make(map[admission.ID]string)} }

// Arrive implements Policy.
func (u *unlimited) Arrive(_ int64, id admission.ID, principal string) []admission.Decision {
	if _, live := u.live[id]; live {
		return nil
	}
	u.live[id] = principal
	return u.decide(admission.Decision{Kind: admission.Start, ID: id, Principal: principal})
}

// Finish implements Policy.
func (u *unlimited) Finish(_ int64, id admission.ID, _ int64, _ bool) []admission.Decision {
	principal, live := u.live[id]
	if !live {
		return nil
	}
	delete(u.live, id)
	return u.decide(admission.Decision{Kind: admission.Finished, ID: id, Principal: principal})
}

// Cancel implements Policy. Nothing ever waits, so that there is nothing to withdraw.
func (u *unlimited) Cancel(int64, admission.ID) []admission.Decision { return nil }

// Next implements Policy.
func (u *unlimited) Next() (int64, bool) { return 0, false }

// Tick implements Policy.
func (u *unlimited) Tick(int64) []admission.Decision { return nil }

// Status implements Policy.
func (u *unlimited) Status() Status { return Status{Limit: -1, InFlight: len(u.live)} }

func (u *unlimited) decide(d admission.Decision) []admission.Decision {
	u.decisions = append(u.decisions[:0], d)
	return u.decisions
}
