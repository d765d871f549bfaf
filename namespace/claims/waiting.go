package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const (
	// maxPosition is up to where a verb's place among the ready ones is counted.
	maxPosition = 1000
	// maxMakers bounds how many verbs of one artifact key are asked what has
	// become of them.
	maxMakers = 100
)

// waitingFor says why a blocked or ready verb is not under way; nil for others.
func (r *reader) waitingFor(b *verb) (*api.WaitingFor, error) {
	switch {
	case b.state == api.VerbReady:
		return r.turn(b)
	case b.state != api.VerbBlocked:
		return nil, nil
	case b.missing == 0:
		until := moment(b.until)
		return &api.WaitingFor{Reason: "time", Until: &until}, nil
	}
	waiting := &api.WaitingFor{Reason: "inputs"}
	for i := range b.inputs {
		in := &b.inputs[i]
		if !in.waiting {
			continue
		}
		if in.group != 0 {
			waiting.Inputs = append(waiting.Inputs, api.WaitingInput{Group: formatID(groupPrefix, in.group)})
			continue
		}
		problem, err := makerProblem(r.view, in.ref.key)
		if err != nil {
			return nil, err
		}
		waiting.Inputs = append(waiting.Inputs, api.WaitingInput{Key: in.ref.String(), Problem: problem})
	}
	return waiting, nil
}

// turn finds the verb's place among the ready ones of its kind.
func (r *reader) turn(b *verb) (*api.WaitingFor, error) {
	last := r.ahead[b.kind]
	if last.verb > b.id {
		last = ahead{}
	}
	if last.count < maxPosition {
		var n int64
		_, err := r.view.QueryRow(sqlCountAhead, []any{b.kind, last.verb, b.id, maxPosition - last.count}, &n)
		if err != nil {
			return nil, fmt.Errorf("count ready verbs: %w", err)
		}
		last.count += n
	}
	r.ahead[b.kind] = ahead{b.id, last.count}
	if last.count >= maxPosition {
		return &api.WaitingFor{Reason: "turn", Position: maxPosition, OrMore: true}, nil
	}
	return &api.WaitingFor{Reason: "turn", Position: int(last.count) + 1}, nil
}

// makerProblem says what has become of the verbs that were to make the key, if
// none of them can make it any more. Somebody may still create it as a noun.
func makerProblem(v *namespace.View, key string) (string, error) {
	rows, err := v.Query(sqlMakers, key, maxMakers)
	if err != nil {
		return "", fmt.Errorf("read makers of noun: %w", err)
	}
	defer rows.Close()
	problem := ""
	for rows.Next() {
		var id int64
		var state string
		if err := rows.Scan(&id, &state); err != nil {
			return "", fmt.Errorf("read makers of noun: %w", err)
		}
		switch s := api.VerbState(state); {
		case !s.Ended():
			return "", nil
		case problem != "" || s == api.VerbSucceeded:
		case s == api.VerbCancelled:
			problem = formatID(verbPrefix, id) + " was cancelled"
		default:
			problem = formatID(verbPrefix, id) + " failed"
		}
	}
	return problem, rows.Err()
}
