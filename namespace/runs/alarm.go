package runs

import "github.com/skerryhq/skerry/namespace"

// Alarm ends leases that ran out and removes runs whose time is over, a few at a
// time.
func (m *memory) Alarm(t *namespace.Turn) error {
	c := begin(t)
	if err := c.cutLeases(); err != nil {
		return err
	}
	if err := c.sweep(); err != nil {
		return err
	}
	if err := c.setAlarm(); err != nil {
		return err
	}
	return c.finish()
}
