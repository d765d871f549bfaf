package runs

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Reasons for which a result is not taken.
const (
	ignoredStale     = "stale_fence"
	ignoredCancelled = "cancelled"
	ignoredUnknown   = "unknown"
)

// commit reports what came of items of a quantum.
type commit struct {
	base    string
	quantum string
	fence   int64
	results []api.ItemResult
	done    bool
}

func newCommit(base, quantum string, spec api.CommitSpec) (*commit, error) {
	k := &commit{base: base, quantum: quantum, fence: spec.Fence, results: spec.Results, done: spec.Done}
	if len(spec.Results) > maxCommitResults {
		return nil, api.Invalid("results", "a quantum has at most %d items", maxCommitResults).
			With("limit", maxCommitResults).With("actual", len(spec.Results))
	}
	seen := make(map[string]bool, len(spec.Results))
	for i := range spec.Results {
		field := fmt.Sprintf("results[%d]", i)
		if err := checkResult(field, &spec.Results[i]); err != nil {
			return nil, err
		}
		if id := spec.Results[i].ID; seen[id] {
			return nil, api.Invalid(field+".id", "there are two results for one item")
		} else {
			seen[id] = true
		}
	}
	return k, nil
}

// checkResult checks one result, and makes its document compact.
func checkResult(field string, r *api.ItemResult) error {
	if r.ID == "" {
		return api.Invalid(field+".id", "a result must name its item")
	}
	if r.Cost != nil {
		if err := within(field+".cost", *r.Cost, 0, maxCost); err != nil {
			return err
		}
	}
	null := len(r.Result) == 0 || string(r.Result) == "null"
	switch r.Status {
	case api.ItemSucceeded:
		if r.Error != nil {
			return api.Invalid(field+".error", "an item that succeeded has no error")
		}
		compact, ok := compactObject(r.Result)
		if !ok {
			return api.Invalid(field+".result", "the result of an item is a JSON object")
		}
		if len(compact) > maxResultBytes {
			return api.Invalid(field+".result", "the result is too large").With("limit", maxResultBytes).With("actual", len(compact))
		}
		r.Result = compact
		return nil
	case api.ItemFailed:
		if !null {
			return api.Invalid(field+".result", "an item that failed has no result")
		}
		if r.Error == nil {
			return api.Invalid(field+".error", "an item that failed must say what went wrong")
		}
		r.Result = nil
		return checkFailure(field+".error", r.Error)
	case api.ItemPending, api.ItemRunning, api.ItemCancelled:
	}
	return api.Invalid(field+".status", "the status of a result is %s or %s", api.ItemSucceeded, api.ItemFailed)
}

