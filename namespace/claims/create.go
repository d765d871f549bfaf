package claims

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// createVerbs makes verbs, all of them or none.
type createVerbs struct {
	plans []*plan
	// single says that the answer is that of one entry, and not of a batch.
	single bool
	// faults are the entries that are wrong by themselves and have no plan. They
	// are kept until the groups can be checked, so that one error names them all.
	faults batchFaults
}

func newCreateVerb(spec api.VerbSpec) (*createVerbs, error) {
	p, err := planVerb(spec)
	return &createVerbs{plans: []*plan{p}, single: true}, err
}

func newCreateVerbs(spec api.VerbBatchSpec) (*createVerbs, error) {
	if len(spec.Verbs) == 0 {
		return nil, api.Invalid("verbs", "verbs must not be empty")
	}
	total := 0
	c := &createVerbs{plans: make([]*plan, len(spec.Verbs))}
	for i, s := range spec.Verbs {
		p, err := planVerb(s)
		if err != nil {
			c.faults.add(i, err)
			total++
			continue
		}
		c.plans[i] = p
		total += p.count()
	}
	if total > maxBatch {
		e := api.Errorf(api.TooManyItems, "a batch makes at most %d verbs, attempts counted", maxBatch)
		e.Field = "verbs"
		return nil, e.With("limit", maxBatch).With("actual", total)
	}
	return c, nil
}

// batchFaults collects what is wrong with the entries of a batch.
type batchFaults []map[string]any

func (f *batchFaults) add(index int, err error) {
	e := api.AsError(err)
	*f = append(*f, map[string]any{"index": index, "code": e.Code, "field": e.Field, "message": e.Message})
}

// err is one error for all of the faults, nil if there are none.
func (f batchFaults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortFunc(f, func(a, b map[string]any) int { return cmp.Compare(a["index"].(int), b["index"].(int)) })
	field := fmt.Sprintf("verbs[%d]", f[0]["index"])
	return api.Invalid(field, "%d entries are wrong, so none was made", len(f)).With("errors", []map[string]any(f))
}

// Apply stores the verbs with their inputs as they stand at this moment.
func (c *createVerbs) Apply(t *namespace.Turn) (namespace.Answer, error) {
	ch := begin(t)
	if err := c.checkGroups(ch); err != nil {
		return namespace.Answer{}, err
	}
	r := newReader(&t.View)
	entries := make([]api.VerbEntry, len(c.plans))
	for i, p := range c.plans {
		group, verbs, err := ch.carryOut(p)
		if err != nil {
			return namespace.Answer{}, err
		}
		docs := make([]api.Verb, len(verbs))
		for j, b := range verbs {
			if docs[j], err = r.verb(b); err != nil {
				return namespace.Answer{}, err
			}
		}
		if group != 0 {
			entries[i].Group = &api.VerbGroup{Group: formatID(groupPrefix, group), Verbs: docs}
		} else {
			entries[i].Verb = &docs[0]
		}
	}
	answer := namespace.Answer{Status: 201, Body: api.VerbBatch{Verbs: entries}}
	if c.single {
		answer.Body = entryDocument(entries[0])
	}
	return answer, ch.finish()
}

// entryDocument is the one document of an entry.
func entryDocument(e api.VerbEntry) any {
	if e.Group != nil {
		return *e.Group
	}
	return *e.Verb
}

// checkGroups checks the inputs that are groups against those that exist, and
// gives one error for all entries that are wrong.
func (c *createVerbs) checkGroups(ch *change) error {
	faults := slices.Clone(c.faults)
	for i, p := range c.plans {
		if p == nil {
			continue
		}
		err := ch.checkGroups(p)
		var refused *api.Error
		switch {
		case err == nil:
		case c.single || !errors.As(err, &refused):
			return err
		default:
			faults.add(i, err)
		}
	}
	return faults.err()
}

func (c *change) checkGroups(p *plan) error {
	for i := range p.inputs {
		in := &p.inputs[i]
		if in.group == 0 {
			continue
		}
		field := fmt.Sprintf("inputs[%d]", i)
		g, err := c.readGroup(in.group)
		if err != nil {
			return err
		}
		if g.size == 0 {
			return errNoGroup(field)
		}
		if err := within(field+".min", in.min, 1, g.size); err != nil {
			return err
		}
	}
	return nil
}

// carryOut makes a plan's verbs, and the group if there is one.
func (c *change) carryOut(p *plan) (group int64, verbs []*verb, err error) {
	if p.attempts > 0 {
		if _, err := c.QueryRow(sqlInsertGroup, []any{p.attempts}, &group); err != nil {
			return 0, nil, fmt.Errorf("store group: %w", err)
		}
	}
	inputs := append([]input(nil), p.inputs...)
	missing, possible, err := c.lookAll(inputs)
	if err != nil {
		return 0, nil, err
	}
	for i := range p.count() {
		b := &verb{
			kind: p.kind, artifact: p.artifact, brief: p.brief, briefVersion: p.briefVersion, metadata: p.metadata,
			group: group, maxAttempts: p.maxAttempts, ownLeaseMs: p.leaseMs, notBefore: p.notBefore, until: p.notBefore,
			createdAt: c.now, inputs: inputs, inputCount: int64(len(inputs)), missing: missing,
		}
		if group != 0 {
			b.attempt, b.artifact = int64(i+1), attemptKey(p.artifact, i+1)
		}
		if err := c.create(b, possible); err != nil {
			return 0, nil, err
		}
		verbs = append(verbs, b)
	}
	return group, verbs, nil
}

// lookAll finds out how all inputs of a verb stand: how many are missing, and
// whether all are possible.
func (c *change) lookAll(inputs []input) (missing int64, possible bool, err error) {
	possible = true
	for i := range inputs {
		ok, err := c.look(&inputs[i])
		if err != nil {
			return 0, false, err
		}
		possible = possible && ok
		if inputs[i].waiting {
			missing++
		}
	}
	if possible {
		return missing, true, nil
	}
	for i := range inputs {
		inputs[i].waiting = false // the verb has failed, and waits for nothing
	}
	return 0, false, nil
}

// create stores a verb, which has failed already if its inputs are impossible.
func (c *change) create(b *verb, possible bool) error {
	_, err := c.QueryRow(sqlInsertVerb, []any{
		b.kind, b.artifact, b.briefVersion, b.group, b.attempt, b.maxAttempts, b.inputCount,
		b.ownLeaseMs, b.notBefore, b.createdAt, b.metadata, b.brief,
	}, &b.id)
	if err != nil {
		return fmt.Errorf("store verb: %w", err)
	}
	if err := c.storeInputs(b.id, b.inputs); err != nil {
		return err
	}
	if possible {
		c.settle(b)
	} else if err := c.stillborn(b); err != nil {
		return err
	}
	_, err = c.Exec(sqlInsertState, b.id, b.kind, string(b.state), b.missing, b.until, b.endedAt, b.failure)
	if err != nil {
		return fmt.Errorf("store state of verb: %w", err)
	}
	return nil
}

// stillborn ends a verb that begins with inputs that cannot come. The caller
// writes its row.
func (c *change) stillborn(b *verb) error {
	b.state, b.endedAt, b.missing, b.until = api.VerbFailed, c.now, 0, 0
	c.afterEnd(b)
	return setFailure(b, tooFewOutputs())
}
