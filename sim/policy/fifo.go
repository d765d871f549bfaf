package policy

// fifo is one queue for all principals, first come first served, of bounded length.
// It knows nothing of fairness: whoever asks most holds most of it.
type fifo struct {
	line    line
	pending int
	maxWait int64
}

func newFIFO(b bounds) *fifo { return &fifo{pending: b.pending, maxWait: b.maxWait} }

func (q *fifo) push(now int64, r *request) bool {
	if q.line.length >= q.pending {
		return false
	}
	// All have the same time to wait, so that the line is in the order of
	// deadlines as well.
	r.deadline = now + q.maxWait
	q.line.push(r)
	return true
}

func (q *fifo) pop(int64) *request {
	r := q.line.front
	q.line.remove(r)
	return r
}

func (q *fifo) remove(_ int64, r *request)   { q.line.remove(r) }
func (q *fifo) due() *request                { return q.line.front }
func (q *fifo) waiting() int                 { return q.line.length }
func (q *fifo) pass(int64, *request)         {}
func (q *fifo) ended(int64, *request, int64) {}
