package runs

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// singleItem is the id of the one item of a kind that takes none.
const singleItem = "item-0"

// plan is what a document means under the settings in force.
type plan struct {
	*document
	def   api.Kind
	cost  []int64 // of each item
	total int64   // of all
	cells int64
}

// count is how many items the run has.
func (p *plan) count() int { return len(p.cost) }

// planRun works out what a document means. It gives a plan also where the run is
// refused for one of the limits on what it holds, which is then refused.
func planRun(d *document, s *namespace.Settings) (p *plan, refused, err error) {
	def, ok := s.Kinds[d.kind]
	switch {
	case !ok:
		return nil, nil, errUnknownKind()
	case !def.Pool.Durable:
		return nil, nil, api.Invalid(memberKind, "the kind is for singular calls, not for runs")
	}
	p = &plan{document: d, def: def}
	if refused, err = p.checkItems(); err != nil {
		return nil, nil, err
	}
	if err := p.measure(); err != nil {
		return nil, nil, err
	}
	if refused == nil {
		refused = p.checkRest()
	}
	return p, refused, nil
}

func errUnknownKind() error {
	e := api.Errorf(api.UnknownKind, "the kind is not registered in this namespace; the catalog lists those that are")
	e.Field = memberKind
	return e
}

// checkItems checks how many items there are, and names those without a name.
func (p *plan) checkItems() (refused, err error) {
	n := len(p.items)
	switch {
	case p.def.Single && n > 0:
		return nil, api.Invalid(memberItems, "runs of this kind take no items")
	case p.def.Single:
		p.items, p.names = []map[string]jsontext.Value{{}}, []string{singleItem}
		return nil, nil
	case n == 0:
		return nil, api.Invalid(memberItems, "a run has 1 to %d items", maxItems).With("limit", 1).With("actual", n)
	}
	indexes := make(map[string]int, n)
	for i, name := range p.names {
		if name == "" {
			name = fmt.Sprintf("item-%d", i)
			p.names[i] = name
		}
		if first, twice := indexes[name]; twice && refused == nil {
			e := api.Errorf(api.DuplicateItemID, "two items have the same id").With("indexes", []int{first, i})
			e.Field = fmt.Sprintf("items[%d].id", i)
			refused = e
		}
		indexes[name] = i
	}
	if n > maxItems {
		e := api.Errorf(api.TooManyItems, "a run has at most %d items", maxItems).With("limit", maxItems).With("actual", n)
		e.Field = memberItems
		return e, nil
	}
	return refused, nil
}

// measure works out what each item costs, and the cells of all.
func (p *plan) measure() error {
	cost, cells := newGauge(p.def.Cost, p.members), newGauge(p.def.ResultCells, p.members)
	p.cost = make([]int64, len(p.items))
	for i, item := range p.items {
		var err error
		if p.cost[i], err = cost.read(i, item); err != nil {
			return err
		}
		p.total += p.cost[i]
		n, err := cells.read(i, item)
		if err != nil {
			return err
		}
		p.cells += n
	}
	return nil
}

// checkRest checks what comes after the items.
func (p *plan) checkRest() error {
	if p.cells > maxCells {
		return api.Errorf(api.TooManyCells, "a run may declare %d result cells", maxCells).
			With("limit", maxCells).With("actual", p.cells)
	}
	for _, name := range []string{"priority", "lane", "pool"} {
		if _, ok := p.members[name]; ok {
			e := api.Errorf(api.PriorityNotAllowed, "a client does not choose its own priority")
			e.Field = name
			return e
		}
	}
	return nil
}

// needs is what the run takes of its tenant's budgets.
func (p *plan) needs() api.Budgets {
	return api.Budgets{Runs: 1, Items: int64(p.count()), ResultCells: p.cells, InputBytes: int64(p.size)}
}

// work is the run's size.
func (p *plan) work(s *namespace.Settings) api.RunWork {
	return api.RunWork{
		Items: p.count(), ResultCells: p.cells, Cost: p.total, Quanta: quantaOf(p.cost, s.QuantumItems, s.QuantumCost),
	}
}

// quantaOf is how many quanta items are cut into.
func quantaOf(costs []int64, items int, bound int64) int {
	quanta, held, cost := 0, 0, int64(0)
	for _, c := range costs {
		if held == 0 {
			quanta++
		}
		held, cost = held+1, cost+c
		if held >= items || bound > 0 && cost >= bound {
			held, cost = 0, 0
		}
	}
	return quanta
}
