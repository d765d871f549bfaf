package main

import "time"

// report is what the demo tells of a namespace.
type report struct {
	name                   string
	files, verbs, receipts int
	bytesIn, bytesKept     int64
	// grants counts the claims that were granted and not handed back, so those
	// that expired too.
	grants, takeovers int
	methods           map[method]*tally
	// elapsed is from the creation of the first verb to the last submission, and
	// turnaround the same of each verb, both by the server's clock.
	elapsed    time.Duration
	turnaround []time.Duration
	// waits are the times that a claim waited for admission.
	waits []time.Duration
}

// tally is how a method fared.
type tally struct {
	attempts, wins     int
	bytesIn, bytesMade int64
}

// newReport takes from the ledger what it tells as a whole.
func newReport(s *space, l *ledger) *report {
	r := &report{
		name: s.name, files: len(s.files), verbs: len(l.verbs), receipts: len(l.receipts),
		methods: make(map[method]*tally), waits: s.waits,
	}
	var first, last time.Time
	for id, v := range l.verbs {
		done := l.receipts[id].SubmittedAt
		r.grants += v.AttemptCount
		r.turnaround = append(r.turnaround, done.Sub(v.CreatedAt))
		if first.IsZero() || v.CreatedAt.Before(first) {
			first = v.CreatedAt
		}
		if done.After(last) {
			last = done
		}
	}
	r.elapsed = last.Sub(first)
	return r
}

// add adds what came of a file.
func (r *report) add(f *source, o outcome) {
	r.bytesIn += f.size
	r.bytesKept += o.sizes[o.winner]
	for i, m := range f.methods {
		t := r.methods[m]
		if t == nil {
			t = new(tally)
			r.methods[m] = t
		}
		t.attempts++
		t.bytesIn += f.size
		t.bytesMade += o.sizes[i]
		if i == o.winner {
			t.wins++
		}
	}
}
