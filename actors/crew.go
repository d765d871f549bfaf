package actors

import "sync"

// crew counts the goroutines and activations that a directory owns. Unlike a
// sync.WaitGroup it can be dismissed while others are joining, and waited for
// with a time limit.
type crew struct {
	quit  chan struct{} // closed when nobody may join any more
	empty chan struct{} // closed when, after that, everybody has left

	mu        sync.Mutex
	n         int
	dismissed bool
}

func newCrew() *crew {
	return &crew{quit: make(chan struct{}), empty: make(chan struct{})}
}

// join adds one member, who must leave, and reports whether it could.
func (c *crew) join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dismissed {
		return false
	}
	c.n++
	return true
}

func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	if c.dismissed && c.n == 0 {
		close(c.empty)
	}
}

// dismiss lets nobody join from now on. It may be called more than once.
func (c *crew) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dismissed {
		return
	}
	c.dismissed = true
	close(c.quit)
	if c.n == 0 {
		close(c.empty)
	}
}

// quitting reports whether the crew has been dismissed. It takes no lock.
func (c *crew) quitting() bool {
	select {
	case <-c.quit:
		return true
	default:
		return false
	}
}
