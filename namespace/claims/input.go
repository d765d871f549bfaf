package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// input is one input of a verb: a noun, or a group of which min attempts must
// succeed.
type input struct {
	ref   nounRef // as it was asked for
	group int64
	min   int64

	waiting bool
	noun    noun   // once it is fixed
	mask    uint64 // of a group: the attempts that had succeeded, bit 0 for the first
}

func (in *input) document() api.VerbInput {
	if in.group != 0 {
		return api.VerbInput{Group: formatID(groupPrefix, in.group), Min: int(in.min)}
	}
	doc := api.VerbInput{Key: in.ref.String()}
	if in.noun.id != 0 {
		doc.Ref = in.noun.ref.String()
	}
	return doc
}

// readInputs fills in the verb's inputs, if it has any and they were not read.
func (r *reader) readInputs(b *verb) error {
	if b.inputCount == 0 || b.inputs != nil {
		return nil
	}
	rows, err := r.view.Query(sqlReadInputs, b.id)
	if err != nil {
		return fmt.Errorf("read inputs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var in input
		var mask int64
		err := rows.Scan(&in.ref.key, &in.ref.version, &in.group, &in.min, &in.waiting, &in.noun.id, &mask)
		if err != nil {
			return fmt.Errorf("read input: %w", err)
		}
		in.mask = uint64(mask)
		b.inputs = append(b.inputs, in)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read inputs: %w", err)
	}
	for i := range b.inputs {
		in := &b.inputs[i]
		if in.noun.id == 0 {
			continue
		}
		if in.noun, err = nounByID(r.view, in.noun.id); err != nil {
			return err
		}
	}
	return nil
}

// supplied is a noun that a claim delivers: an input, or with group and attempt
// one of the alternatives that an input stands for.
type supplied struct {
	noun
	group, attempt int64
}

// supplies are the nouns that the verb's inputs stand for, in order: each
// alternative of a group in the order of the attempts.
func (r *reader) supplies(b *verb) ([]supplied, error) {
	if err := r.readInputs(b); err != nil {
		return nil, err
	}
	var all []supplied
	for i := range b.inputs {
		in := &b.inputs[i]
		if in.group == 0 {
			all = append(all, supplied{noun: in.noun})
			continue
		}
		alternatives, err := readAlternatives(r.view, in)
		if err != nil {
			return nil, err
		}
		all = append(all, alternatives...)
	}
	return all, nil
}

func readAlternatives(v *namespace.View, in *input) ([]supplied, error) {
	rows, err := v.Query(sqlReadAlternatives, in.group)
	if err != nil {
		return nil, fmt.Errorf("read alternatives: %w", err)
	}
	defer rows.Close()
	var all []supplied
	for rows.Next() {
		s := supplied{group: in.group}
		if err := rows.Scan(append([]any{&s.attempt}, s.columns()...)...); err != nil {
			return nil, fmt.Errorf("read alternative: %w", err)
		}
		if in.mask>>(s.attempt-1)&1 == 1 {
			all = append(all, s)
		}
	}
	return all, rows.Err()
}

// look finds out how an input stands at this moment, and fixes it if it is
// there. It reports false if it can never be.
func (c *change) look(in *input) (possible bool, err error) {
	in.waiting, in.noun, in.mask = true, noun{}, 0
	if in.group != 0 {
		g, err := c.readGroup(in.group)
		if err != nil {
			return false, err
		}
		switch g.outlook(in.min) {
		case groupShort:
			in.waiting = false
			return false, nil
		case groupDone:
			in.waiting = false
			in.mask, err = c.succeeded(in.group)
		}
		return true, err
	}
	n, found, err := findNoun(&c.View, in.ref)
	if found {
		in.waiting, in.noun = false, n
	}
	return true, err
}

// storeInputs writes a verb's inputs.
func (c *change) storeInputs(id int64, inputs []input) error {
	for i := range inputs {
		in := &inputs[i]
		_, err := c.Exec(sqlInsertInput, id, i, in.ref.key, in.ref.version, in.group, in.min, in.waiting, in.noun.id, int64(in.mask))
		if err != nil {
			return fmt.Errorf("store input: %w", err)
		}
	}
	return nil
}

// place is where an input stands.
type place struct{ verb, position, min int64 }

func (c *change) waitingInputs(sql string, columns int, args ...any) ([]place, error) {
	rows, err := c.Query(sql, args...)
	if err != nil {
		return nil, fmt.Errorf("find waiting inputs: %w", err)
	}
	defer rows.Close()
	var places []place
	for rows.Next() {
		var p place
		if err := rows.Scan([]any{&p.verb, &p.position, &p.min}[:columns]...); err != nil {
			return nil, fmt.Errorf("find waiting inputs: %w", err)
		}
		places = append(places, p)
	}
	return places, rows.Err()
}

// supply fixes the inputs that waited for a noun to it.
func (c *change) supply(n *noun) error {
	places, err := c.waitingInputs(sqlWaitingForNoun, 2, n.ref.key, n.ref.version)
	if err != nil {
		return err
	}
	for _, p := range places {
		if err := c.fix(p, n.id, 0); err != nil {
			return err
		}
	}
	return nil
}

// fix notes that an input is there, and lets its verb go on if it was the last.
// A verb that another input has just failed is left alone.
func (c *change) fix(p place, nounID int64, mask uint64) error {
	b, err := c.heldVerb(p.verb)
	if err != nil || b.state != api.VerbBlocked {
		return err
	}
	if _, err := c.Exec(sqlFixInput, p.verb, p.position, nounID, int64(mask)); err != nil {
		return fmt.Errorf("fix input: %w", err)
	}
	b.missing--
	return c.open(b)
}
