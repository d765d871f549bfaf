package runs

import (
	"github.com/skerryhq/skerry/api"
)

// hold finds the quantum of an id of the caller. It is nil if the quantum has ended
// or if its lease was over when the command came in, so that none runs out in the
// queue to the writer.
func (c *change) hold(id string, fence int64) (quantumID, *quantum, error) {
	qid, err := openQuantumID(&c.View, id)
	if err != nil {
		return qid, nil, err
	}
	if qid.fence != fence {
		return qid, nil, errStale()
	}
	q := c.m.quanta[fence]
	if q != nil && (q.until <= millis(c.Received()) || q.deadline <= c.now) {
		q = nil
	}
	return qid, q, nil
}

func errStale() error {
	return api.Errorf(api.StaleFence, "nothing of the quantum is open to this fence")
}
