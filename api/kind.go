package api

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Kind says how the items of a kind are treated. The runtime knows nothing else of
// what an item means.
type Kind struct {
	Pool KindPool `json:"pool"`
	// Cost is what an item is estimated to cost, in units of the operator's choice,
	// and ResultCells how many cells its result is declared to have.
	Cost        Measure `json:"cost,omitzero"`
	ResultCells Measure `json:"result_cells,omitzero"`
	// TimeoutMs bounds the work on one item, 1 to 60,000; nil is 60,000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// MaxAttempts is how often an item is granted before the loss of its worker
	// fails it, 1 to 100; nil is 3.
	MaxAttempts *int `json:"max_attempts,omitempty"`
	// Single kinds take no items: a run of one has one item, item-0.
	Single bool `json:"single,omitzero"`
}

// KindPool is the pool of a kind: PoolDurable for runs, or for singular calls the
// pool of each scorer, with that of the others under "*". On the wire a string or an
// object.
type KindPool struct {
	Durable   bool
	PerScorer map[string]string
}

// Of is the pool of a singular call with the scorer, and false if the kind has none
// for it.
func (p KindPool) Of(scorer string) (string, bool) {
	if pool, ok := p.PerScorer[scorer]; ok && scorer != "*" {
		return pool, true
	}
	pool, ok := p.PerScorer["*"]
	return pool, ok
}

// MarshalJSON writes a string or an object.
func (p KindPool) MarshalJSON() ([]byte, error) {
	if p.Durable {
		return json.Marshal(PoolDurable)
	}
	return json.Marshal(p.PerScorer)
}

// UnmarshalJSON reads a string or an object.
func (p *KindPool) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*p = KindPool{}
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, &p.PerScorer)
	}
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return err
	}
	if name == PoolDurable {
		p.Durable = true
		return nil
	}
	p.PerScorer = map[string]string{"*": name}
	return nil
}

// Measure is a number of an item: Value, or what stands at the JSON pointer Field in
// the item or else in the run's document, Value being that of an item with nothing
// there. On the wire a number or an object. The zero value is 0.
type Measure struct {
	Field string
	Value int64
}

// IsZero reports whether every item measures 0.
func (m Measure) IsZero() bool { return m == Measure{} }

type fieldMeasure struct {
	Field   *string `json:"field"`
	Default int64   `json:"default"`
}

// MarshalJSON writes a number or an object.
func (m Measure) MarshalJSON() ([]byte, error) {
	if m.Field == "" {
		return json.Marshal(m.Value)
	}
	return json.Marshal(fieldMeasure{&m.Field, m.Value})
}

// UnmarshalJSON reads a number or an object, and refuses any member but field and
// default.
func (m *Measure) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*m = Measure{}
	if len(data) == 0 || data[0] != '{' {
		return json.Unmarshal(data, &m.Value)
	}
	// Member by member: decoded as a whole, "Field" would pass for "field".
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for name, value := range members {
		var err error
		switch name {
		case "field":
			err = json.Unmarshal(value, &m.Field)
		case "default":
			err = json.Unmarshal(value, &m.Value)
		default:
			err = errors.New("a measure has no members but field and default")
		}
		if err != nil {
			return err
		}
	}
	if m.Field == "" {
		return errors.New("a measure that is an object needs a field")
	}
	return nil
}

// Budgets bound what a tenant may have in flight: admitted and not yet ended.
type Budgets struct {
	Runs        int64 `json:"runs"`
	Items       int64 `json:"items"`
	ResultCells int64 `json:"result_cells"`
	// InputBytes counts the bodies of the requests as they were received.
	InputBytes int64 `json:"input_bytes"`
}

// TenantSettings are what an operator sets for one tenant of a namespace.
type TenantSettings struct {
	// Budgets replace the namespace's, one by one.
	Budgets *TenantBudgets `json:"budgets,omitempty"`
	// Coalesce consents to computing the tenant's items in one go with compatible
	// ones of other tenants that consent too.
	Coalesce bool `json:"coalesce,omitzero"`
}

// TenantBudgets are the budgets of one tenant; nil is the namespace's.
type TenantBudgets struct {
	Runs        *int64 `json:"runs,omitempty"`
	Items       *int64 `json:"items,omitempty"`
	ResultCells *int64 `json:"result_cells,omitempty"`
	InputBytes  *int64 `json:"input_bytes,omitempty"`
}

// Over lays the tenant's budgets over those of its namespace; t may be nil.
func (t *TenantBudgets) Over(b Budgets) Budgets {
	if t == nil {
		return b
	}
	for _, one := range []struct {
		own *int64
		of  *int64
	}{{t.Runs, &b.Runs}, {t.Items, &b.Items}, {t.ResultCells, &b.ResultCells}, {t.InputBytes, &b.InputBytes}} {
		if one.own != nil {
			*one.of = *one.own
		}
	}
	return b
}

// Pool describes a pool in the catalog.
type Pool struct {
	// SlotsPerWorker is how many slots a worker has in the pool; null is as many as
	// its deployment says.
	SlotsPerWorker *int `json:"slots_per_worker"`
	// InProcess is how many slots the node itself has for handlers that run in it.
	InProcess int `json:"in_process"`
}
