package runs

import (
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// maxConsidered bounds the runs that are looked at for what can be computed along
// with a quantum.
const maxConsidered = 64

// grantTogether grants a pick, and with it what else can be computed in one go.
// The pick stands before anything is added to it, so what is added costs nobody a
// turn; it is taken in the order in which the scheduler would have gone on, is
// charged like any pick, and keeps its own fence and commit.
func (c *change) grantTogether(pick schedule.Pick, ask *claimQuanta) (*api.Quanta, error) {
	first := c.m.runs[pick.Run]
	room := c.Settings().BatchItems - len(pick.Items)
	if ask.maxItems > 0 {
		room = min(room, ask.maxItems-len(pick.Items))
	}
	quantum, err := c.grant(pick, ask)
	if err != nil {
		return nil, err
	}
	quanta := &api.Quanta{Quantum: quantum}
	if ask.node != "" {
		return quanta, nil // handlers take items one by one: what waits for its turn would only lose time
	}
	for room > 0 {
		next, ok := c.companion(first)
		if !ok {
			break
		}
		s := c.Settings()
		more, _ := c.m.schedule.PickFrom(c.now, next.id, min(room, s.QuantumItems), s.QuantumCost)
		room -= len(more.Items)
		granted, err := c.grant(more, ask)
		if err != nil {
			return nil, err
		}
		quanta.Also = append(quanta.Also, *granted)
	}
	return quanta, nil
}

// companion is the next run in fair order whose items can be computed in one go with
// those of first: of the same kind and shared document, of tenants that both consent.
// A tenant's consent covers its own runs among each other too.
func (c *change) companion(first *run) (*run, bool) {
	if !consents(c.Settings(), first.tenant) {
		return nil, false
	}
	for _, id := range c.m.schedule.Candidates(api.PoolDurable, first.kind, maxConsidered) {
		r := c.m.runs[id]
		if r != nil && r.sharedSHA == first.sharedSHA && r.timeoutMs == first.timeoutMs && consents(c.Settings(), r.tenant) {
			return r, true
		}
	}
	return nil, false
}

func consents(s *namespace.Settings, tenant string) bool { return s.Tenants[tenant].Coalesce }