// compactObject is a document without white space, if it is a JSON object. A caller
// inside the process may give anything; what is wrong with it is not told, because the
// decoder would quote it.
func compactObject(document []byte) ([]byte, bool) {
	compact := jsontext.Value(slices.Clone(document))
	if compact.Kind() != '{' {
		return nil, false
	}
	err := compact.Compact(jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	return compact, err == nil
}

// Lane puts commits before the requests for what they free.
func (*commit) Lane() namespace.Lane { return namespace.LaneFinish }

// Apply takes the results, in one transaction with the run's progress and events.
//
// Nothing is judged by what the memory believes: the standing of every item is read
// inside the transaction that ends it, and nobody else writes meanwhile. The whole
// batch is thereby held against fresh state, and where part of it has been ended,
// the rest is taken item by item, each under the condition of its fence.
func (k *commit) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	id, q, err := c.hold(k.quantum, k.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	if id.run == 0 {
		return k.applyToCall(c, q)
	}
	r, err := c.runOf(id.run)
	if err != nil {
		return namespace.Answer{}, err
	}
	b, err := c.judge(k, r, id, q)
	if err != nil {
		return namespace.Answer{}, err
	}
	if len(b.open) == 0 && len(b.doc.Committed) == 0 {
		return namespace.Answer{}, errStale()
	}
	effect := len(b.taken) > 0 || k.done && len(b.open) > 0
	if effect {
		if err := b.carryOut(c, k.done); err != nil {
			return namespace.Answer{}, err
		}
	}
	if b.doc.Run, err = c.documentOf(r, k.base); err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{Body: b.doc, NoEffect: !effect}, c.finish()
}

// batch is a commit held against the state of its items.
type batch struct {
	run *run
	q   *quantum
	// open are the items that may still be reported on, by name; taken are those of
	// them that are.
	open  map[string]*item
	taken []taken
	doc   *api.Committed
}

// taken is a result that ends its item.
type taken struct {
	item   *item
	result *api.ItemResult
}

// judge says what becomes of each result.
func (c *change) judge(k *commit, r *run, id quantumID, q *quantum) (*batch, error) {
	b := &batch{run: r, q: q, open: map[string]*item{}, doc: &api.Committed{Committed: []string{}, Ignored: []api.IgnoredItem{}}}
	granted, err := c.grantedItems(id, q)
	if err != nil {
		return nil, err
	}
	under := make(map[string]*item, len(granted))
	for _, i := range granted {
		under[i.name] = i
		if i.status == api.ItemRunning && q != nil {
			b.open[i.name] = i
		}
	}
	var missed []string
	for n := range k.results {
		result := &k.results[n]
		switch i := under[result.ID]; {
		case b.open[result.ID] != nil:
			b.taken = append(b.taken, taken{i, result})
			if r.cancelling {
				b.ignore(result.ID, ignoredCancelled)
			} else {
				b.doc.Committed = append(b.doc.Committed, result.ID)
			}
		case i != nil && (i.status == api.ItemSucceeded || i.status == api.ItemFailed):
			b.doc.Committed = append(b.doc.Committed, result.ID) // by this very fence, before
		default:
			missed = append(missed, result.ID)
			b.ignore(result.ID, ignoredUnknown)
		}
	}
	return b, b.sayWhy(c, missed)
}

func (b *batch) ignore(id, reason string) {
	b.doc.Ignored = append(b.doc.Ignored, api.IgnoredItem{ID: id, Reason: reason})
}

// grantedItems are the items whose newest grant is the quantum's, ended ones too.
func (c *change) grantedItems(id quantumID, q *quantum) ([]*item, error) {
	if q == nil {
		return c.items(sqlWorkUnderFence, row(id.run, 0), row(id.run+1, 0), id.fence)
	}
	rows, err := indexArray(id.run, q.items)
	if err != nil {
		return nil, err
	}
	return c.items(sqlGrantedWork, rows, id.fence)
}

// sayWhy gives the reason for those ignored results whose items the fence neither holds
// nor has ended: they are not the run's, or were cancelled, or are another's. It looks
// for all of them at once, because no index has their names.
func (b *batch) sayWhy(c *change, missed []string) error {
	if len(missed) == 0 {
		return nil
	}
	names, err := namespace.Encode(missed)
	if err != nil {
		return fmt.Errorf("encode item ids: %w", err)
	}
	found, err := c.items(sqlWorkByName, row(b.run.id, 0), row(b.run.id+1, 0), string(names))
	if err != nil {
		return err
	}
	reasons := make(map[string]string, len(found))
	for _, i := range found {
		reasons[i.name] = ignoredStale
		if i.status == api.ItemCancelled {
			reasons[i.name] = ignoredCancelled
		}
	}
	for n := range b.doc.Ignored {
		if reason, ok := reasons[b.doc.Ignored[n].ID]; ok {
			b.doc.Ignored[n].Reason = reason
		}
	}
	return nil
}

// carryOut ends the items whose results were taken, gives back the rest if the
// worker is done, and ends the quantum with its last open item.
func (b *batch) carryOut(c *change, done bool) error {
	var settled []int
	var cost int64
	for _, t := range b.taken {
		delete(b.open, t.item.name)
		settled = append(settled, t.item.index)
		if t.result.Cost != nil {
			cost += *t.result.Cost
		} else {
			cost += t.item.cost
		}
		status, o := t.result.Status, outcome{t.result.Result, t.result.Error}
		if b.run.cancelling {
			status, o = api.ItemCancelled, outcome{}
		}
		if err := c.end(b.run, t.item, status, o); err != nil {
			return err
		}
	}
	c.m.schedule.Settle(b.run.id, settled, cost)
	if done {
		rest := make([]*item, 0, len(b.open))
		for _, i := range inOrder(b.open) {
			rest = append(rest, i)
			delete(b.open, i.name)
		}
		if err := c.takeBack(b.run, rest, endReleased); err != nil {
			return err
		}
	}
	if len(b.open) > 0 {
		return nil
	}
	return c.forget(b.run, b.q)
}
