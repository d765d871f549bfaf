package schedule

import "fmt"

// RestoredTenant is how a tenant stood.
type RestoredTenant struct {
	Name     string
	Attained int64
	Picks    uint64
}

// RestoreTenant makes a tenant known as it stood. Tenants are restored in the order
// of their first arrival, before any run of theirs. It fails if the tenant is known.
func (s *Scheduler) RestoreTenant(d RestoredTenant) error {
	if s.tenants[d.Name] != nil {
		return fmt.Errorf("schedule: the tenant of number %d is restored twice", s.tenants[d.Name].arrival)
	}
	t := s.tenant(d.Name)
	t.attained, t.picks = max(d.Attained, 0), d.Picks
	s.picks = max(s.picks, d.Picks)
	return nil
}

// RestoredRun is how a run stood.
type RestoredRun struct {
	Run
	Attained int64
	// Waiting is when it was admitted or picked last.
	Waiting int64
	// Pending and Granted are the items that wait and those at work.
	Pending, Granted []int
	Cancelled        bool
}

// RestoreRun takes up a run as it stood: nothing joins. It fails as Admit does, or if
// an item is not one of the run's, and then changes nothing.
func (s *Scheduler) RestoreRun(d RestoredRun) error {
	for _, items := range [][]int{d.Pending, d.Granted} {
		for _, i := range items {
			if i < 0 || i >= len(d.Costs) {
				return fmt.Errorf("schedule: run %d has no item %d", d.ID, i)
			}
		}
	}
	r, err := s.enter(d.Run)
	if err != nil {
		return err
	}
	r.attained, r.waiting, r.cancelled = max(d.Attained, 0), d.Waiting, d.Cancelled
	for _, i := range d.Granted {
		r.granted.add(i)
	}
	if !r.cancelled {
		for _, i := range d.Pending {
			r.pending.add(i)
		}
	}
	r.tenant.pending += r.pending.count
	s.settle(r)
	return nil
}
