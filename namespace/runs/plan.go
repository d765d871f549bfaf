package runs

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// singleItem is the id of the one item of a kind that takes none.
const singleItem = "item-0"

// plan is what a document means under the settings in force.
type plan struct {
	*document
	def api.Kind
	// asked are the items, the one of a kind that takes none among them.
	asked []map[string]jsontext.Value
	names []string
	cost  []int64 // of each item
	total int64   // of all
	cells int64
}

// planRun works out what a document means. It gives a plan also where the run is
// refused for one of the limits on what it holds, which is then refused; such a plan
// may not tell the whole of what the run would cost.
func planRun(d *document, s *namespace.Settings) (p *plan, refused, err error) {
	def, ok := s.Kinds[d.kind]
	switch {
	case !ok:
		return nil, nil, errUnknownKind()
	case !def.Pool.Durable:
		return nil, nil, api.Invalid(memberKind, "the kind is for singular calls by invoke, not for runs")
	}
	p = &plan{document: d, def: def}
	if refused, err = p.checkItems(); err != nil {
		return nil, nil, err
	}
	// What comes first in order is what is told.
	if err := p.measure(); err != nil && refused == nil {
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

// checkItems checks how many items there are and what they are called, and names
// those without a name.
func (p *plan) checkItems() (refused, err error) {
	switch {
	case p.def.Single && p.document.count > 0:
		return nil, api.Invalid(memberItems, "runs of this kind take no items").With("limit", 0).With("actual", p.document.count)
	case p.def.Single:
		p.asked, p.names = []map[string]jsontext.Value{{}}, []string{singleItem}
		return nil, nil
	case p.document.count == 0:
		return nil, api.Invalid(memberItems, "a run has 1 to %d items", maxItems).With("limit", 1).With("actual", 0)
	}
	p.asked = p.items
	if n := p.document.count; n > maxItems {
		e := api.Errorf(api.TooManyItems, "a run has at most %d items", maxItems).With("limit", maxItems).With("actual", n)
		e.Field = memberItems
		return e, nil
	}
	if err := p.name(); err != nil {
		return nil, err
	}
	indexes := make(map[string]int, len(p.names))
	for i, name := range p.names {
		if first, twice := indexes[name]; twice {
			e := api.Errorf(api.DuplicateItemID, "two items have the same id").With("indexes", []int{first, i})
			e.Field = idField(i)
			return e, nil
		}
		indexes[name] = i
	}
	return nil, nil
}

// name gives every item its name.
func (p *plan) name() error {
	p.names = make([]string, len(p.ids))
	for i, id := range p.ids {
		if id == nil {
			p.names[i] = fmt.Sprintf("item-%d", i)
			continue
		}
		if n := utf8.RuneCountInString(*id); n < 1 || n > maxItemName {
			return api.Invalid(idField(i), "an item's id has 1 to %d characters", maxItemName).
				With("limit", maxItemName).With("actual", n)
		}
		p.names[i] = *id
	}
	return nil
}

// count is how many items the run has.
func (p *plan) count() int { return max(p.document.count, len(p.asked)) }

// measure works out what each item costs, and the cells of all.
func (p *plan) measure() error {
	cost, cells := newGauge(p.def.Cost, p.members), newGauge(p.def.ResultCells, p.members)
	p.cost = make([]int64, len(p.asked))
	for i, item := range p.asked {
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
		e := api.Errorf(api.TooManyCells, "a run may declare %d result cells", maxCells).
			With("limit", maxCells).With("actual", p.cells)
		e.Field = memberItems
		return e
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
