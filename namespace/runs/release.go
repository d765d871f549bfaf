package runs

import (
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// release hands back what is open of a quantum.
type release struct {
	base    string
	quantum string
	fence   int64
}

// Lane puts releases with commits.
func (*release) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply makes the open items pending again.
func (l *release) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	_, q, err := c.hold(l.quantum, l.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	if q == nil {
		return namespace.Answer{}, errStale()
	}
	doc := &api.QuantumReleased{Returned: []string{}}
	if q.call != nil {
		if !q.call.caller.Gone() {
			doc.Returned = append(doc.Returned, callItem)
		}
		if err := c.endCall(q, endReleased); err != nil {
			return namespace.Answer{}, err
		}
		return namespace.Answer{Body: doc}, c.finish()
	}
	r := c.m.runs[q.id.run]
	open, err := c.openItems(q)
	if err != nil {
		return namespace.Answer{}, err
	}
	if err := c.takeBack(r, open, endReleased); err != nil {
		return namespace.Answer{}, err
	}
	for _, i := range open {
		if i.status == api.ItemPending {
			doc.Returned = append(doc.Returned, i.name)
		}
	}
	if err := c.forget(r, q); err != nil {
		return namespace.Answer{}, err
	}
	if doc.Run, err = c.documentOf(r, l.base); err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{Body: doc}, c.finish()
}
