package actors

import (
	"context"
	"slices"
	"sync"
)

// slots counts the instances that hold resources and bounds them: at most
// activateMax are activating, and at most maxActive+activateMax are open, which
// includes those that are activating and those that are leaving (draining or
// failed). Activations that find no slot wait in turn.
type slots struct {
	maxActive, activateMax int

	mu         sync.Mutex
	open       int
	activating int
	leaving    int
	queue      []chan struct{} // closed when its slot is granted
}

// acquire waits for a slot to activate in. Every acquire that returns nil is
// followed by one activated.
func (s *slots) acquire(ctx context.Context) error {
	granted := make(chan struct{})
	s.mu.Lock()
	s.queue = append(s.queue, granted)
	s.grantLocked()
	s.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, granted); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
	} else { // granted meanwhile
		s.activating--
		s.open--
		s.grantLocked()
	}
	return ctx.Err()
}

// activated ends an activation; ok says that it left an instance open, which is
// followed by one left and one closed.
func (s *slots) activated(ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activating--
	if !ok {
		s.open--
	}
	s.grantLocked()
}

// left says that an open instance began to drain or failed.
func (s *slots) left() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving++
}

// closed says that an instance that had left is closed.
func (s *slots) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.leaving--
	s.grantLocked()
}

// surplus is how many instances more than maxActive are active. Those that are
// still activating do not count: an activation that fails, as of a name that
// does not exist, must not evict anyone.
func (s *slots) surplus() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open - s.activating - s.leaving - s.maxActive
}

func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// grantLocked gives free slots to those who have waited longest.
func (s *slots) grantLocked() {
	for len(s.queue) > 0 && s.activating < s.activateMax && s.open < s.maxActive+s.activateMax {
		s.open++
		s.activating++
		close(s.queue[0])
		s.queue = slices.Delete(s.queue, 0, 1)
	}
}
