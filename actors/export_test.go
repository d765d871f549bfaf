package actors

// Footprint is what a directory remembers.
type Footprint struct{ Names, IdleDeadlines, Wakes, Processes int }

// FootprintOf counts what d remembers; everything should be zero when nothing is
// active and nothing is to be woken, but for protoactor-go's own two processes.
func FootprintOf[T Instance](d *Directory[T]) Footprint {
	r := d.router
	var f Footprint
	r.each(func(*activation) bool { f.Names++; return true })
	r.idle.mu.Lock()
	f.IdleDeadlines = len(r.idle.agenda.items)
	r.idle.mu.Unlock()
	r.wakes.mu.Lock()
	f.Wakes = max(len(r.wakes.records), len(r.wakes.due.items))
	r.wakes.mu.Unlock()
	for _, bucket := range r.system.ProcessRegistry.LocalPIDs.LocalPIDs {
		f.Processes += bucket.Count()
	}
	return f
}
