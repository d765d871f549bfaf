package runs

const (
	firstPollMs  = 250
	maxDoublings = 6
	// maxPolls bounds the principals that are remembered.
	maxPolls = 16_384
)

// polls advises workers that find nothing when to ask again: each later the more
// often in a row it has found nothing, until work is offered. It is advice, kept in
// bounded memory and lost with it.
type polls struct {
	rows   map[string]poll
	offers uint64
}

type poll struct {
	empty  int
	offers uint64
}

// offered notes that there is work, which ends every row of empty requests.
func (p *polls) offered() { p.offers++ }

// granted notes that a principal got work.
func (p *polls) granted(principal string) { delete(p.rows, principal) }

// empty notes that a principal's request found nothing, and gives the milliseconds
// after which it should ask again.
func (p *polls) empty(principal string) int64 {
	if p.rows == nil || len(p.rows) >= maxPolls {
		p.rows = map[string]poll{}
	}
	last, ok := p.rows[principal]
	if !ok || last.offers != p.offers {
		last = poll{offers: p.offers}
	}
	wait := int64(firstPollMs) << min(last.empty, maxDoublings)
	last.empty++
	p.rows[principal] = last
	return wait
}
