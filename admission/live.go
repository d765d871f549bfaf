package admission

import (
	"cmp"
	"slices"
)

// enter makes the record of a request that has just arrived, and that of its
// principal unless it has one.
func (c *Controller) enter(id ID, name string) *request {
	p := c.principals[name]
	if p == nil {
		p = c.newPrincipal()
		p.name = name
		c.principals[name] = p
	}
	r := c.newRequest()
	c.arrivals++
	r.id, r.principal, r.order, r.arrived = id, p, c.arrivals, c.now
	c.requests[id] = r
	return r
}

// forget frees the record of a request that neither waits nor runs any more, and
// that of its principal if it was the last one. Free records are kept, so that
// arrivals do not allocate.
func (c *Controller) forget(r *request) {
	p := r.principal
	delete(c.requests, r.id)
	*r = request{newer: c.freeRequests}
	c.freeRequests = r
	if p.waiting > 0 || p.running > 0 {
		return
	}
	delete(c.principals, p.name)
	*p = principal{next: c.freePrincipals}
	c.freePrincipals = p
}

// waiters returns the requests that wait, the oldest arrival first. It walks
// over the whole queue.
func (c *Controller) waiters() []*request {
	all := make([]*request, 0, c.queue.waiting)
	for i := range c.queue.deadlines.entries {
		all = append(all, c.queue.deadlines.entries[i].item)
	}
	slices.SortFunc(all, func(a, b *request) int { return cmp.Compare(a.order, b.order) })
	return all
}

func (c *Controller) newRequest() *request {
	r := c.freeRequests
	if r == nil {
		return new(request)
	}
	c.freeRequests, r.newer = r.newer, nil
	return r
}

func (c *Controller) newPrincipal() *principal {
	p := c.freePrincipals
	if p == nil {
		return new(principal)
	}
	c.freePrincipals, p.next = p.next, nil
	return p
}
