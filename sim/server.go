package sim

import (
	"github.com/skerryhq/skerry/sim/scenario"
)

// server carries out what was admitted. Times are virtual; next is when the first of
// what it has is done, and done takes that out.
type server interface {
	start(now int64, id int64, work int64)
	next() int64
	// done gives the request that ends at next. It is called at that time.
	done(now int64) int64
	// busy is how many requests it has.
	busy() int
}

func newServer(s scenario.Service, p pace, sync func() int64) server {
	switch s.Model {
	case "servers":
		return &servers{pace: p, free: max(s.Servers, 1)}
	case "sharing":
		return &sharing{pace: p, servers: int64(max(s.Servers, 1))}
	case "writer":
		return &writer{pace: p, sync: sync, most: s.MaxGroup}
	}
	return &delay{pace: p}
}

// job is one request at a server.
type job struct {
	at   int64 // when it is done, or the virtual time at which it will be
	seq  int64
	id   int64
	work int64
}

// jobs is a heap of jobs by time and then by order of their start.
type jobs []job

func (h jobs) less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}

func (h *jobs) push(j job) {
	*h = append(*h, j)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			return
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
}

func (h *jobs) pop() job {
	old := *h
	top, last := old[0], len(old)-1
	old[0] = old[last]
	*h = old[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return top
		}
		(*h)[i], (*h)[least] = (*h)[least], (*h)[i]
		i = least
	}
}

// delay lets everything take its own time, whatever else runs.
type delay struct {
	pace pace
	seq  int64
	jobs jobs
}

func (d *delay) start(now, id, work int64) {
	d.seq++
	d.jobs.push(job{at: d.pace.finish(now, work), seq: d.seq, id: id})
}

func (d *delay) next() int64 {
	if len(d.jobs) == 0 {
		return never
	}
	return d.jobs[0].at
}

func (d *delay) done(int64) int64 { return d.jobs.pop().id }
func (d *delay) busy() int        { return len(d.jobs) }

// servers are some that take one request each, in order.
type servers struct {
	pace  pace
	free  int
	seq   int64
	jobs  jobs
	queue fifo
}

func (s *servers) start(now, id, work int64) {
	if s.free == 0 {
		s.queue.push(job{id: id, work: work})
		return
	}
	s.free--
	s.run(now, id, work)
}

func (s *servers) run(now, id, work int64) {
	s.seq++
	s.jobs.push(job{at: s.pace.finish(now, work), seq: s.seq, id: id})
}

func (s *servers) next() int64 {
	if len(s.jobs) == 0 {
		return never
	}
	return s.jobs[0].at
}

func (s *servers) done(now int64) int64 {
	id := s.jobs.pop().id
	if s.queue.len() == 0 {
		s.free++
		return id
	}
	next := s.queue.pop()
	s.run(now, next.id, next.work)
	return id
}

func (s *servers) busy() int { return len(s.jobs) + s.queue.len() }

// sharing is processor sharing: all that run share the servers evenly, none getting
// more than one. It keeps the work that each of them has had since the beginning, as
// one number, and a request is done when that has grown by its own work.
type sharing struct {
	pace    pace
	servers int64
	seq     int64
	jobs    jobs // by the common work at which they are done
	had     int64
	at      int64
}

// grain divides a nanosecond, so that what many share adds up.
const grain = 1_000

func (s *sharing) advance(now int64) {
	if n := int64(len(s.jobs)); n > 0 {
		s.had += s.pace.done(s.at, now) * grain * min(s.servers, n) / n
	}
	s.at = now
}

func (s *sharing) start(now, id, work int64) {
	s.advance(now)
	s.seq++
	s.jobs.push(job{at: s.had + work*grain, seq: s.seq, id: id})
}

func (s *sharing) next() int64 {
	n := int64(len(s.jobs))
	if n == 0 {
		return never
	}
	left := max(s.jobs[0].at-s.had, 0)
	share := min(s.servers, n)
	return s.pace.finish(s.at, (left*n+share*grain-1)/(share*grain))
}

func (s *sharing) done(now int64) int64 {
	s.advance(now)
	return s.jobs.pop().id
}

func (s *sharing) busy() int { return len(s.jobs) }

// writer is one that commits in groups: whatever is there when it becomes free is
// carried out one after the other and then committed once; all are done with that.
type writer struct {
	pace   pace
	sync   func() int64
	most   int // 0 is no bound
	queue  fifo
	group  []int64
	until  int64
	active bool
}

func (w *writer) start(now, id, work int64) {
	w.queue.push(job{id: id, work: work})
	if !w.active {
		w.begin(now)
	}
}

func (w *writer) begin(now int64) {
	n := w.queue.len()
	if w.most > 0 {
		n = min(n, w.most)
	}
	w.group = w.group[:0]
	var work int64
	for range n {
		j := w.queue.pop()
		work += j.work
		w.group = append(w.group, j.id)
	}
	w.active = n > 0
	if w.active {
		w.until = w.pace.finish(now, work+w.sync())
	}
}

func (w *writer) next() int64 {
	if !w.active {
		return never
	}
	return w.until
}

func (w *writer) done(now int64) int64 {
	id := w.group[0]
	w.group = w.group[1:]
	if len(w.group) == 0 {
		w.begin(now)
	}
	return id
}

func (w *writer) busy() int { return len(w.group) + w.queue.len() }

// fifo is a queue of jobs.
type fifo struct {
	items []job
	head  int
}

func (q *fifo) len() int { return len(q.items) - q.head }

func (q *fifo) push(j job) {
	if q.head > 64 && q.head*2 > len(q.items) {
		q.items = append(q.items[:0], q.items[q.head:]...)
		q.head = 0
	}
	q.items = append(q.items, j)
}

func (q *fifo) pop() job {
	j := q.items[q.head]
	q.head++
	return j
}
